package fleet

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/team"
	"github.com/adze-agent/adze/internal/tool/trees"
)

// A Merge is what became of a worktree that was to be merged.
type Merge struct {
	Name    string   `json:"name"`
	Into    string   `json:"into,omitempty"` // the branch of the checkout
	End     string   `json:"end"`            // what became of it, in words
	Commits int      `json:"commits"`
	Why     string   `json:"why,omitempty"` // it was not merged
	Hint    string   `json:"hint,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// Mend: who made the work can mend it. Conflict: it is in conflict with the branch, else
	// the result is in the worktree.
	Mend     bool `json:"-"`
	Conflict bool `json:"-"`
}

// MergeWorktrees implements trees.Merger. It is for a Crew with a Merge. An agent whose work
// could not be merged is told so, when all others are merged.
func (c Crew) MergeWorktrees(ctx context.Context, in trees.Input, call string) (tool.Result, error) {
	list := c.Tree.List("")
	var names []string
	for _, name := range in.Worktrees {
		if i := slices.IndexFunc(list, func(m Member) bool { return m.ID == name || m.Name == name }); i >= 0 {
			if list[i].Works() {
				return tool.Errorf("nothing was merged: the agent %s works. You are told when it ends", list[i].Label()), nil
			}
			if own := list[i].worktree(); own != "" {
				name = own
			}
		}
		names = append(names, name)
	}
	done, err := c.Merge(ctx, names, in.Commit)
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	case err != nil:
		return tool.Errorf("nothing was merged: %s", err), nil
	}
	var b strings.Builder
	b.WriteString("worktree\tresult\tcommits\n")
	failed := 0
	for _, q := range done {
		fmt.Fprintf(&b, "%s\t%s\t%d\n", q.Name, q.End, q.Commits)
	}
	for _, q := range done {
		for _, n := range q.Notes {
			fmt.Fprintf(&b, "\n%s: %s", q.Name, n)
		}
		if q.Why == "" {
			continue
		}
		failed++
		fmt.Fprintf(&b, "\n%s: %s", q.Name, q.Why)
		i := slices.IndexFunc(list, func(m Member) bool { return m.worktree() == q.Name })
		if i < 0 || !q.Mend {
			if q.Hint != "" {
				fmt.Fprintf(&b, " (%s)", q.Hint)
			}
			continue
		}
		said, err := c.Tell(ctx, team.Message{To: list[i].ID, Text: q.mend(), Summary: "work could not be merged: " + q.End}, call, false)
		if err != nil {
			return tool.Result{}, err
		}
		b.WriteString("\nIt was told to mend that. " + said.Text)
	}
	return tool.Result{Text: strings.TrimSpace(b.String()), IsErr: failed == len(done), Data: func() any { return map[string]any{"worktrees": done} }}, nil
}

// worktree is the name of the worktree that an agent has or had, "" for none.
func (m Member) worktree() string {
	for _, own := range []*event.Worktree{m.Left, m.Begun.Worktree} {
		if own != nil {
			return filepath.Base(own.Path)
		}
	}
	return ""
}

// mend is what an agent is told whose work could not be merged.
func (q Merge) mend() string {
	how := "Your worktree has your work on top of the newest commits. Mend it there, and commit it."
	if q.Conflict {
		how = "Your worktree is as you left it. Run git merge " + q.Into + " in it, resolve the conflicts, and commit that."
	}
	return "Your work could not be merged: " + clip.Clean(q.Why) + "\n\n" + how + " Then end: it is merged again."
}
