package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

// A visit is the conversation of an agent, which has the screen until a person goes back.
// What they type meanwhile is for the agent.
type visit struct {
	story  *story.Story
	page   *pager
	task   ask.Task // as it was when the visit began
	end    *event.TaskEnded
	seq    event.Seq // of its newest event
	stop   context.CancelFunc
	over   bool // no more comes, as long as it does not go on
	why    error
	leaves bool // the visit ends with the agent's work
}

// seeAgent shows the conversation of an agent. front: when it has ended, the one of the
// session is there again.
func (m *Model) seeAgent(t ask.Task, front bool) []effect {
	m.unvisit()
	m.shown = slices.DeleteFunc(m.shown, func(d dialog.Dialog) bool { return !d.Kind().Asks })
	m.visit = &visit{story: story.New(), page: newPager(true, m.screen.size.Rows-2), task: t, leaves: front}
	return []effect{full{true}, follow{m.visit}}
}

// unvisit ends a visit, and reports whether there was one.
func (m *Model) unvisit() bool {
	v := m.visit
	if m.visit = nil; v == nil {
		return false
	}
	if v.stop != nil {
		v.stop()
	}
	return true
}

// goBack is at the conversation of the session again.
func (m *Model) goBack() []effect {
	m.unvisit()
	m.returned = m.now
	return []effect{full{m.fills()}}
}

// visitEvents takes what happened in the session of the agent that is visited.
func (m *Model) visitEvents(v *visit, events []event.Event) {
	if m.visit != v {
		return
	}
	for _, e := range events {
		v.seq = max(v.seq, e.Seq)
		if b, ok := e.Body.(event.InputAccepted); ok && b.From != nil {
			e.Body = m.saidTo(b)
		}
		v.story.Apply(e)
	}
}

// saidTo is what an agent was told, as it is shown in its conversation: words of the person as
// those of a prompt.
func (m *Model) saidTo(b event.InputAccepted) event.InputAccepted {
	switch from := *b.From; {
	case b.Typed != op.Span{}:
		b.From = nil
	case m.s != nil && from.ID == m.s.ID:
		from.Name = "the session"
		b.From = &from
	}
	return b
}

// visitOver says that no more comes of the agent.
func (m *Model) visitOver(v *visit, why error) []effect {
	v.over, v.why = true, why
	if m.visit == v && v.leaves {
		m.say(v.task.ID+" has ended", draw.Quiet)
		return m.goBack()
	}
	return nil
}

// visits takes what the session says of the agent that is visited: it goes on, or has ended.
func (m *Model) visits(b event.Body) []effect {
	v := m.visit
	if v == nil {
		return nil
	}
	switch b := b.(type) {
	case event.TaskEnded:
		if b.ID == v.task.ID {
			v.end = &b
		}
	case event.TaskStarted:
		if b.ID == v.task.ID && v.over {
			v.end, v.over = nil, false
			return []effect{follow{v}}
		}
	default: // is none of it
	}
	return nil
}

// visited is the whole screen: what the agent is, its conversation, and below it what a
// person acts on.
func (m *Model) visited() ([]draw.Line, term.Cursor) {
	v, p, rows := m.visit, m.paper(), m.screen.size.Rows
	bottom, cur := m.bottom(clampLow(rows - 2))
	v.page.height = max(rows-len(bottom)-2, 1)
	left := draw.L(p.Mark(draw.Radio, draw.Accent), draw.Span{Text: clip.Line(taskName(v.task), 80), Style: draw.Style{Role: draw.Accent, Attr: draw.Bold}}, draw.S("  "+draw.String(v.task.ID), draw.Quiet))
	out := []draw.Line{draw.Beside(left, draw.L(draw.S(m.keys.Hint(keymap.Cancel)+" goes back", draw.Quiet)), p.Cols(), p.O)}
	out = append(out, v.page.page(leaf{v.story, p})...)
	for len(out) < v.page.height+1 {
		out = append(out, nil)
	}
	below := draw.Line{}
	if !v.page.follow {
		below = draw.L(draw.S("  "+p.Sign(draw.MoreDown)+" more below (PgDn)", draw.Attention))
	}
	out = append(out, below.Truncate(m.screen.size.Cols, p.O))
	cur.Row += len(out)
	return append(out, bottom...), cur
}

// visitNow says in a line how the agent is.
func (m *Model) visitNow(p dialog.Paper) draw.Line {
	v := m.visit
	now := "works"
	var facts []string
	switch t := m.task(v.task.ID); {
	case v.end != nil:
		now = "ended: " + draw.String(cmp.Or(string(v.end.Status), "stopped"))
		facts = append(facts, clip.Span(v.end.Took))
		if v.end.Text != "" && v.end.Status != event.TaskCompleted {
			facts = append(facts, story.FirstLine(v.end.Text))
		}
		facts = append(facts, "what you type has it go on")
	case t != nil:
		if now = "thinks"; t.doing != "" {
			now = story.Subject(t.doing)
		}
		facts = append(facts, clip.Count(t.tally.Calls, "call"), count(t.tally.Usage.Prompt()+t.tally.Usage.Out)+" tokens", story.Seconds(t.took))
	case v.why != nil:
		now = draw.String(v.why.Error())
	case v.over:
		now = "ended: " + draw.String(v.task.Status)
	}
	text := strings.Join(append([]string{now}, facts...), " "+p.Sign(draw.Middot)+" ")
	return draw.L(draw.S("  "+text, draw.Quiet)).Truncate(p.Cols(), p.O)
}

// toAgent is a prompt of a visit, as the session takes it: for the agent.
func (v *visit) toAgent(text string) string { return "@" + v.task.ID + " " + text }

// openAgent shows the agent that works, or has a person choose one.
func (m *Model) openAgent() []effect {
	var works []task
	for _, t := range m.tasks {
		if t.end == nil && t.start.Agent != nil {
			works = append(works, t)
		}
	}
	switch len(works) {
	case 0:
		m.say("no agent works now", draw.Quiet)
		return nil
	case 1:
		return m.seeAgent(works[0].asTask(), false)
	}
	return m.tasksAt(works[0].start.ID)
}

// asTask is an agent as far as this client saw it.
func (t task) asTask() ask.Task {
	return ask.Task{ID: t.start.ID, Kind: t.start.Kind, Name: t.start.Agent.Name, What: t.start.Text, Status: ask.TaskRuns, Session: t.start.Session, Model: t.start.Model}
}

// startAgent has an agent work on a prompt in the background.
func (m *Model) startAgent(p edit.Prompt) []effect {
	if m.s == nil || m.past || len(p.Images) > 0 {
		m.box.Restore(p)
		m.say(map[bool]string{true: "an agent is told words only: name the file of a picture", false: "there is no session yet"}[len(p.Images) > 0], draw.Attention)
		return nil
	}
	s := m.s
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, s, ask.Agent{Prompt: p.Body()})
		return func(m *Model) []effect {
			if err != nil {
				m.box.Restore(p) // it is not lost
				return m.fail(err)
			}
			how := m.keys.Hint(keymap.OpenAgent)
			if m.screen.plain {
				how = "/tasks"
			}
			m.note("info", draw.String(r.Text)+": "+story.FirstLine(p.Body()), how+" shows what it does")
			return nil
		}
	}}}
}
