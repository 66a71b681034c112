package isolation

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/worktree"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A Merging says how worktrees are brought over.
type Merging struct {
	Commit bool // as a merge commit each; else their commits are replayed
	Keep   bool // they stay when they are merged
	// Check looks at each result in its worktree; apart says what is beyond that. nil: nobody does.
	Check func(ctx context.Context, dir string, apart *policy.Apart) error
	// Each is told of one when it is done; nil: nobody is.
	Each func(Queued)
}

// An End is what became of a worktree that was to be merged.
type End string

// Ends.
const (
	Merged   End = "merged"
	Nothing  End = "nothing to merge"
	Red      End = "check failed"
	Conflict End = "conflict"
	Refused  End = "refused"
)

// A Queued is a worktree that was to be merged. Only one that is Merged has changed the
// checkout.
type Queued struct {
	Name    string   `json:"name"`
	Branch  string   `json:"branch,omitempty"`
	Into    string   `json:"into,omitempty"`
	End     End      `json:"end"`
	Commits int      `json:"commits"`
	Removed bool     `json:"removed"` // the worktree is gone, as nothing is in it any more
	Why     string   `json:"why,omitempty"`
	Hint    string   `json:"hint,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// MergeAll brings worktrees over in their order, each on top of those before it. One that
// cannot be merged keeps none of the others from it.
func (r Repo) MergeAll(ctx context.Context, names []string, m Merging) (out []Queued) {
	for _, name := range names {
		q := r.mergeOne(ctx, name, m)
		out = append(out, q)
		if m.Each != nil {
			m.Each(q)
		}
	}
	return out
}

func (r Repo) mergeOne(ctx context.Context, name string, m Merging) Queued {
	how := worktree.Merge{Commit: m.Commit}
	if m.Check != nil {
		how.Check = func(ctx context.Context, dir string) error {
			repo, err := conf.In(dir)
			if err != nil {
				return err
			}
			return m.Check(ctx, r.within(dir), r.apart(filepath.Clean(dir), repo.GitDir, true))
		}
	}
	done, err := r.Merge(ctx, name, how)
	q := Queued{Name: name, Branch: done.Branch, Into: done.Into, Commits: done.Commits, Notes: done.Notes, End: Merged}
	if err != nil {
		q.End, q.Why, q.Hint = Refused, clip.VisibleText(err.Error()), hint.Of(err)
		if _, ok := errors.AsType[*worktree.Conflict](err); ok {
			q.End = Conflict
		}
		if _, ok := errors.AsType[*worktree.Red](err); ok {
			q.End = Red
		}
		return q
	}
	if done.Commits == 0 {
		q.End = Nothing
	}
	if !m.Keep {
		_, err := r.Remove(ctx, name, false)
		if q.Removed = err == nil; err != nil {
			q.Notes = append(q.Notes, clip.VisibleText(err.Error()))
		}
	}
	return q
}
