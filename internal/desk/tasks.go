package desk

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// tasksText shows work beside the turns, as Markdown.
func tasksText(list []ask.Task) string {
	if len(list) == 0 {
		return "Nothing runs in the background, and nothing did."
	}
	var b strings.Builder
	b.WriteString("| id | kind | status | started | owner | what |\n|---|---|---|---|---|---|\n")
	cell := strings.NewReplacer("|", `\|`)
	for _, t := range list {
		status, owner, started := t.Status, t.Owner, ""
		if t.Why != "" {
			status += ": " + clip.Line(clip.Visible(t.Why), 100)
		}
		if owner == "" {
			owner = "the session"
		}
		if t.Took > 0 {
			status += ", " + clip.Span(t.Took)
		}
		if !t.Started.IsZero() {
			started = t.Started.Local().Format(time.DateTime)
		}
		what := clip.Line(clip.Visible(t.What), 100)
		if t.Name != "" {
			what = t.Name + ": " + what
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", t.ID, t.Kind, cell.Replace(status), started, owner, cell.Replace(what))
	}
	return b.String()
}

// tasks are the work beside the turns of the session and of the agents that work for it: what
// runs, in the order in which it began, then what has ended, the newest first. Each ID is
// there once.
func (s seat) tasks() []ask.Task {
	all := tasksOf(s.Running, "")
	order.By(all, func(a, b ask.Task) int {
		switch {
		case a.Runs() && b.Runs():
			return a.Started.Compare(b.Started)
		case a.Runs():
			return -1
		case b.Runs():
			return 1
		}
		return b.Started.Add(b.Took).Compare(a.Started.Add(a.Took))
	})
	seen, out := map[string]bool{}, []ask.Task{}
	for _, t := range all {
		if !seen[t.ID] { // an agent that goes on has ended before
			out = append(out, t)
		}
		seen[t.ID] = true
	}
	return out
}

// tasksOf are those of a session, which is that of the agent self, "" for the root.
func tasksOf(r *app.Running, self string) (out []ask.Task) {
	st, now := r.State(), time.Now()
	add := func(b event.TaskStarted, at time.Time) *ask.Task {
		t := ask.Task{
			ID: b.ID, Kind: cmp.Or(b.Kind, event.TaskShell), What: b.Text, Status: ask.TaskRuns, Started: at, Waits: b.Waits,
			Session: b.Session, Run: b.Run, Phase: b.Phase, Model: b.Model, Effort: b.Effort,
		}
		if b.Agent != nil {
			t.Name = b.Agent.Name
		}
		if self != "" {
			if t.Owner = self; b.Agent == nil {
				t.ID = self + "/" + b.ID
			}
		}
		out = append(out, t)
		return &out[len(out)-1]
	}
	for id, b := range st.Background {
		t := add(b, st.Since[id])
		if !t.Started.IsZero() {
			t.Took = now.Sub(t.Started)
		}
		m, child, ok := r.Agent(id)
		if b.Agent == nil || !ok {
			continue
		}
		if t.Doing, t.Summary = m.Doing, m.Said; m.Asks != "" {
			t.Status, t.Why = ask.TaskAsks, m.Asks
		}
		tallied(t, m.Tally)
		if child != nil {
			out = append(out, tasksOf(child, m.ID)...)
		}
	}
	for _, p := range st.Past {
		t := add(p.TaskStarted, p.At)
		t.Took, t.Output, t.Waits = p.End.Took, p.End.Output, false
		t.Status, t.Why = how(p.End)
		tallied(t, p.End.Tally)
		if p.End.Worktree != nil {
			t.Worktree = p.End.Worktree.Path
		}
	}
	return out
}

func tallied(t *ask.Task, n event.Tally) {
	t.Calls, t.Tokens, t.Cost = n.Calls, n.Usage.Prompt()+n.Usage.Out, n.Cost
}

// how is how a task has ended, and why where that says more.
func how(e event.TaskEnded) (status, why string) {
	switch {
	case e.Status == event.TaskCompleted:
		return string(e.Status), ""
	case e.Status != "":
		why, _, _ = strings.Cut(e.Text, "\n")
		return string(e.Status), why
	case e.Killed != "":
		return string(event.TaskStopped), e.Killed
	case e.Exit != 0:
		return ask.TaskEnded, fmt.Sprintf("exit code %d", e.Exit)
	}
	return ask.TaskEnded, ""
}
