package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/git/worktree"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

func newWorktree(sys System, f *runFlags) *cobra.Command {
	return group("worktree", "List and clean up the worktrees that adze made", worktreeList(sys, f), worktreeClean(sys, f))
}

// worktrees is the repository of this folder.
func (f *runFlags) worktrees(sys System, cmd *cobra.Command) (*worktree.Repo, error) {
	o, p, cfg, err := f.loaded(sys, cmd)
	if err != nil {
		return nil, err
	}
	repo, err := o.Worktrees(p, cfg)
	if err != nil {
		return nil, openError(cmd.Context(), err)
	}
	return repo, nil
}

func worktreeList(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "list", Short: "List the worktrees of this repository that adze made", Args: cobra.NoArgs,
		Long: "Lists the worktrees of this repository that adze made, who uses them, and what is in\nthem that is nowhere else.",
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		repo, err := f.worktrees(sys, cmd)
		if err != nil {
			return nil, err
		}
		list, err := repo.List(cmd.Context())
		return listing[worktree.Info]{
			rows: list, note: "adze made no worktrees here",
			head: []string{"NAME", "AGE", "STATE", "BRANCH", "WORK", "FOR"},
			row: func(t *table, i worktree.Info) {
				state := string(i.State)
				if i.PID != 0 {
					state = fmt.Sprintf("in use (%d)", i.PID)
				}
				what := cmp.Or(clip.Line(clip.Visible(i.Why), 100), i.Says(), "nothing that would be lost")
				t.row(i.Name, clip.Age(time.Since(i.Made)), state, i.Branch, what, clip.Visible(i.For))
			},
		}, err
	})
}

func worktreeClean(sys System, f *runFlags) *cobra.Command {
	var discard, yes bool
	c := &cobra.Command{
		Use: "clean [NAME…]", Short: "Remove worktrees that nobody uses and that have no work of their own",
		Long: `Removes worktrees of this repository that adze made, with their branches: those that are
named, or all. One that is in use stays, and so does one with work that is nowhere else:
files that are not committed, or commits that no other branch, no tag and no remote has.

  adze worktree clean                   what would lose nothing
  adze worktree clean login --discard   that one with its work, after a question`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if discard && len(names) == 0 {
				return usagef("adze worktree list shows them", "--discard needs the names of the worktrees whose work is to be lost")
			}
			repo, err := f.worktrees(sys, cmd)
			if err != nil {
				return err
			}
			done, err := repo.Clean(cmd.Context(), names...)
			if err != nil {
				return err
			}
			kept := 0
			for _, d := range done {
				if !d.Removed && discard {
					if d.Removed, err = discarded(cmd, sys, repo, d.Name, yes); err != nil {
						return err
					}
					d.Why = "it was kept"
				}
				if d.Removed {
					fmt.Fprintf(sys.Stderr, "removed %s\n", d.Name)
					continue
				}
				kept++
				fmt.Fprintf(sys.Stderr, "kept %s: %s\n", clip.Visible(d.Name), clip.VisibleText(d.Why))
			}
			switch {
			case len(done) == 0:
				fmt.Fprintln(sys.Stderr, "adze made no worktrees here")
			case kept > 0 && len(names) > 0:
				return &failure{code: exitFailed, cause: clip.Count(kept, "worktree") + " kept", hint: "adze worktree list says what is in each"}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&discard, "discard", false, "also with work that is nowhere else, which is lost; asks first")
	c.Flags().BoolVar(&yes, "yes", false, "with --discard: ask nothing")
	return c
}

// discarded removes a worktree with its work, when a person agrees.
func discarded(cmd *cobra.Command, sys System, repo *worktree.Repo, name string, yes bool) (bool, error) {
	if !yes {
		_, err := repo.Remove(cmd.Context(), name, false)
		kept, ok := errors.AsType[*worktree.Kept](err)
		switch {
		case err == nil:
			return true, nil
		case !ok:
			return false, hint.With(err, cmp.Or(hint.Of(err), "adze worktree list"))
		case !sys.InTTY || !sys.ErrTTY:
			return false, &failure{exitRefused, "nobody is here to ask whether the work in " + name + " may be lost", "adze worktree clean --discard --yes " + hint.Shell(name)}
		}
		ok, err = agrees(cmd.Context(), sys, fmt.Sprintf("%s (%s) has %s. Lose it?", name, clip.Visible(filepath.ToSlash(kept.Path)), kept.Says()))
		if err != nil || !ok {
			return false, err
		}
	}
	_, err := repo.Remove(cmd.Context(), name, true)
	return err == nil, err
}
