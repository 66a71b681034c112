// Package isolation has a session work in a worktree of its own: it makes the worktree as
// the settings say, and finds those that there are. What git does is package worktree's.
package isolation

import (
	"context"
	"errors"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/worktree"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/settings"
)

// What a worktree is for people, and why one stays.
type (
	Info = worktree.Info
	Kept = worktree.Kept
)

// A Repo is a repository of which worktrees are made.
type Repo struct {
	*worktree.Repo
}

// Open finds the repository of a folder. environ is the person's environment.
func Open(p settings.Paths, cfg *config.Config, environ []string) (Repo, error) {
	git, _ := proc.Lookup("git", proc.Getenv(environ, "PATH"), []string{p.Dir, p.Root}) // worktree.Open says that there is none
	repo, err := worktree.Open(worktree.Config{
		Dir: p.Dir, State: p.State, Git: git, Env: proc.Pin(proc.Scrub(environ, cfg.ChildEnv), []string{p.Root}, nil, conf.PinnedEnv()),
	})
	return Repo{repo}, err
}

// A Cleaned is what became of a worktree that was to be cleaned up.
type Cleaned struct {
	Name    string
	Removed bool
	Why     string // it was not
}

// Clean removes worktrees that nobody uses and that would lose nothing, and finishes what a
// crash left. names are those that are meant; none: all. lose, when it is not nil, is asked
// about each whose work would be lost; its error ends all.
func (r Repo) Clean(ctx context.Context, names []string, lose func(*Kept) (bool, error)) (out []Cleaned, err error) {
	if len(names) == 0 {
		if names, err = r.Names(); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		_, err := r.Remove(ctx, name, false)
		if kept, ok := errors.AsType[*Kept](err); ok && lose != nil {
			yes, asked := lose(kept)
			if asked != nil {
				return out, asked
			}
			if yes {
				_, err = r.Remove(ctx, name, true)
			}
		}
		c := Cleaned{Name: name, Removed: err == nil}
		if err != nil {
			c.Why = err.Error()
		}
		out = append(out, c)
	}
	return out, nil
}
