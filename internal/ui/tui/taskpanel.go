package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
)

// A glance is a dialog that shows what the desk says of tasks, which is asked again while it
// is open: soon after something of a task is heard, and every second.
type glance struct {
	d     dialog.Dialog
	again func(m *Model) []effect
	due   time.Time
	busy  bool // it is asked
}

const (
	glanceEvery = time.Second
	glanceSoon  = 100 * time.Millisecond
)

// looksOn has a dialog be one that is asked for again.
func (m *Model) looksOn(d dialog.Dialog, again func(m *Model) []effect) {
	m.glance = &glance{d: d, again: again, due: m.now.Add(glanceEvery)}
}

// lookedOn notes that it was asked for d; false: nobody looks at that any more.
func (m *Model) lookedOn(d dialog.Dialog) bool {
	if m.glance != nil && m.glance.d == d {
		m.glance.busy = false
	}
	return slices.Contains(m.shown, d)
}

// stir has what is looked at be asked for soon.
func (m *Model) stir() {
	if g := m.glance; g != nil {
		if at := m.now.Add(glanceSoon); at.Before(g.due) {
			g.due = at
		}
	}
}

// glanceDue is when it is asked for again, zero for never.
func (m *Model) glanceDue() time.Time {
	if g := m.glance; g != nil && !g.busy && slices.Contains(m.shown, g.d) {
		return g.due
	}
	return time.Time{}
}

// glances asks again where that is due.
func (m *Model) glances() []effect {
	if at := m.glanceDue(); at.IsZero() || m.now.Before(at) {
		return nil
	}
	m.glance.busy, m.glance.due = true, m.now.Add(glanceEvery)
	return m.glance.again(m)
}

// tasksCommand lists the work beside the turns. What each wrote can be seen, and one that
// runs can be stopped, and waited for.
func (m *Model) tasksCommand(string) []effect { return m.tasksAt("") }

// tasksAt lists them with one marked.
func (m *Model) tasksAt(id string) []effect {
	if m.s == nil {
		m.say("nothing runs in the background", draw.Quiet)
		return nil
	}
	var list []ask.Task
	find := func(id string) (ask.Task, bool) {
		i := slices.IndexFunc(list, func(t ask.Task) bool { return t.ID == id })
		if i < 0 {
			return ask.Task{}, false
		}
		return list[i], true
	}
	d := newMenu(m, "Background tasks", nil, nil)
	d.Loading, d.Fixed, d.Letters, d.Hint = true, true, "xf", "Enter shows what it wrote"
	d.chosen = func(m *Model, c Choice) []effect {
		t, _ := find(c.ID)
		return m.seeTask(t, false)
	}
	does := func(m *Model, letter string, c Choice) []effect {
		t, ok := find(c.ID)
		switch {
		case !ok:
			return nil
		case !t.Runs():
			m.say("it has ended", draw.Quiet)
			return nil
		case letter == "f":
			m.close(d)
			return m.seeTask(t, true)
		}
		m.close(d)
		return m.stopsTask(t, func(m *Model) []effect { return m.tasksAt(t.ID) })
	}
	d.own = func(m *Model, _ keymap.Action) []effect {
		c, _ := d.Now()
		return does(m, m.pressed.Text, c)
	}
	d.said = func(m *Model, word string, c Choice, _ string) []effect { return does(m, word, c) }
	d.Sample = func(p dialog.Paper, width int) []draw.Line {
		c, _ := d.Now()
		t, ok := find(c.ID)
		if !ok {
			return nil
		}
		return m.taskFacts(p, t, width)
	}
	again := func(m *Model) []effect {
		s := m.s
		return []effect{work{func(ctx context.Context) func(*Model) []effect {
			r, err := m.host.ask(ctx, s, ask.Tasks{})
			fresh, bad := ask.Data[[]ask.Task](r)
			return func(m *Model) []effect {
				if !m.lookedOn(d) || m.s != s {
					return nil
				}
				if err = oneOf(err, bad); err != nil {
					m.close(d)
					return m.fail(err)
				}
				list = fresh
				if m.listTasks(d, list, id); len(list) == 0 {
					m.close(d)
					m.say("nothing runs in the background", draw.Quiet)
				}
				return nil
			}
		}}}
	}
	m.open(d)
	m.looksOn(d, again)
	return again(m)
}

// listTasks puts tasks into the panel. first is what is marked where nothing is yet.
func (m *Model) listTasks(d *menu, list []ask.Task, first string) {
	var all []Choice
	runs := false
	for _, t := range list {
		all = append(all, m.taskChoice(t))
		runs = runs || t.Runs()
	}
	if now, ok := d.Now(); ok {
		first = now.ID
	}
	d.Loading = false
	d.Set(all)
	if first != "" {
		d.Mark(first)
	}
	d.Hint, d.Words = "Enter shows what it wrote", nil
	if runs {
		d.Hint += ", x stops it, f waits for it"
		d.Words = []dialog.Word{{Word: "stop", Args: "N", About: "stops it"}}
	}
}

// taskChoice is a task in the list.
func (m *Model) taskChoice(t ask.Task) Choice {
	about := ""
	switch {
	case t.Runs():
		about = cmp.Or(t.Why, t.Doing, t.Summary)
	case t.Kind == event.TaskAgent:
		about = t.Why
	}
	c := Choice{ID: t.ID, Name: t.ID + "  " + taskName(t), About: story.Subject(about), Right: taskState(t)}
	if m.screen.plain { // what else is known stands nowhere else
		c.About, c.Right = m.taskLines(t, ", ")[0], ""
		if about != "" {
			c.About += ": " + story.Subject(about)
		}
	}
	return c
}

// taskName is what a task does, behind the name of an agent.
func taskName(t ask.Task) string {
	what := story.Subject(t.What)
	if t.Name != "" {
		what = strings.TrimSuffix(draw.String(t.Name)+": "+what, ": ")
	}
	return what
}

// kindOf is what people call a kind of tasks.
func kindOf(kind string) string {
	if kind == event.TaskShell {
		return "command"
	}
	return draw.String(kind)
}

// taskState says in a few words what a task is, and how.
func taskState(t ask.Task) string {
	switch {
	case t.Status == ask.TaskAsks:
		return kindOf(t.Kind) + " asks"
	case t.Runs():
		return strings.TrimSpace(kindOf(t.Kind) + " " + story.Seconds(t.Took))
	case t.Status == ask.TaskEnded && t.Why != "":
		return strings.Replace(draw.String(clip.Line(t.Why, 20)), "exit code", "exit", 1)
	}
	return draw.String(t.Status)
}

// taskFacts are a few lines about a task.
func (m *Model) taskFacts(p dialog.Paper, t ask.Task, width int) []draw.Line {
	text := strings.Join(m.taskLines(t, " "+p.Sign(draw.Middot)+" "), "\n")
	return draw.WrapAll(draw.Text(text, draw.Style{Role: draw.Quiet}), width)
}

// taskLines are what is known of a task; dot stands between the facts of a line.
func (m *Model) taskLines(t ask.Task, dot string) []string {
	owner := "the session"
	if t.Owner != "" {
		owner = "the agent " + draw.String(t.Owner)
	}
	head := []string{kindOf(t.Kind) + " of " + owner}
	if t.Run != "" {
		head = append(head, strings.TrimSpace("workflow "+draw.String(t.Run)+" "+draw.String(t.Phase)))
	}
	status := draw.String(t.Status)
	if t.Took > 0 {
		verb := " after "
		if t.Runs() {
			verb = " for "
		}
		status += verb + clip.Span(t.Took)
	}
	head = append(head, status)
	if !t.Started.IsZero() {
		head = append(head, "since "+t.Started.In(m.now.Location()).Format(time.TimeOnly))
		if !t.Runs() {
			head[len(head)-1] = "begun at " + t.Started.In(m.now.Location()).Format(time.TimeOnly)
		}
	}
	if t.Waits {
		head = append(head, "a call waits for it")
	}
	lines := []string{strings.Join(head, dot)}
	if t.Kind == event.TaskAgent {
		facts := []string{shortModel(t.Model), draw.String(t.Effort), clip.Count(t.Calls, "call"), count(t.Tokens) + " tokens"}
		if t.Cost > 0 {
			facts = append(facts, fmt.Sprintf("$%.2f", t.Cost))
		}
		lines = append(lines, strings.Join(slices.DeleteFunc(facts, func(s string) bool { return s == "" }), dot))
	}
	if t.Why != "" && t.Status != ask.TaskEnded {
		lines = append(lines, map[bool]string{true: "asks: ", false: ""}[t.Status == ask.TaskAsks]+draw.String(clip.Line(clip.Visible(t.Why), 300)))
	}
	if t.Summary != "" {
		lines = append(lines, draw.String(t.Summary))
	}
	for _, file := range []string{t.Output, t.Worktree} {
		if file != "" {
			lines = append(lines, draw.String(m.short(file)))
		}
	}
	return lines
}

// maxSeen bounds what is seen of what a task wrote, in bytes; its file has all of it.
const maxSeen = 64 << 10

// seeTask shows what a task wrote, and goes on to its end. front: when it has ended, the
// conversation is there again.
func (m *Model) seeTask(t ask.Task, front bool) []effect {
	if t.Kind == event.TaskAgent && t.Session != "" && !m.screen.plain {
		return m.seeAgent(t, front)
	}
	if t.Kind == event.TaskWorkflow && m.runTask(t.ID) != nil {
		m.seeRun(t.ID)
		return nil
	}
	d := &sheet{Sheet: &dialog.Sheet{Heading: t.ID + "  " + taskName(t), Follows: true, Letters: "x"}}
	var text string
	var cut bool
	d.Lines = func(p dialog.Paper, width int) []draw.Line {
		out := m.taskFacts(p, t, width)
		out = append(out, nil)
		switch {
		case cut:
			out = append(out, draw.L(draw.S("the end of what it wrote:", draw.Quiet)))
		case text == "" && t.Runs():
			return append(out, draw.L(draw.S("it wrote nothing yet", draw.Quiet)))
		case text == "":
			return append(out, draw.L(draw.S("it wrote nothing", draw.Quiet)))
		}
		return append(out, draw.WrapAll(draw.Output(text, draw.Style{}), width)...)
	}
	d.dropped = func(m *Model) []effect { return m.tasksAt(t.ID) }
	d.own = func(m *Model, _ keymap.Action) []effect {
		if !t.Runs() {
			return nil
		}
		m.close(d)
		return m.stopsTask(t, func(m *Model) []effect { return m.tasksAt(t.ID) })
	}
	opened := false
	var again func(m *Model) []effect
	again = func(m *Model) []effect {
		s := m.s
		return []effect{work{func(ctx context.Context) func(*Model) []effect {
			r, err := m.host.ask(ctx, s, ask.Tasks{})
			list, bad := ask.Data[[]ask.Task](r)
			w, none := m.host.ask(ctx, s, ask.Output{Task: t.ID, Max: maxSeen})
			wrote, unread := ask.Data[ask.Written](w)
			return func(m *Model) []effect {
				if seen := m.lookedOn(d); m.s != s || opened && !seen {
					return nil
				}
				if err = oneOf(err, bad); err != nil {
					return m.fail(err)
				}
				if i := slices.IndexFunc(list, func(x ask.Task) bool { return x.ID == t.ID }); i >= 0 {
					t = list[i]
				} else if t.Runs() { // the agent that it was of has ended
					t.Status = string(event.TaskStopped)
				}
				if oneOf(none, unread) == nil {
					text, cut = wrote.Text, wrote.Cut
				}
				d.Hint = "x stops it, "
				if !t.Runs() {
					d.Hint, d.Letters = "", ""
				}
				if !opened {
					opened = true
					m.open(d)
					m.looksOn(d, again)
				}
				if front && !t.Runs() {
					m.close(d)
					m.say(t.ID+" has ended: "+taskState(t), draw.Quiet)
				}
				return nil
			}
		}}}
	}
	return again(m)
}

// careless is how long a command has run when to stop it asks a person.
const careless = time.Minute

// stopsTask stops a task, and asks before where work would be lost. back is what follows.
func (m *Model) stopsTask(t ask.Task, back func(*Model) []effect) []effect {
	stop := func(m *Model) []effect {
		return []effect{submit{op: op.StopTask{ID: t.ID}, urgent: true, then: func(m *Model, err error) []effect { return append(m.fail(err), back(m)...) }}}
	}
	lost := ""
	switch {
	case t.Kind == event.TaskAgent && t.Calls > 0:
		lost = fmt.Sprintf("It made %s in %s, and has not reported. Files that it changed stay as they are.", clip.Count(t.Calls, "call"), clip.Span(t.Took))
	case t.Kind == event.TaskWorkflow:
		lost = fmt.Sprintf("It ran for %s. Its agents are stopped, too; what they have reported is kept, and it can go on.", clip.Span(t.Took))
	case t.Kind == event.TaskShell && t.Took >= careless:
		lost = fmt.Sprintf("It ran for %s. What it wrote is kept.", clip.Span(t.Took))
	default:
		return stop(m)
	}
	d := newMenu(m, "Stop "+t.ID+"  "+taskName(t)+"?", []Choice{{ID: "stop", Name: "Stop it"}, {ID: "stay", Name: "Let it go on"}}, func(m *Model, c Choice) []effect {
		if c.ID == "stop" {
			return stop(m)
		}
		return back(m)
	})
	d.About, d.Fixed, d.dropped = lost, true, back
	m.open(d)
	return nil
}

// oneOf is the first of two errors that there is.
func oneOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
