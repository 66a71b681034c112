package tui

import (
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// does is what is done about what a dialog says; about what is nil, nothing.
type does struct {
	chosen  func(m *Model, c Choice) []effect
	marked  func(m *Model, c Choice) []effect
	sought  func(m *Model) []effect // nothing: that is looked for nowhere else
	dropped func(m *Model) []effect
	own     func(m *Model, a keymap.Action) []effect
	said    func(m *Model, word string, c Choice, rest string) []effect
	wrote   func(m *Model, text string) []effect
}

func (h *does) with() *does { return h }

type menu struct {
	*dialog.Menu
	does
}

type sheet struct {
	*dialog.Sheet
	does
}

func newMenu(m *Model, heading string, all []Choice, chosen func(*Model, Choice) []effect) *menu {
	return &menu{dialog.NewMenu(m.keys, heading, all), does{chosen: chosen}}
}

// Poll: what is done when it closes counts for one without choices, too.
func (d *menu) Poll(c dialog.Ctx) dialog.Poll {
	p := d.Menu.Poll(c)
	p.Read = p.Read && d.dropped == nil
	return p
}

// open shows a dialog, in its place by rank.
func (m *Model) open(d dialog.Dialog) {
	m.flash = flash{} // it was said of what was there before
	m.list = nil
	m.dialogs.open(d)
}

// around is what a dialog may know.
func (m *Model) around() dialog.Ctx {
	return dialog.Ctx{
		Paper: m.paper(), Keys: m.keys, Pressed: m.pressed, Rows: m.screen.size.Rows, Dir: m.folder(), Mode: m.mode(), Running: m.turn.running,
		Held: m.holds(), Aside: m.drafted() || m.drafts() && !fields(m.first()), Editor: m.host.Edit != nil, Files: m.host.EditFile != nil && m.host.ReadFile != nil,
	}
}

// folder is where the session works; its log begins with the first prompt.
func (m *Model) folder() string {
	if m.st.Dir == "" && m.s != nil {
		return m.s.Dir
	}
	return m.st.Dir
}

// carry does what a dialog wants done.
func (m *Model) carry(d dialog.Dialog, list []dialog.Effect) (out []effect) {
	for _, e := range list {
		out = append(out, m.carryOne(d, e)...)
	}
	return out
}

func (m *Model) carryOne(d dialog.Dialog, e dialog.Effect) []effect {
	h := &does{}
	if x, ok := d.(interface{ with() *does }); ok {
		h = x.with()
	}
	switch e := e.(type) {
	case dialog.Answer:
		return m.answer(d, e)
	case dialog.Chosen:
		m.close(d)
		return h.chosen(m, e.Choice)
	case dialog.Dropped:
		if m.close(d); h.dropped != nil {
			return h.dropped(m)
		}
	case dialog.Marked:
		if h.marked != nil {
			return h.marked(m, e.Choice)
		}
	case dialog.Sought:
		var out []effect
		if h.sought != nil {
			out = h.sought(m)
		}
		if out == nil && e.Else != nil {
			return m.carry(d, e.Else())
		}
		m.again()
		return out
	case dialog.Own:
		return h.own(m, e.Action)
	case dialog.Said:
		return h.said(m, e.Word, e.Choice, e.Rest)
	case dialog.Wrote:
		return h.wrote(m, e.Text)
	case dialog.Keys:
		return m.typedOn(d, e.List)
	case dialog.Interrupt:
		return m.interrupt()
	case dialog.Browse:
		return m.browse(e.Address)
	case dialog.Edit:
		return []effect{away{func(ctx context.Context) func(*Model) []effect {
			text, err := m.host.Edit(ctx, e.Text)
			return func(m *Model) []effect { return m.carry(d, e.Then(text, err)) }
		}}}
	case dialog.EditFile:
		return []effect{away{func(ctx context.Context) func(*Model) []effect {
			err := m.host.EditFile(ctx, e.Path)
			var text string
			if err == nil {
				text, err = m.host.ReadFile(e.Path)
			}
			return func(m *Model) []effect { return m.carry(d, e.Then(text, err)) }
		}}}
	case dialog.Say:
		m.say(e.Text, e.Role)
	case dialog.Again:
		m.again()
	}
	return nil
}

// ask has a person write a text in the place of the search; Esc leaves it.
func (d *menu) ask(m *Model, label, text string, done func(*Model, string) []effect) {
	d.wrote = done
	d.Ask(m.keys, label, text)
}

// answer closes the dialog of a question and submits what was said. A refusal is shown
// in it, as what is wrong, and the question stays.
func (m *Model) answer(d dialog.Dialog, e dialog.Answer) []effect {
	a := e.Answer
	a.Call, a.By = d.Kind().Call, clientName
	m.close(d)
	return []effect{submit{op: a, urgent: true, then: func(m *Model, err error) []effect {
		if err != nil && m.st.Pending[a.Call].Call != "" {
			e.Refused(err.Error())
			m.open(d)
			m.again()
		}
		return nil
	}}}
}

// answeredElsewhere keeps the words that somebody was writing in a dialog when another
// client answered it: they go into the prompt box, and a line says what was answered.
func (m *Model) answeredElsewhere(b event.Answered) {
	i := slices.IndexFunc(m.shown, func(d dialog.Dialog) bool { return b.Call != "" && d.Kind().Call == b.Call })
	if i < 0 {
		return // it was answered here
	}
	words := dialog.Words(m.shown[i])
	if words == "" {
		return
	}
	said := "answered no"
	switch {
	case !b.By.Person():
		said = "is not asked any more"
	case b.Allow:
		said = "answered yes"
	}
	if b.By.Person() {
		said = "was " + said + " in another terminal (" + draw.String(b.By.String()) + ")"
	}
	m.note("warning", "The question that you were writing an answer to "+said+".", "Your words are in the prompt box.")
	if !m.box.Empty() {
		words = "\n" + words
	}
	m.box.Paste(words)
	m.drafting()
}

// browse opens a page in the person's browser, or says which one to open.
func (m *Model) browse(address string) []effect {
	if m.host.Browse == nil {
		m.note("info", "Open this page in a browser:", address)
		return nil
	}
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		err := m.host.Browse(ctx, address)
		return func(m *Model) []effect {
			if err != nil {
				m.note("info", "No browser can be opened from here. Open this page in one:", address)
			}
			return nil
		}
	}}}
}

func (m *Model) dialogKey(k keymap.Key) []effect {
	d := m.first()
	if m.early(d, k, m.now) {
		return m.tooSoon(k)
	}
	return m.press(k, append(slices.Clone(d.In()), keymap.Global), func(m *Model, a keymap.Action) ([]effect, bool) {
		if out, done := d.Act(m.around(), a); done {
			return m.carry(d, out), true
		}
		switch a {
		case keymap.Interrupt:
			if m.turn.running && m.armed.action != keymap.Interrupt { // the question ends with what asked it
				return m.interrupt(), true
			}
			return m.interruptOrQuit(), true
		case keymap.Exit, keymap.Redraw, keymap.Suspend, keymap.ToggleTranscript:
			return m.anyAct(a)
		case keymap.ShowHelp:
			h := newHelp(m)
			h.Above = true // the question goes on when it was read
			m.open(h)
			return nil, true
		}
		return nil, false
	}, func(m *Model, k keymap.Key) []effect { return m.carry(d, dialog.Typed(m.around(), d, k)) })
}

// ask opens the dialog for a question of the session.
func (m *Model) ask(b event.Asked) []effect {
	if b.About == event.AboutCost {
		m.open(m.dear(b))
		return m.call("adze: " + story.FirstLine(b.Title))
	}
	d, says := dialog.Ask(m.keys, b, m.commandsNow())
	m.open(d)
	return m.call(says)
}
