package tui

import (
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// longCommand is how long a command has run when the key is named that moves it to the
// background.
const longCommand = 5 * time.Second

// spinner says what goes on, how long, and how to stop it.
func (m *Model) spinner(p dialog.Paper) draw.Line {
	if m.s == nil && m.gone == nil {
		return draw.L(draw.S(draw.Spinner(m.turn.spin, p.O.ASCII)+" ", draw.Accent), draw.S("Opening the session", draw.Quiet))
	}
	if m.back != nil {
		return m.goingLine(p)
	}
	dot := " " + p.Sign(draw.Middot) + " "
	if m.turn.judged && !m.turn.running {
		return m.judging(p)
	}
	if !m.turn.running {
		text := m.delayed()
		if text == "" {
			return m.ownRuns(p)
		}
		facts := dot + story.Seconds(m.now.Sub(m.queue[0].at)) + dot + m.keys.Hint(keymap.Cancel) + " takes the prompt back"
		return draw.L(draw.S(draw.Spinner(m.turn.spin, p.O.ASCII)+" ", draw.Accent), draw.S(text, draw.Accent), draw.S(facts, draw.Quiet)).Truncate(p.Cols(), p.O)
	}
	if m.turn.stopped {
		return draw.L(draw.S(draw.Spinner(m.turn.spin, p.O.ASCII)+" ", draw.Accent), draw.S("Stopping", draw.Accent))
	}
	var took string
	if d := m.now.Sub(m.turn.began); d >= time.Second {
		took = dot + story.Seconds(d)
	}
	tokens := m.tokens(p)
	if tokens != "" {
		tokens = dot + tokens
	}
	stop := dot + m.keys.Hint(keymap.Cancel) + " interrupts"
	verb := m.verb(m.now)
	if c := m.story.Open(); c != nil && (c.Shell() || m.awaits(c.ID)) && c.Lasts(m.now) >= longCommand {
		long := stop + dot + m.keys.Hint(keymap.TaskBackground) + " moves it to the background"
		if 2+draw.Width(verb+took+tokens+long) <= p.Cols() {
			stop = long
		}
	}
	room := p.Cols() - 2 - draw.Width(took+tokens+stop)
	if room < draw.Width(verb) && (p.Cols() < 60 || m.turn.waiting != nil) { // how to stop it, and what went wrong, count more
		room, tokens = room+draw.Width(tokens), ""
	}
	head := draw.L(draw.S(verb, draw.Accent)).Truncate(max(room, p.Cols()/4), p.O)
	head = append(draw.L(draw.S(draw.Spinner(m.turn.spin, p.O.ASCII)+" ", draw.Accent)), head...)
	return append(head, draw.S(took+tokens+stop, draw.Quiet)).Truncate(p.Cols(), p.O)
}

// ownRuns says that a command of the person's own runs, or else what the last turn took.
func (m *Model) ownRuns(p dialog.Paper) draw.Line {
	c := m.story.Own()
	if c == nil {
		return m.spent(p)
	}
	dot := " " + p.Sign(draw.Middot) + " "
	var took string
	if d := c.Lasts(m.now); d >= time.Second {
		took = dot + story.Seconds(d)
	}
	facts := took + dot + m.keys.Hint(keymap.Cancel) + " stops it"
	head := draw.L(draw.S(clip.Line(draw.String(strings.TrimPrefix(c.Title, "! ")), 60), draw.Accent)).Truncate(max(p.Cols()-2-draw.Width(facts), p.Cols()/4), p.O)
	head = append(draw.L(draw.S(draw.Spinner(m.turn.spin, p.O.ASCII)+" ", draw.Accent)), head...)
	return append(head, draw.S(facts, draw.Quiet)).Truncate(p.Cols(), p.O)
}

// spent is what the last turn took. It stands where the spinner was, so that
// the prompt box does not move when a turn ends, until something else is said.
func (m *Model) spent(p dialog.Paper) draw.Line {
	if m.turn.over == 0 || m.turn.over != len(m.story.Items) || p.Plain || m.screen.size.Rows < 12 {
		return nil
	}
	var facts []string
	if m.turn.took >= time.Second {
		facts = append(facts, story.Seconds(m.turn.took))
	}
	if s := m.tokens(p); s != "" {
		facts = append(facts, s)
	}
	return draw.L(draw.S("  "+strings.Join(facts, " "+p.Sign(draw.Middot)+" "), draw.Quiet)).Truncate(p.Cols(), p.O)
}

// count is a number of tokens for people.
func count(n int) string { return clip.Short(n) }

// todos is the todo list, when it is wanted. One that is done goes with the turn that did it.
func (m *Model) todos(p dialog.Paper, max int) []draw.Line {
	if !m.screen.todos || len(m.st.Tasks) == 0 || max < 2 || progressDone(m.st.Tasks) && !m.turn.listed {
		return nil
	}
	o := p.Inner(2, max, false)
	o.Hint = ""
	return draw.Indent(draw.Block(view.Tasks{Items: m.st.Tasks}, o), draw.S("  ", draw.Plain))
}

func progressDone(items []view.Task) bool {
	for _, t := range items {
		if t.Status != view.Completed {
			return false
		}
	}
	return true
}
