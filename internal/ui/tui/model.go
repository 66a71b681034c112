package tui

import (
	"cmp"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

// A Model is all that the UI knows, in parts that do not know each other: what is said,
// what is being typed, what is asked, and how things stand. One goroutine owns it.
type Model struct {
	conversation
	prompt
	dialogs
	status

	host     Host
	s        *Session // nil until it is open
	start    Start
	gone     error // why there is no session
	screen   screen
	keys     *keymap.Map
	chord    keymap.Chord
	pressed  keymap.Key // now
	now      time.Time
	spoken   plainly       // in plain mode
	saved    chan struct{} // closed when the newest setting was written; nil before the first
	left     bool          // the end was asked for
	greeted  bool          // what a first start asks was asked
	trusting bool          // whether the folder is trusted was asked
	looked   bool          // a model is looked for again
	visit    *visit        // an agent whose conversation has the screen, nil for none
	glance   *glance       // what of tasks is looked at, nil before anything was
}

// screen is what is known about the terminal.
type screen struct {
	size    term.Size
	ascii   bool
	poor    bool // the terminal has no other characters
	dark    bool
	focused bool
	plain   bool // lines are printed, and nothing is drawn anew
	canvas  canvas
	chosen  string // the theme's name in the settings
	todos   bool   // the todo list is shown
}

// again is how long a second Ctrl+C, Ctrl+D or Esc counts as such.
const again = 2 * time.Second

// newModel begins before anything is known but the terminal.
func newModel(h Host, start Start, s screen) *Model {
	keys := keymap.Default(keymap.Terminal{})
	m := &Model{host: h, start: start, conversation: conversation{story: story.New()}, screen: s, keys: keys}
	m.writes = func() bool { return !m.box.Empty() }
	m.box = edit.New(edit.Options{Keys: keys, Past: h.Past, Skip: m.stillWaits})
	return m
}

// update takes a message.
func (m *Model) update(now time.Time, in Msg) []effect {
	m.now = now
	out := m.message(in)
	if m.screen.plain {
		m.hushed(in, out)
	}
	return out
}

func (m *Model) message(in Msg) []effect {
	switch in := in.(type) {
	case keyMsg:
		m.drafting()
		if m.screen.plain {
			m.spokenKey(in.key)
		}
		return m.key(in.key)
	case lineMsg:
		return m.takeLine(in.text)
	case pasteMsg:
		m.drafting()
		return m.paste(in.text)
	case sizeMsg:
		m.screen.size = in.size
		m.resized()
	case focusMsg:
		m.screen.focused = in.in
	case capsMsg:
		m.screen.canvas.how, m.screen.canvas.cell = in.how, in.cell
	case backgroundMsg:
		if m.screen.dark != in.dark {
			m.screen.dark = in.dark
			return m.setTheme(m.screen.chosen)
		}
	case mouseMsg:
		switch {
		case m.pager != nil:
			m.pager.move(m.leaf(), in.wheel)
		case m.visit != nil:
			m.visit.page.move(m.leaf(), in.wheel)
		case m.fills():
			m.scroll.move(m.leaf(), in.wheel)
		}
	case eventsMsg:
		return m.events(in)
	case openedMsg:
		return m.opened(in)
	case resultMsg:
		if in.then != nil {
			return in.then(m)
		}
	case tickMsg:
		return m.tick()
	}
	return nil
}

// wake is when the model wants a tick next; zero is never.
func (m *Model) wake() time.Time {
	if m.screen.plain {
		return m.plainDue() // nothing moves
	}
	at := m.listensAt()
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if (m.turn.running || m.turn.judged || m.back != nil) && !m.waitsForPerson() {
		sooner(m.now.Add(spinEvery))
	}
	sooner(m.delayDue())
	if m.s == nil && m.gone == nil && len(m.shown) == 0 || m.story.Own() != nil {
		sooner(m.now.Add(spinEvery))
	}
	sooner(m.flash.till)
	sooner(m.armed.till)
	if _, till := m.chord.Pending(); !till.IsZero() {
		sooner(till)
	}
	sooner(m.line.due)
	if !m.kept.busy {
		sooner(m.kept.due)
	}
	sooner(m.glanceDue())
	if slices.ContainsFunc(m.tasks, func(t task) bool { return t.end == nil && t.start.Agent != nil }) {
		sooner(m.now.Add(time.Second)) // their lines count seconds
	}
	return at
}

// spinEvery is the pace of the spinner.
const spinEvery = 100 * time.Millisecond

func (m *Model) tick() []effect {
	m.listen(m.now)
	if m.screen.plain {
		out := m.gathered()
		m.progressed()
		return out
	}
	if m.turn.running || m.turn.judged || m.back != nil || m.s == nil || m.delayed() != "" || m.story.Own() != nil {
		m.turn.spin++
	}
	m.expire(m.now)
	m.chord = m.chord.Expired(m.now)
	return slices.Concat(m.statusDue(), m.keepDraft(), m.glances())
}

// say shows a line below the prompt box for a while.
func (m *Model) say(text string, r draw.Role) {
	if m.screen.plain {
		m.tell(text)
		return
	}
	m.flash = flash{text, r, m.now.Add(4 * time.Second)}
}

// note puts a line of adze into the conversation.
func (m *Model) note(level, text, hint string) { m.story.Note(m.now, level, text, hint) }

// fail shows an error of something that a person asked for.
func (m *Model) fail(err error) []effect {
	if err != nil {
		m.note("error", err.Error(), hint.Of(err))
	}
	return nil
}

// opened takes a session, or learns that there is none.
func (m *Model) opened(in openedMsg) []effect {
	if in.err != nil {
		m.gone = in.err
		if !refusedBy(in.err, op.NoModel) { // a menu says it
			m.note("error", in.err.Error(), hint.Of(in.err))
		}
		for i := len(m.queue) - 1; i >= 0; i-- { // nothing that was typed is lost
			if !m.queue[i].left {
				m.box.Restore(m.queue[i].prompt)
			}
		}
		m.queue = nil
		return m.welcome()
	}
	m.unvisit()
	m.gone, m.s, m.effort, m.hooks, m.flash = nil, in.s, "", nil, flash{}
	m.st, m.turn, m.shown, m.pager, m.back = transcript.State{}, turn{}, nil, nil, nil
	m.shownAfter, m.begun = in.s.first(), false
	if m.shownAfter > 0 {
		m.st = in.s.Was
	}
	m.line.since, m.line.before = m.now, 0
	in.s.Was = transcript.State{} // it would keep what the session lets go
	before := m.story.Items[m.story.Printed:]
	m.story = story.New()
	for _, it := range before {
		if it.Kind == story.Noted { // said while the session was opened
			m.story.Add(it)
		}
	}
	m.hung = nil
	m.last, m.headed, m.past = nil, false, in.s.After > 0
	m.st.Model, m.st.Mode = in.s.Model, in.s.Mode
	m.scroll = newPager(true, m.screen.size.Rows-1)
	out := m.adopt(in.s.UI)
	if m.fills() {
		out = append(out, full{true})
	}
	out = append(out, submit{op: op.Attach{Client: clientName}})
	out = append(out, m.learnEffort()...)
	if !in.s.UI.TitleOff {
		out = append(out, m.retitle())
	}
	if in.s.After == 0 {
		out = append(out, m.ready()...)
	}
	return out
}

// ready is when the session can be talked to: what was typed before goes out.
func (m *Model) ready() []effect {
	m.past = false
	if m.s.After > 0 { // what earlier runs went by does not count in this one
		m.st.Model, m.st.Mode = cmp.Or(m.s.Model, m.st.Model), cmp.Or(m.s.Mode, m.st.Mode)
	}
	m.line.before = m.st.Lasted
	m.forked(m.start.Resume)
	waiting := m.queue
	m.queue = m.waited()
	if u := m.st.Deferred(); u != nil && len(m.queue) == 0 {
		m.cutOff = true
		m.note("info", "A hook put the last call off. Enter with an empty prompt goes on with it.", "")
	}
	if end := m.st.Turn.End; m.s.After > 0 && end.How == event.Interrupted && end.Reason != event.InterruptedSummary && !m.turn.running {
		how := "Enter with an empty prompt goes on with it."
		if len(m.queue) > 0 {
			how = "Enter sends what waits."
		} else {
			m.cutOff = true
		}
		m.note("info", "The last turn was interrupted. "+how, "")
	}
	m.goalWaits()
	out := m.unveil()
	for _, q := range waiting {
		if q.left {
			continue // it is another session's
		}
		out = append(out, m.sendAs(q.id, q.prompt, false)...)
	}
	return append(out, m.welcome()...)
}

// waited are the prompts that wait in the session since an earlier process.
func (m *Model) waited() (out []queued) {
	for _, q := range m.st.Queue {
		if q.From == nil {
			out = append(out, m.waits(q, !m.turn.running))
		}
	}
	return out
}

// waits is a prompt that the session has, and that was not sent from here.
func (m *Model) waits(q event.InputQueued, left bool) queued {
	p := edit.Prompt{Text: q.Text, Shown: q.Text, Foreign: q.Typed != op.All(q.Text)}
	if q.Command {
		p.Mode = edit.Command
	}
	for _, img := range q.Images {
		p.Images = append(p.Images, edit.Image{MediaType: img.Media, Data: img.Data})
	}
	return queued{id: q.ID, prompt: p, sent: true, later: q.Later, left: left, at: m.now}
}

// call asks for a person who looks elsewhere.
func (m *Model) call(text string) []effect {
	if m.screen.focused || m.s == nil || m.s.UI.Notify == "off" {
		return nil
	}
	return []effect{notify{text}}
}

// setTheme draws in the colours of a theme.
func (m *Model) setTheme(name string) []effect {
	find := m.host.Theme
	if find == nil {
		find = func(name string, dark bool) (*draw.Theme, error) { t, _ := draw.Named(name, dark); return t, nil }
	}
	t, err := find(name, m.screen.dark)
	if err != nil {
		m.say(err.Error(), draw.Wrong)
		t, _ = draw.Named("auto", m.screen.dark)
	}
	return []effect{paint{t}}
}

// resized is told when the terminal has another size.
func (m *Model) resized() {
	p := m.paper()
	for _, it := range m.story.Items[m.story.Printed:] {
		if it.Stream != nil {
			it.Stream.Resize(p.Inner(2, 0, false))
		}
	}
	if m.pager != nil {
		m.pager.height = max(m.screen.size.Rows-1, 1)
		m.pager.resized()
	}
	if m.scroll != nil {
		m.scroll.resized()
	}
	if m.visit != nil {
		m.visit.page.resized()
	}
}

func (m *Model) paper() dialog.Paper {
	whole := m.keys.Hint(keymap.ToggleTranscript)
	if m.screen.plain {
		whole = "/transcript"
	}
	return dialog.Paper{Paper: story.Paper{
		O:     draw.Options{Width: m.screen.size.Cols, ASCII: m.screen.ascii, Hint: whole, Spoken: m.screen.plain},
		Plain: m.screen.plain, Thinking: m.s != nil && m.s.UI.Thinking, Now: m.now,
	}}
}
