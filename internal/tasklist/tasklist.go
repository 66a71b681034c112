// Package tasklist is the list of what is to be done: one for a session and all agents
// that work for it. Tasks can wait for other tasks, and have an owner who works on them.
// A Change is data, and what it comes to is a pure function of the list. The package
// keeps nothing, and decides nothing about who is alive.
package tasklist

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/view"
)

// MaxTasks bounds a list, without the steps of agents, and the steps of one agent.
const MaxTasks = 200

// A Task is one thing to be done. Names of fields are those of sdk-tools.d.ts
// (@anthropic-ai/claude-agent-sdk 0.3.332) where that has them.
type Task struct {
	ID          string          `json:"id"` // a number from 1, never used again
	Subject     string          `json:"subject"`
	Description string          `json:"description,omitempty"`
	Active      string          `json:"activeForm,omitempty"` // the subject while it is being done
	Status      view.TaskStatus `json:"status"`
	// Owner is the agent that works on it, or is to; "" is nobody, or the session at the
	// root while the task is in progress.
	Owner     string                     `json:"owner,omitempty"`
	BlockedBy []string                   `json:"blockedBy,omitempty"` // tasks that have to be done before it begins
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
	// Step: an agent noted it for itself. It goes when the agent ends.
	Step bool `json:"step,omitempty"`
}

// A List is the tasks in the order in which they are shown. The zero List is empty.
type List struct {
	Tasks []Task `json:"tasks,omitempty"`
	Last  int    `json:"last,omitempty"` // the highest ID that was given
}

// Apply is the list after tasks have become changed, as Outcome has them: in their
// places, or behind all others. ids, when not nil, are all of them in their order.
func (l List) Apply(changed []Task, ids []string) List {
	l.Tasks = slices.Clone(l.Tasks)
	for _, t := range changed {
		if n, err := strconv.Atoi(t.ID); err == nil {
			l.Last = max(l.Last, n)
		}
		i := l.index(t.ID)
		switch {
		case t.Status == view.Deleted && i >= 0:
			l.Tasks = slices.Delete(l.Tasks, i, i+1)
		case t.Status == view.Deleted:
		case i >= 0:
			l.Tasks[i] = t
		default:
			l.Tasks = append(l.Tasks, t)
		}
	}
	if ids != nil {
		arrange(l.Tasks, ids)
	}
	return l
}

// Of is the list of tasks that were kept without what belongs to a list.
func Of(tasks []view.Task) (l List) {
	for _, t := range tasks {
		l.Last++
		l.Tasks = append(l.Tasks, Task{ID: strconv.Itoa(l.Last), Subject: t.Text, Active: t.Active, Status: t.Status})
	}
	return l
}

func (l List) index(id string) int {
	return slices.IndexFunc(l.Tasks, func(t Task) bool { return t.ID == id })
}

// Get finds a task.
func (l List) Get(id string) (Task, bool) {
	if i := l.index(id); i >= 0 {
		return l.Tasks[i], true
	}
	return Task{}, false
}

// Waits are the tasks that a task waits for: those of BlockedBy that are not done.
func (l List) Waits(t Task) (ids []string) {
	for _, id := range t.BlockedBy {
		if b, ok := l.Get(id); ok && b.Status != view.Completed {
			ids = append(ids, id)
		}
	}
	return ids
}

// Blocks are the tasks that have a task among their BlockedBy.
func (l List) Blocks(id string) (ids []string) {
	for _, t := range l.Tasks {
		if slices.Contains(t.BlockedBy, id) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// Free are the tasks that nothing is in the way of any more, now that one is done.
func (l List) Free(done string) (ids []string) {
	for _, t := range l.Tasks {
		if t.Status == view.Pending && slices.Contains(t.BlockedBy, done) && len(l.Waits(t)) == 0 {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// For are the tasks that an agent is shown: all but the steps of others. "" is the session
// at the root.
func (l List) For(agent string) (out []Task) {
	for _, t := range l.Tasks {
		if !t.Step || t.Owner == agent {
			out = append(out, t)
		}
	}
	return out
}

// View draws tasks of the list.
func (l List) View(tasks []Task) []view.Task {
	out := make([]view.Task, 0, len(tasks))
	for _, t := range tasks {
		out = append(out, view.Task{ID: t.ID, Text: t.Subject, Active: t.Active, Status: t.Status, Owner: t.Owner, Waits: l.Waits(t), Step: t.Step})
	}
	return out
}

// All draws the list, the steps of agents last.
func (l List) All() []view.Task {
	out := l.View(l.Tasks)
	place := map[bool]int{true: 1} // of a step
	order.By(out, func(a, b view.Task) int { return place[a.Step] - place[b.Step] })
	return out
}

// arrange sorts tasks by their IDs as a list names them.
func arrange(tasks []Task, ids []string) {
	order.By(tasks, func(a, b Task) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
}

// Left are the owners of what is not finished who have ended: those among agents, and all
// who noted steps for themselves.
func (l List) Left(agents []string) (out []string) {
	for _, t := range l.Tasks {
		if (t.Step || t.Owner != "" && t.Status != view.Completed && slices.Contains(agents, t.Owner)) && !slices.Contains(out, t.Owner) {
			out = append(out, t.Owner)
		}
	}
	return out
}
