// Package propose has the tool with which a model proposes a goal to the person:
// ProposeGoal. What a goal is, the session knows. Without a person's yes there is none.
package propose

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

//go:embed propose.md
var text string

// Name is the tool's.
const Name = "ProposeGoal"

// The fields are those of sdk-tools.d.ts (@anthropic-ai/claude-agent-sdk 0.3.332). The person is
// asked whatever ask_user says.
type input struct {
	Condition string `json:"condition" jsonschema:"what is to be so, as a result of a command can show it"`
	Ask       *bool  `json:"ask_user,omitempty" jsonschema:"the person is always asked"`
}

// New returns ProposeGoal. set sets a goal; its error says why there is none. refused is why
// the session cannot have a goal that its model proposes, "" where it can.
func New(set func(ctx context.Context, condition string) error, refused string) tool.Tool {
	return tool.New(tool.Spec{Name: Name, Description: text, Deferrable: true, Seldom: true, Facts: []string{}},
		func(in input, _ tool.Env) (tool.Plan, error) {
			if refused != "" {
				return tool.Plan{}, errors.New(refused)
			}
			return tool.Plan{
				Actions: []policy.Action{policy.Person{Why: "it would have the session work until this is so"}},
				View:    view.Text{S: clip.Clean(strings.TrimSpace(in.Condition))},
				Title:   "Goal: " + clip.Line(clip.Clean(in.Condition), 100),
			}, in.check()
		},
		func(ctx context.Context, in input, env tool.Env) (tool.Result, error) {
			if env.Answer == nil {
				return tool.Errorf("no goal is set: nobody was there to agree to it. Go on without one"), nil
			}
			if err := in.check(); err != nil {
				return tool.Errorf("%s", err), nil
			}
			if err := set(ctx, strings.TrimSpace(in.Condition)); err != nil {
				return tool.Errorf("no goal is set: %s", err), nil
			}
			return tool.Result{
				Text: "The person agreed, and the goal is set. It is checked after each of your turns.",
				View: view.Text{S: "the goal of the session: " + clip.Clean(in.Condition)},
				Data: func() any { return map[string]any{"condition": in.Condition, "accepted": true} },
			}, nil
		})
}

func (in input) check() error {
	switch n := utf8.RuneCountInString(in.Condition); {
	case strings.TrimSpace(in.Condition) == "":
		return errors.New(`field "condition" is empty`)
	case n > op.MaxGoal:
		return fmt.Errorf(`field "condition" has %d characters; at most %d`, n, op.MaxGoal)
	}
	return nil
}
