package tui

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// workflowsCommand lists the runs of workflows: the phases and agents of each can be seen, one
// that runs can be stopped, and one that has ended can go on.
func (m *Model) workflowsCommand(string) []effect {
	var all []Choice
	for _, t := range slices.Backward(m.tasks) {
		if t.start.Kind == event.TaskWorkflow {
			all = append(all, Choice{ID: t.start.ID, Name: t.start.ID + "  " + story.Subject(t.start.Text), Right: t.stage()})
		}
	}
	if len(all) == 0 {
		m.say("no workflow ran in this session", draw.Quiet)
		return nil
	}
	d := newMenu(m, "Workflows", all, func(m *Model, c Choice) []effect {
		m.seeRun(c.ID)
		return nil
	})
	d.Fixed, d.Hint = true, "Enter shows phases and agents"
	m.open(d)
	return nil
}

// stage says in a few words how a run is.
func (t task) stage() string {
	if t.end != nil {
		return t.how()
	}
	return cmp.Or(clip.Line(t.doing, 50), "runs")
}

// runTask is a run of a workflow, also one that has ended; nil for none.
func (v *conversation) runTask(id string) *task {
	for i := range v.tasks {
		if v.tasks[i].start.ID == id {
			return &v.tasks[i]
		}
	}
	return nil
}

// seeRun shows the phases of a run with their agents, as they are now.
func (m *Model) seeRun(id string) {
	d := &sheet{Sheet: &dialog.Sheet{Heading: id, Hint: "x stops it, ", Letters: "x"}}
	d.Lines = func(_ dialog.Paper, width int) []draw.Line {
		t := m.runTask(id)
		if t == nil {
			return nil
		}
		d.Heading = id + "  " + story.Subject(t.start.Text)
		if t.end != nil {
			d.Hint, d.Letters = "r has it go on, ", "r"
		}
		return draw.WrapAll(m.phases(*t), width)
	}
	d.own = func(m *Model, a keymap.Action) []effect {
		t := m.runTask(id)
		switch {
		case t == nil:
			return nil
		case t.end == nil:
			m.close(d)
			return stopTask(id)
		}
		m.close(d)
		return []effect{submit{op: op.Prompt{Text: fmt.Sprintf("Have the workflow go on: call Workflow with resumeFromRunId %q and nothing else.", t.start.Run)}}}
	}
	m.open(d)
}

// phases are the lines of a run: its state, and each phase with its agents.
func (m *Model) phases(t task) (out []draw.Line) {
	out = append(out, draw.L(draw.S(t.stage(), draw.Accent)))
	var names []string
	by := map[string][]task{}
	for _, a := range m.tasks {
		if a.start.Run != t.start.ID || a.start.Kind != event.TaskAgent {
			continue
		}
		if _, ok := by[a.start.Phase]; !ok {
			names = append(names, a.start.Phase)
		}
		by[a.start.Phase] = append(by[a.start.Phase], a)
	}
	for _, name := range names {
		ended, tokens, took := 0, 0, time.Duration(0)
		for _, a := range by[name] {
			tally := a.tally
			if a.end != nil {
				ended++
				tally, took = a.end.Tally, max(took, a.end.Took)
			}
			tokens += tally.Usage.Prompt() + tally.Usage.Out
		}
		out = append(out, nil, draw.L(draw.S(cmp.Or(name, "(no phase)"), draw.Accent), draw.S(fmt.Sprintf("  %d of %s ended, %s tokens", ended, clip.Count(len(by[name]), "agent"), clip.Short(tokens)), draw.Quiet)))
		for _, a := range by[name] {
			how, said := cmp.Or(a.doing, "works"), ""
			if a.end != nil {
				how, said = a.how(), clip.Line(clip.Visible(a.end.Text), 200)
			}
			out = append(out, draw.L(draw.S("  "+a.start.ID+"  ", draw.Quiet), draw.S(clip.Line(clip.Visible(a.start.Text), 60), draw.Plain), draw.S("  "+how, draw.Quiet)))
			if said != "" {
				out = append(out, draw.L(draw.S("    "+said, draw.Quiet)))
			}
		}
	}
	return out
}
