package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// In plain mode lines are printed and lines are typed: nothing is drawn anew, no
// key means anything but Enter, Ctrl+C and Ctrl+D, and what is wanted stands
// before the cursor.

// plainly is what plain mode has said and heard.
type plainly struct {
	out   []draw.Line   // to be printed next
	d     dialog.Dialog // that was printed
	box   string        // what was told of the prompt box
	line  string        // that is taken now
	last  string        // that was taken last
	typed map[string]bool

	hush  time.Time // until then what was asked for may still come, and nothing is asked
	lines []string  // of a prompt that is not sent yet
	fresh int       // of lines, how many came just now
	due   time.Time // when no more of them belong to one paste; zero when none came
	tells time.Time // when it is said that something still goes on
	told  int       // how often it was, of one thing
	of    string    // that thing
	since time.Time // it does
	moved time.Time // when something of the conversation was printed last
}

// pasteGap is how soon after another a line follows that was pasted with it.
const pasteGap = 40 * time.Millisecond

// plainRows is how many lines a dialog may take where all is printed.
const plainRows = 10_000

// tell prints something once, in plain mode.
func (m *Model) tell(text string) {
	lines := draw.WrapAll(draw.Text(text, draw.Style{}), clampLow(m.paper().Cols()-2))
	m.spoken.out = append(m.spoken.out, draw.Indent(lines, draw.S("  ", draw.Plain))...)
}

// plainFrame is what is printed, and the line that asks.
func (m *Model) plainFrame() (printed, ask []draw.Line) {
	if printed = m.flush(); len(printed) > 0 {
		m.spoken.moved = m.now
	}
	for _, l := range m.announce() {
		if n := len(printed); len(l) > 0 || n == 0 || len(printed[n-1]) > 0 { // one blank line is enough
			printed = append(printed, l)
		}
	}
	if words := m.asking(); words != "" && !m.left {
		ask = []draw.Line{draw.L(draw.S(words, draw.Plain)).Truncate(m.screen.size.Cols, m.paper().O)}
	}
	return printed, ask
}

// asking is what stands before the cursor, "" as long as nothing is waited for.
func (m *Model) asking() string {
	switch {
	case !m.spoken.due.IsZero(): // more may come
		return ""
	case len(m.shown) > 0:
		p := m.first().Poll(m.around())
		if m.first() != m.spoken.d || p.Waits {
			return ""
		}
		return p.Wanted + "> "
	case len(m.spoken.lines) > 0:
		return ">> "
	case m.now.Before(m.spoken.hush), m.s == nil && m.gone == nil, m.past, m.turn.running, m.awaited(), m.story.Own() != nil:
		return ""
	}
	return "> "
}

// announce prints what is told, a dialog once, and what stands in the prompt.
func (m *Model) announce() []draw.Line {
	out := m.spoken.out
	m.spoken.out = nil
	if len(m.shown) == 0 {
		m.spoken.d = nil
	} else if d := m.first(); d != m.spoken.d && !d.Poll(m.around()).Waits {
		m.spoken.d = d
		c := m.around()
		lines, _ := d.View(c, plainRows)
		out = append(out, lines...)
		switch p := d.Poll(c); {
		case p.Read:
			m.close(d)
			m.spoken.d = nil
		case p.How != "":
			out = append(out, draw.Indent(draw.L(draw.S(p.How, draw.Quiet)).Wrap(clampLow(c.Cols()-2)), draw.S("  ", draw.Plain))...)
		}
	}
	if now := m.box.Shown(); now != m.spoken.box {
		if m.spoken.box = now; now != "" {
			m.tell("Not sent: “" + story.FirstLine(now) + "”. An empty line sends it, another one takes its place.")
			out = append(out, m.spoken.out...)
			m.spoken.out = nil
		}
	}
	return out
}

// again has the first dialog printed once more: it is another one now.
func (m *Model) again() { m.spoken.d = nil }

// takeLine takes a line. Those of a prompt are gathered first: what is pasted comes
// line by line.
func (m *Model) takeLine(text string) []effect {
	m.spoken.moved = m.now
	if len(m.shown) > 0 && len(m.spoken.lines) == 0 {
		d := m.first()
		switch text = strings.TrimSpace(text); {
		case !m.earlyLine(d):
			return m.carry(d, dialog.AnswerLine(m.around(), d, text))
		case len([]rune(text)) < leastPrompt:
			m.tell("That came too soon to be meant for this question. Answer it again.")
			return nil
		}
		m.tell("That was typed before the question came, and counts as a prompt. The question waits.")
		return m.entered(text)
	}
	m.spoken.lines = append(m.spoken.lines, text)
	m.spoken.fresh++
	m.spoken.due = m.now.Add(pasteGap)
	return nil
}

// leastPrompt is how many characters a line has at least that somebody began
// before a question came, which takes a moment.
const leastPrompt = 4

// gathered sends the prompt that was typed when it is whole.
func (m *Model) gathered() []effect {
	s := &m.spoken
	if s.due.IsZero() || m.now.Before(s.due) {
		return nil
	}
	fresh, last, open := s.fresh, s.lines[len(s.lines)-1], len(s.lines) > s.fresh && !strings.HasSuffix(s.lines[len(s.lines)-s.fresh-1], `\`)
	s.fresh, s.due = 0, time.Time{}
	switch {
	case fresh == 1 && strings.HasSuffix(last, `\`): // it goes on
		return nil
	case fresh > 1 || open && strings.TrimSpace(last) != "":
		m.spoken.out = append(m.spoken.out, nil) // the last line of a paste may stand there, without its end
		m.tell(fmt.Sprintf("%s. An empty line sends them, Ctrl+C drops them.", story.Plural(len(s.lines), "line")))
		return nil
	}
	lines := s.lines
	if open { // the empty line
		lines = lines[:len(lines)-1]
	} else {
		for i, l := range lines[:len(lines)-1] {
			lines[i] = strings.TrimSuffix(l, `\`)
		}
	}
	s.lines = nil
	return m.entered(strings.Join(lines, "\n"))
}

// entered takes a prompt, a command or an empty line.
func (m *Model) entered(text string) []effect {
	switch strings.TrimSpace(text) {
	case "":
		return m.enter() // what came back into the box, or what Enter means without anything
	case "?":
		m.open(newHelp(m))
		return nil
	}
	waits := m.box.Prompt()
	m.box.Clear()
	if strings.Contains(text, "\n") {
		m.box.Paste(text)
	} else {
		m.box.Set(text)
	}
	another := m.box.Mode() == edit.Chat // takes the place of what waits there
	m.spoken.line = strings.TrimSpace(text)
	m.spoken.last = m.spoken.line
	out := m.enter()
	if m.spoken.line = ""; m.box.Mode() != edit.Chat { // it can be typed again
		m.box.Clear()
	}
	if !another && m.box.Empty() {
		m.box.Restore(waits)
	}
	return out
}

// echoed notes that a prompt stands on the screen as it was typed, and says when
// the model gets it where that is later.
func (m *Model) echoed(id string, p edit.Prompt, later bool) {
	if !m.screen.plain || m.spoken.line == "" || m.spoken.line != strings.TrimSpace(p.Text) {
		return
	}
	if m.spoken.typed == nil {
		m.spoken.typed = map[string]bool{}
	}
	m.spoken.typed[id] = true
	switch {
	case m.s == nil || m.past:
		m.tell("It is sent when the session is open.")
	case m.turn.running && !later:
		m.tell("The model gets it with its next step.")
	}
}

// spokenKey takes the keys that are none of a line.
func (m *Model) spokenKey(k keymap.Key) {
	if k.Mod != keymap.Ctrl || k.Name != "c" {
		return
	}
	if m.spoken.lines != nil {
		m.spoken.lines, m.spoken.fresh, m.spoken.due = nil, 0, time.Time{}
		m.tell("Dropped.")
	}
	if m.aside != nil {
		m.stopAside()
	}
}

// hushed follows a message: what somebody asked for comes above the line that asks
// for more, if it comes soon.
func (m *Model) hushed(in Msg, out []effect) {
	if !m.now.Before(m.spoken.hush) {
		m.spoken.hush = time.Time{}
	}
	if _, done := in.(resultMsg); done {
		m.spoken.hush = time.Time{}
	}
	for _, e := range out {
		switch e.(type) {
		case work, submit:
			m.spoken.hush = m.now.Add(soon)
		case away: // something else asks
			m.spoken.hush = m.now.Add(24 * time.Hour)
		default: // nobody waits for it
		}
	}
}

// soon is how long what was asked for may take and come first.
const soon = 250 * time.Millisecond

// stopKey is the key that stops what goes on.
func (m *Model) stopKey() string {
	if m.screen.plain {
		return "Ctrl+C"
	}
	return m.keys.Hint(keymap.Cancel)
}

// plainDue is when plain mode wants to be woken, zero for never.
func (m *Model) plainDue() time.Time {
	at := m.listensAt()
	for _, t := range []time.Time{m.spoken.due, m.spoken.tells, m.spoken.hush} {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at
}

// goesOnFor says how long something goes on until that is said, as often as it was
// said before: less and less often.
func goesOnFor(told int) time.Duration {
	first := [...]time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}
	if told < len(first) {
		return first[told]
	}
	return time.Duration(told-len(first)+2) * first[len(first)-1]
}

// progressed says now and then what still goes on.
func (m *Model) progressed() {
	s := &m.spoken
	if m.progresses(); s.tells.IsZero() || m.now.Before(s.tells) {
		return
	}
	for s.told++; !m.now.Before(s.since.Add(goesOnFor(s.told))); s.told++ { // adze may have been stopped meanwhile
		continue
	}
	s.tells = s.since.Add(goesOnFor(s.told))
	m.tell("Still " + s.of + ": " + story.Seconds(m.now.Sub(s.since)) + ". Ctrl+C stops it.")
}

// progresses looks at what goes on now.
func (m *Model) progresses() {
	s := &m.spoken
	what, since := m.goesOnNow()
	if what != s.of || !since.Equal(s.since) {
		s.of, s.since, s.told, s.tells = what, since, 0, since.Add(goesOnFor(0))
	}
	if what == "" {
		s.tells = time.Time{}
	}
}

// goesOnNow is what takes its time, and since when nothing was printed of it.
func (m *Model) goesOnNow() (string, time.Time) {
	if !m.turn.running && m.story.Own() == nil || m.waitsForPerson() || m.turn.waiting != nil {
		return "", time.Time{}
	}
	c := m.story.Open()
	if c == nil {
		c = m.story.Own()
	}
	if c != nil {
		verb, subject := c.Words()
		return "running " + strings.TrimSpace(verb+" "+clip.Line(subject, 60)), m.now.Add(-c.Lasts(m.now))
	}
	since := m.turn.began
	if m.spoken.moved.After(since) {
		since = m.spoken.moved
	}
	return "waiting for the model", since
}

// waitsAgain says that a request is made again, once.
func (m *Model) waitsAgain(b event.Waiting) {
	if m.screen.plain {
		m.tell(fmt.Sprintf("Trying again in %s (%s): %s", story.Seconds(b.For), b.Count(), draw.String(b.Err)))
	}
}

// finished is the line at the end of a turn.
func (m *Model) finished(how event.End, took time.Duration, up, down int) {
	if !m.screen.plain {
		return
	}
	word := map[event.End]string{event.Done: "Done", event.Interrupted: "Stopped", event.Failed: "Not done"}[how]
	if word == "" {
		word = "Ended"
	}
	var facts []string
	if took >= time.Second {
		facts = append(facts, story.Seconds(took))
	}
	if up+down > 0 {
		facts = append(facts, count(up)+" tokens in", count(down)+" out")
	}
	if len(facts) > 0 {
		word += ": " + strings.Join(facts, ", ")
	}
	m.note("quiet", word+".", "")
}

// transcriptCommand shows the conversation unfolded: in full screen, or in plain
// mode what was said since the last prompt, or all of it.
func (m *Model) transcriptCommand(args string) []effect {
	if args != "" && args != "all" {
		m.say("/transcript takes nothing, or “all”", draw.Attention)
		return nil
	}
	if !m.screen.plain {
		return m.openPager()
	}
	from := 0
	for i, it := range m.story.Items {
		if it.Kind == story.Said && !it.Steer && args == "" {
			from = i
		}
	}
	g := newPager(false, 0)
	for i := from; i < len(m.story.Items); i++ {
		m.spoken.out = append(m.spoken.out, g.lines(m.leaf(), i)...)
	}
	if len(m.spoken.out) == 0 {
		m.say("nothing was said yet", draw.Quiet)
	}
	return nil
}
