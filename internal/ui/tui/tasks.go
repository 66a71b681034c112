package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// A task is one in the background, as far as this client saw it.
type task struct {
	start event.TaskStarted
	end   *event.TaskEnded // nil while it runs
	heard []byte           // what it wrote last
	doing string           // of an agent, in a few words
	works string           // of an agent: what it works on, in a line of a model
	tally event.Tally      // of an agent
	took  time.Duration    // of an agent, when it was heard of last
}

// maxHeard bounds what is kept of the output of a task that runs; all of it is in
// its file.
const maxHeard = 64 << 10

// hear takes output of a task that runs.
func (v *conversation) hear(b event.TaskOutput) {
	if t := v.task(b.ID); t != nil {
		t.heard = append(t.heard, b.S...)
		if over := len(t.heard) - maxHeard; over > 0 {
			t.heard = append(t.heard[:0], t.heard[over:]...)
		}
	}
}

// progress takes what an agent does now. The newest lines of that are what it has written.
func (v *conversation) progress(b event.TaskProgress) {
	t := v.task(b.ID)
	if t == nil {
		return
	}
	if b.Doing != "" && b.Doing != t.doing {
		v.hear(event.TaskOutput{ID: b.ID, S: b.Doing + "\n"})
	}
	if b.Summary != "" && b.Summary != t.works {
		v.hear(event.TaskOutput{ID: b.ID, S: "(" + b.Summary + ")\n"})
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
		left := draw.L(p.Mark(draw.Radio, draw.Accent), draw.Span{Text: story.Subject(cmp.Or(t.start.Agent.Name, t.start.Text)), Style: draw.Style{Attr: draw.Bold}})
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
		facts = append(facts, story.Seconds(t.took))
		out = append(out, draw.Beside(left, draw.L(draw.S(strings.Join(facts, " "+p.Sign(draw.Middot)+" "), draw.Quiet)), p.Cols(), p.O))
	}
	if more > 0 {
		out = append(out, draw.L(draw.S(fmt.Sprintf("  %s %s (/tasks)", p.Sign(draw.Ellipsis), clip.Count(more, "more agent")), draw.Quiet)))
	}
	return out
}

// now says in a few words how a task that runs is.
func (t task) now() string {
	if t.start.Kind != event.TaskAgent {
		return "runs"
	}
	return clip.Count(t.tally.Calls, "call") + ", " + clip.Short(t.tally.Usage.Prompt()+t.tally.Usage.Out) + " tokens"
}

// begins takes a task that runs. It may be there already, and its call wait no more.
func (v *conversation) begins(b event.TaskStarted) {
	if t := v.task(b.ID); t != nil {
		t.start = b
		return
	}
	v.tasks = append(v.tasks, task{start: b, heard: v.story.Tail(b.Call)})
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

// tasksCommand lists the tasks in the background: what each wrote can be seen, and
// one that runs can be stopped.
func (m *Model) tasksCommand(string) []effect {
	var all []Choice
	runs, ended := map[string]bool{}, map[string]task{}
	for _, t := range m.tasks {
		if t.end == nil {
			runs[t.start.ID] = true
			all = append(all, Choice{ID: t.start.ID, Name: t.start.ID + "  " + story.Subject(t.start.Text), About: t.works, Right: t.now()})
		}
	}
	for i, t := range slices.Backward(m.tasks) {
		if t.end != nil && t.end.Output != "" && m.host.ReadFile != nil {
			key := fmt.Sprintf("%s, the %d.", t.start.ID, i)
			ended[key] = t
			all = append(all, Choice{ID: key, Name: t.start.ID + "  " + story.Subject(t.start.Text), Right: t.how()})
		}
	}
	if len(all) == 0 {
		m.say("nothing runs in the background", draw.Quiet)
		return nil
	}
	d := newMenu(m, "Background tasks", all, func(m *Model, c Choice) []effect {
		if t, ok := ended[c.ID]; ok {
			return m.wrote(t)
		}
		m.watch(c.ID)
		return nil
	})
	d.Fixed, d.Hint, d.Letters = true, "Enter shows what it wrote", "x"
	if len(runs) > 0 {
		d.Hint += ", x stops it"
		d.Words = []dialog.Word{{Word: "stop", Args: "N", About: "stops it"}}
	}
	stop := func(m *Model, c Choice) []effect {
		if !runs[c.ID] {
			return nil
		}
		m.close(d)
		return stopTask(c.ID)
	}
	d.said = func(m *Model, _ string, c Choice, _ string) []effect {
		if !runs[c.ID] {
			m.tell("It has ended.")
		}
		return stop(m, c)
	}
	d.own = func(m *Model, _ keymap.Action) []effect {
		c, _ := d.Now()
		return stop(m, c)
	}
	m.open(d)
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

// watch shows what a task writes while it runs.
func (m *Model) watch(id string) {
	t := m.task(id)
	if t == nil {
		m.say("that task has ended", draw.Quiet)
		return
	}
	kept := t.heard // seen also when it has ended
	d := &sheet{Sheet: &dialog.Sheet{Heading: id + "  " + story.Subject(t.start.Text), Follows: true, Hint: "x stops it, ", Letters: "x"}}
	d.Lines = func(_ dialog.Paper, width int) []draw.Line {
		if t := m.task(id); t != nil {
			kept = t.heard
		} else {
			d.Hint = "it has ended, "
		}
		if len(kept) == 0 {
			return []draw.Line{draw.L(draw.S("it wrote nothing yet", draw.Quiet))}
		}
		return draw.WrapAll(draw.Output(string(kept), draw.Style{}), width)
	}
	d.own = func(m *Model, _ keymap.Action) []effect {
		if m.task(id) == nil {
			return nil
		}
		m.close(d)
		return stopTask(id)
	}
	m.open(d)
}

// wrote shows what a task that has ended wrote.
func (m *Model) wrote(t task) []effect {
	read := m.host.ReadFile
	return []effect{work{func(context.Context) func(*Model) []effect {
		text, err := read(t.end.Output)
		return func(m *Model) []effect {
			if err != nil {
				return m.fail(err)
			}
			d := &dialog.Sheet{Heading: t.start.ID + "  " + story.Subject(t.start.Text), Lines: func(_ dialog.Paper, width int) []draw.Line {
				return draw.WrapAll(draw.Output(text, draw.Style{}), width)
			}}
			d.Off.End()
			m.open(d)
			return nil
		}
	}}}
}
