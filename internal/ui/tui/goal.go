package tui

import (
	"fmt"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// goalCommand shows the goal, or changes it.
func (m *Model) goalCommand(c op.Command, args string) []effect {
	if args == "" {
		return m.report("goal", m.st.GoalText())
	}
	return m.opCommand(c, args)
}

// goalChanged calls a person where the goal is over.
func (m *Model) goalChanged(b event.GoalChanged) []effect {
	m.turn.judged = false
	out := m.changed()
	if b.Status != event.GoalActive && b.By != event.GoalByPerson {
		out = append(out, m.call("adze: "+story.FirstLine(b.String()))...)
	}
	return out
}

// judging says that the goal is being judged.
func (m *Model) judging(p dialog.Paper) draw.Line {
	dot := " " + p.Sign(draw.Middot) + " "
	return draw.L(draw.S(draw.Spinner(m.turn.spin, p.O.ASCII)+" ", draw.Accent), draw.S("Checking whether the goal is reached", draw.Accent),
		draw.S(dot+m.keys.Hint(keymap.Cancel)+" pauses it", draw.Quiet)).Truncate(p.Cols(), p.O)
}

// goalFact says in the footer how the goal is, "" without one that is open.
func (m *Model) goalFact() (string, draw.Role) {
	g := m.st.Goal
	switch {
	case g == nil:
	case g.Status == event.GoalActive:
		return fmt.Sprintf("goal: turn %d", max(g.Used, 1)), draw.Accent
	case g.Status == event.GoalPaused, g.Status == event.GoalBlocked, g.Status == event.GoalBudget:
		how := map[event.GoalStatus]string{event.GoalPaused: "paused", event.GoalBlocked: "given up", event.GoalBudget: "used up"}[g.Status]
		return "goal " + how + " (/goal)", draw.Attention
	}
	return "", draw.Quiet
}

// goalWaits tells of a goal that an earlier process left.
func (m *Model) goalWaits() {
	if m.st.Pursued() != nil && !m.turn.running {
		m.note("info", "This session has a goal: "+draw.String(m.st.Goal.Condition)+". It goes on with your next prompt.", "/goal resume goes on with it now, /goal clear ends it")
	}
}
