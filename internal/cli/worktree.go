package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

func newWorktree(sys System, f *runFlags) *cobra.Command {
	return group("worktree", "List, merge and clean up the worktrees that adze made", worktreeList(sys, f), worktreeMerge(sys, f), worktreeClean(sys, f))
}

func worktreeList(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "list", Short: "List the worktrees of this repository that adze made", Args: cobra.NoArgs,
		Long: "Lists the worktrees of this repository that adze made, who uses them, and what is in\nthem that is nowhere else.",
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		o, err := f.options(sys, cmd.Flags())
		if err != nil {
			return nil, err
		}
		repo, err := o.quiet().Worktrees()
		if err != nil {
			return nil, openError(cmd.Context(), err)
		}
		list, err := repo.List(cmd.Context())
		return listing[app.Worktree]{
			rows: list, note: "adze made no worktrees here",
			head: []string{"NAME", "AGE", "STATE", "BRANCH", "WORK", "FOR"},
			row: func(t *table, i app.Worktree) {
				state := string(i.State)
				if i.PID != 0 {
					state = fmt.Sprintf("in use (%d)", i.PID)
				}
				what := cmp.Or(clip.Line(clip.Visible(i.Why), 100), i.Says(), "nothing that would be lost")
				t.row(i.Name, clip.Age(time.Since(i.Made)), state, i.Branch, what, i.For)
			},
		}, err
	})
}

func worktreeMerge(sys System, f *runFlags) *cobra.Command {
	var m app.Merging
	c := answering(sys, &cobra.Command{
		Use: "merge NAME…", Short: "Bring the work of worktrees to the branch that is checked out here", Args: cobra.ArbitraryArgs,
		Long: `Brings the commits of worktrees that adze made to the branch that is checked out
here, one worktree behind the other. Each is rebased on what the branch has by
then, the command of worktree.check runs on the result in the worktree, and then
the branch moves, as a whole or not at all. A worktree that is merged goes. Exit
code 1 when one could not be merged.

  adze worktree merge login
  adze worktree merge login search --commit   # as merge commits`,
	}, func(cmd *cobra.Command, names []string) (answer, error) {
		if len(names) == 0 {
			return nil, usagef("adze worktree list shows them", "name the worktrees to be merged")
		}
		o, err := f.options(sys, cmd.Flags())
		if err != nil {
			return nil, err
		}
		m.Each = func(q app.Queued) {
			if q.Why != "" {
				tell(sys.Stderr, "adze: ", q.Why)
			}
			if q.Hint != "" {
				tell(sys.Stderr, "hint: ", q.Hint)
			}
			for _, n := range q.Notes {
				tell(sys.Stderr, "adze: ", n)
			}
		}
		done, err := o.quiet().Merge(cmd.Context(), names, m)
		if err != nil {
			return nil, openError(cmd.Context(), err)
		}
		said := listing[app.Queued]{
			rows: done, head: []string{"NAME", "RESULT", "COMMITS", "INTO", "WORKTREE"},
			row: func(t *table, q app.Queued) {
				left := "kept"
				if q.Removed {
					left = "removed"
				}
				t.row(clip.Visible(q.Name), string(q.End), fmt.Sprint(q.Commits), cmp.Or(clip.Visible(q.Into), "-"), left)
			},
		}
		if code, ended := endedBy(cmd.Context()); ended {
			return failing{said, &failure{code: code, cause: "interrupted"}}, nil
		}
		red := 0
		for _, q := range done {
			if q.Why != "" {
				red++
			}
		}
		if red > 0 {
			return failing{said, failf("the hint of each says how to go on", "%s not merged", clip.Count(red, "worktree"))}, nil
		}
		return said, nil
	})
	c.Flags().BoolVar(&m.Commit, "commit", false, "as a merge commit, instead of rebased")
	c.Flags().BoolVar(&m.Keep, "keep", false, "keep the worktrees")
	return c
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
			o, err := f.options(sys, cmd.Flags())
			if err != nil {
				return err
			}
			repo, err := o.quiet().Worktrees()
			if err != nil {
				return openError(cmd.Context(), err)
			}
			lose := func(k *app.KeptWorktree) (bool, error) {
				switch {
				case !discard || yes:
					return discard, nil
				case !sys.InTTY || !sys.ErrTTY:
					return false, &failure{exitRefused, "nobody is here to ask whether the work in " + k.Name + " may be lost", "adze worktree clean --discard --yes " + hint.Shell(k.Name)}
				}
				return agrees(cmd.Context(), sys, fmt.Sprintf("%s (%s) has %s. Lose it?", k.Name, clip.Visible(k.Path), k.Says()))
			}
			done, err := repo.Clean(cmd.Context(), names, lose)
			kept := 0
			for _, d := range done {
				if d.Removed {
					fmt.Fprintf(sys.Stderr, "removed %s\n", d.Name)
					continue
				}
				kept++
				fmt.Fprintf(sys.Stderr, "kept %s: %s\n", clip.Visible(d.Name), clip.VisibleText(d.Why))
			}
			switch {
			case err != nil:
				return err
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
