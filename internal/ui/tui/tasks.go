package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
)

// A task is one in the background, as far as this client saw it.
type task struct {
	start event.TaskStarted
	end   *event.TaskEnded // nil while it runs
	doing string           // of an agent, in a few words
	works string           // of an agent: what it works on, in a line of a model
	tally event.Tally      // of an agent
	took  time.Duration    // of an agent, when it was heard of last
}

// progress takes what an agent does now.
func (v *conversation) progress(b event.TaskProgress) {
	t := v.task(b.ID)
	if t == nil {
		return
	}
	t.doing, t.tally, t.took, t.works = b.Doing, b.Tally, b.Took, b.Summary
}

// agents draws a line for each agent that works, at most so many: what it does, its model,
// how hard that thinks, and what it took by now.
func (m *Model) agents(p dialog.Paper, most int) (out []draw.Line) {
	more := 0
	for _, t := range m.tasks {
		if t.end != nil || t.start.Agent == nil {
			continue
		}
		if len(out) >= most {
			more++
			continue
		}
		left := draw.L(p.Mark(draw.Radio, draw.Accent), draw.Span{Text: story.Subject(cmp.Or(t.start.Agent.Name, t.start.Text)), Style: draw.Style{Attr: draw.Bold, Fg: draw.ColorOf(t.start.Agent.Color)}})
		if doing := cmp.Or(t.doing, t.works); doing != "" {
			left = append(left, draw.S("  "+story.Subject(doing), draw.Quiet))
		}
		facts := []string{shortModel(t.start.Model)}
		if t.start.Effort != "" {
			facts = append(facts, draw.String(t.start.Effort))
		}
		facts = append(facts, count(t.tally.Usage.Prompt()+t.tally.Usage.Out)+" tokens")
		if t.tally.Cost > 0 {
			facts = append(facts, fmt.Sprintf("$%.2f", t.tally.Cost))
		}
		took := t.took // when it was heard of last
		if at := m.st.Since[t.start.ID]; !at.IsZero() {
			took = max(took, m.now.Sub(at))
		}
		facts = append(facts, story.Seconds(took))
		out = append(out, draw.Beside(left, draw.L(draw.S(strings.Join(facts, " "+p.Sign(draw.Middot)+" "), draw.Quiet)), p.Cols(), p.O))
	}
	if more > 0 {
		out = append(out, draw.L(draw.S(fmt.Sprintf("  %s %s (/tasks)", p.Sign(draw.Ellipsis), clip.Count(more, "more agent")), draw.Quiet)))
	}
	return out
}

// begins takes a task that runs. It may be there already, and its call wait no more.
func (v *conversation) begins(b event.TaskStarted) {
	if t := v.task(b.ID); t != nil {
		t.start = b
		return
	}
	v.tasks = append(v.tasks, task{start: b})
}

// awaits reports whether a call waits for the end of an agent.
func (v *conversation) awaits(call string) bool {
	return slices.ContainsFunc(v.tasks, func(t task) bool { return t.end == nil && t.start.Waits && t.start.Call == call })
}

// task is the one of this ID that runs, nil when none does.
func (v *conversation) task(id string) *task {
	for i := range v.tasks {
		if t := &v.tasks[i]; t.start.ID == id && t.end == nil {
			return t
		}
	}
	return nil
}

// how says how a task ended.
func (t task) how() string {
	switch {
	case t.end.Status != "":
		return string(t.end.Status)
	case t.end.Killed != "":
		return "stopped"
	case t.end.Exit != 0:
		return fmt.Sprintf("exit %d", t.end.Exit)
	}
	return "ended"
}

func stopTask(id string) []effect { return []effect{submit{op: op.StopTask{ID: id}, urgent: true}} }

// stopAgents stops every agent that works for the session.
func (m *Model) stopAgents() (out []effect) {
	for _, t := range m.tasks {
		if t.end == nil && t.start.Kind == event.TaskAgent {
			out = append(out, stopTask(t.start.ID)...)
		}
	}
	if out == nil {
		m.say("no agents run", draw.Quiet)
	}
	return out
}
