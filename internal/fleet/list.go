package fleet

import (
	"cmp"
	"context"

	"github.com/adze-agent/adze/internal/tasklist"
)

// A Change is one of the list of what is to be done, and an Outcome what became of it.
type (
	Change  = tasklist.Change
	Outcome = tasklist.Outcome
)

// called is how a session of the tree is called on the list of what is to be done: by the
// name or the ID of its agent, "" for the root.
func (t *Tree) called(session string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.members {
		if m.Begun.Session == session {
			return m.called()
		}
	}
	return ""
}

func (m Member) called() string { return cmp.Or(m.Name, m.ID) }

// List implements todo.Keeper. Of a session that is over it is empty.
func (c Crew) List() (l tasklist.List, by string) {
	out, _ := c.Tree.host.ChangeList(context.Background(), c.Tree.root, Change{}) // a change says what went wrong
	return out.List, c.Tree.called(c.Of)
}

// ChangeList implements todo.Keeper.
func (c Crew) ChangeList(ctx context.Context, change Change) (Outcome, error) {
	change.By = cmp.Or(change.By, c.Tree.called(c.Of))
	return c.Tree.host.ChangeList(ctx, c.Tree.root, change)
}

// left has an agent that has ended leave the list.
func (t *Tree) left(agent string) {
	_, _ = t.host.ChangeList(context.Background(), t.root, Change{Leave: agent}) // the next start does it for a session that is over
}
