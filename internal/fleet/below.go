package fleet

import (
	"context"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/tool"
)

// Below are the commands and the monitors of the agents of a tree as tasks, each by the ID of
// its agent, a "/" and its own. Beside are all tasks of the session of an agent, none where
// that is not open.
type Below struct {
	Tree   *Tree
	Beside func(session string) task.List
}

// find is the task of an agent.
func (b Below) find(who string) (l task.List, id string, ok bool) {
	agent, id, ok := strings.Cut(who, "/")
	if !ok {
		return nil, "", false
	}
	m, ok := b.Tree.Find(agent)
	if !ok {
		return nil, "", false
	}
	l = b.Beside(m.Begun.Session)
	return l, id, slices.Contains(l.Known(), id)
}

// Background implements task.Source: a call of an agent is moved in its own session.
func (Below) Background(string) (id string, ok bool) { return "", false }

// Stop implements task.Source.
func (b Below) Stop(who string) (tool.Result, bool) {
	l, id, ok := b.find(who)
	if !ok {
		return tool.Result{}, false
	}
	return l.Stop(id), true
}

// Look implements task.Source.
func (b Below) Look(ctx context.Context, who string, k task.Look) (tool.Result, bool) {
	l, id, ok := b.find(who)
	if !ok {
		return tool.Result{}, false
	}
	return l.Look(ctx, id, k), true
}

// Tail implements task.Source.
func (b Below) Tail(who string, limit int) (out []byte, total int64, ok bool) {
	l, id, ok := b.find(who)
	if !ok {
		return nil, 0, false
	}
	out, total, err := l.Tail(id, limit)
	return out, total, err == nil
}

// Known implements task.Source: the session's model is told of its own only.
func (Below) Known() []string { return nil }
