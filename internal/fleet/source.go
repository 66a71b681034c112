package fleet

import (
	"cmp"
	"context"
	"fmt"

	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/tool"
)

// Agents are the agents of a tree as tasks.
type Agents struct{ Tree *Tree }

// Background implements task.Source.
func (a Agents) Background(call string) (id string, ok bool) { return a.Tree.Background(call) }

// Look implements task.Source.
func (a Agents) Look(ctx context.Context, who string, l task.Look) (tool.Result, bool) {
	within, cancel := context.WithTimeout(ctx, l.Wait)
	defer cancel()
	m, ok := a.Tree.Look(within, who)
	return tool.Result{Text: m.now()}, ok
}

// now says how an agent is, or what it came to.
func (m Member) now() string {
	if !m.Works() {
		return fmt.Sprintf("The agent %s has ended: %s (%s). %s.\n%s", m.Label(), m.Status, Used(m), m.marked(), m.Text)
	}
	return fmt.Sprintf("The agent %s works: %s (%s).", m.Label(), cmp.Or(m.Doing, "waiting for its model"), Used(m))
}

// Stop implements task.Source.
func (a Agents) Stop(who string) (tool.Result, bool) {
	m, ok := a.Tree.Find(who)
	if !ok {
		return tool.Result{}, false
	}
	if !m.Works() {
		return tool.Result{Text: fmt.Sprintf("The agent %s had ended already: %s.", m.Label(), m.Status)}, true
	}
	go a.Tree.Stop(m.ID, "stopped") // ends with the agent, which Close waits for
	return tool.Result{
		Text: "The agent " + m.Label() + " is stopped, with all that works for it.",
		Data: func() any {
			return map[string]any{"message": "It is stopped.", "task_id": m.ID, "task_type": "local_agent", "command": m.Title}
		},
	}, true
}

// Tail implements task.Source: what an agent does now, or came to.
func (a Agents) Tail(who string, limit int) (b []byte, total int64, ok bool) {
	m, ok := a.Tree.Find(who)
	text := m.now()
	return []byte(text[max(0, len(text)-limit):]), int64(len(text)), ok
}

// Known implements task.Source.
func (a Agents) Known() (ids []string) {
	for _, m := range a.Tree.List("") {
		ids = append(ids, m.ID)
	}
	return ids
}
