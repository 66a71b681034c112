// Package trees has the tool with which a model brings over what agents did in worktrees of
// their own: MergeWorktrees. Who merges is whoever made the tool.
package trees

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

//go:embed merge.md
var mergeText string

// Merge is the name of the tool.
const Merge = "MergeWorktrees"

// maxMerged bounds the worktrees of one call.
const maxMerged = 64

// An Input is what a call of MergeWorktrees wants.
type Input struct {
	Worktrees []string `json:"worktrees" jsonschema:"names of agents or worktrees, in the order in which they are merged"`
	Commit    bool     `json:"commit,omitempty" jsonschema:"true: a merge commit each; else they are rebased"`
}

// A Merger merges worktrees for one session.
type Merger interface {
	// MergeWorktrees merges them, and has agents mend what could not be merged. The result is
	// the tool's. call is that of the tool.
	MergeWorktrees(ctx context.Context, in Input, call string) (tool.Result, error)
}

// New returns MergeWorktrees. It is decided on as the same command of a person would be, so
// that rules for Bash speak of it: Bash(adze worktree merge:*).
func New(m Merger) tool.Tool {
	return tool.New(tool.Spec{Name: Merge, Description: mergeText, Deferrable: true, Seldom: true, Facts: []string{"worktrees", "commit"}},
		func(in Input, env tool.Env) (tool.Plan, error) {
			if err := in.check(); err != nil {
				return tool.Plan{}, err
			}
			argv := append([]string{"adze", "worktree", "merge"}, in.Worktrees...)
			if in.Commit {
				argv = append(argv, "--commit")
			}
			return tool.Plan{
				Actions: []policy.Action{policy.Exec{Argv: argv, Dir: env.Dir, Why: "it moves the branch of the checkout"}},
				Title:   "Merge " + clip.Line(clip.Visible(strings.Join(in.Worktrees, ", ")), 100),
			}, nil
		},
		func(ctx context.Context, in Input, env tool.Env) (tool.Result, error) {
			if err := in.check(); err != nil {
				return tool.Errorf("%s", err), nil
			}
			return m.MergeWorktrees(ctx, in, env.Call)
		})
}

func (in Input) check() error {
	switch {
	case len(in.Worktrees) == 0:
		return fmt.Errorf("field \"worktrees\" is empty: name the agents or worktrees to be merged")
	case len(in.Worktrees) > maxMerged:
		return fmt.Errorf("field \"worktrees\" has %d names; at most %d", len(in.Worktrees), maxMerged)
	}
	for _, name := range in.Worktrees {
		if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, " \t\n/") {
			return fmt.Errorf("field \"worktrees\" has %q, which is no name of an agent or a worktree", clip.Line(clip.Visible(name), 80))
		}
	}
	return nil
}
