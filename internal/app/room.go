package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/isolation"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/settings"
)

// ErrIsolated is the error of a session whose agent works in a worktree of its own and that was
// given none.
var ErrIsolated = isolation.ErrNeeded

// apart says what is beyond the worktree that the session has to itself; nil without one.
func (r *Running) apart() *policy.Apart {
	if room := r.room.Load(); room != nil {
		return room.Apart
	}
	return nil
}

// bounded are rules as they count where the session works.
func (r *Running) bounded(rules policy.Rules) policy.Rules {
	if room := r.room.Load(); room != nil {
		return room.Rules(rules)
	}
	return rules
}

// project is the top of the checkout that the session's work is on: of a worktree, the one
// that it was made of.
func (r *Running) project() string {
	if room := r.room.Load(); room != nil {
		return room.Of
	}
	return r.place.Paths.Root
}

// isolated reports whether an agent is to work in a worktree of its own.
func (c *Child) isolated() bool {
	o := c.Order
	if o.Resume != nil {
		return o.Resume.Worktree != nil
	}
	return o.Worktree || c.main != nil && c.main.Isolation != ""
}

// isolate makes the worktree of an agent, or opens the one that it had, and the folder in it
// as a place. Where that fails no agent begins.
func (c *Child) isolate(ctx context.Context) (*isolation.Room, *Place, error) {
	if c.Order.Fork {
		return nil, nil, errors.New("a fork knows the files of this session and works on them: leave isolation out, or start another agent")
	}
	of := c.Of
	repo, err := isolation.Open(of.paths(), of.place.Config(), of.place.process.Environ)
	if err != nil {
		return nil, nil, err
	}
	name := c.agent.ID
	if b := c.Order.Resume; b != nil {
		name = filepath.Base(b.Worktree.Path)
	}
	room, err := repo.Make(ctx, name, "agent "+cmp.Or(c.agent.Name, c.agent.Type, c.agent.ID), true)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range room.Notes {
		of.place.process.Notef("%s", n)
	}
	at, err := of.place.process.open(room.Dir, true)
	if err != nil {
		_, lost := room.Leave(context.WithoutCancel(ctx))
		return nil, nil, errors.Join(err, lost)
	}
	return room, at, nil
}

// worktree is a room in the words of events, nil for none.
func worktree(room *isolation.Room, work string) *event.Worktree {
	if room == nil {
		return nil
	}
	return &event.Worktree{Path: room.Path, Branch: room.Branch, Work: work}
}

// paths are the folders of the session, in the worktree that it works in.
func (r *Running) paths() (p settings.Paths) {
	p = r.place.Paths
	if room := r.room.Load(); room != nil {
		p.Dir, p.Root = room.Dir, room.Path
	}
	return p
}

// told is what the model is told of the worktree, "" without one.
func (r *Running) told() string {
	room := r.room.Load()
	if room == nil {
		return ""
	}
	return "you have this git worktree to yourself, on the branch " + room.Branch + ". The checkout " + room.Of + " is another one: its paths mean the files here, and git does not work on it. Commit what is to be kept."
}

// leaveTime bounds the look at a worktree that a session leaves.
const leaveTime = time.Minute

// vacate gives up the worktree that a session had to itself, once it is closed. It returns
// what is left of it.
func (r *Running) vacate() (left *event.Worktree, err error) {
	room := r.room.Swap(nil)
	if room == nil {
		return nil, nil
	}
	ctx, stop := context.WithTimeout(context.Background(), leaveTime) // whoever ended the session may be gone
	defer stop()
	work, err := room.Leave(ctx)
	if work != "" {
		left = worktree(room, work)
	}
	return left, err
}

// merger merges worktrees into the checkout of the session; nil for one that works in none of
// the person's.
func (r *Running) merger() func(ctx context.Context, names []string, commit bool) ([]fleet.Merge, error) {
	if r.forks() && r.spec.Child.Of.merger() != nil { // it has the tools of the other session, as they are
		return func(context.Context, []string, bool) ([]fleet.Merge, error) {
			return nil, errors.New("agents merge no worktrees: say in your answer what is to be merged")
		}
	}
	if r.spec.Child != nil || r.room.Load() != nil {
		return nil
	}
	return func(ctx context.Context, names []string, commit bool) (out []fleet.Merge, err error) {
		cfg, process := r.place.Config(), r.place.process
		repo, err := isolation.Open(r.paths(), cfg, process.Environ)
		if err != nil {
			return nil, err
		}
		for _, q := range repo.MergeAll(ctx, names, isolation.Merging{Commit: commit, Check: process.checks(r.paths(), cfg)}) {
			out = append(out, fleet.Merge{
				Name: q.Name, Into: q.Into, End: string(q.End), Commits: q.Commits, Why: q.Why, Hint: q.Hint, Notes: q.Notes,
				Mend: q.End == isolation.Red || q.End == isolation.Conflict, Conflict: q.End == isolation.Conflict,
			})
		}
		return out, nil
	}
}
