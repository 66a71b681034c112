// Package spawn has the tool with which a model starts agents that work for it: Agent.
// What an agent is and where it runs is the business of whoever made the tool.
package spawn

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

//go:embed agent.md
var text string

// Name is the tool's.
const Name = "Agent"

// Fork is the type of an agent that begins with the conversation of the session.
const Fork = "fork"

// maxPrompt bounds a prompt, in bytes.
const maxPrompt = 100_000

// An Input is what a call wants. Names and meanings are those of sdk-tools.d.ts of
// @anthropic-ai/claude-agent-sdk 0.3.332; budget_usd, max_turns and schema are adze's. There is one team, so that
// team_name says nothing.
type Input struct {
	Description string          `json:"description" jsonschema:"3 to 5 words"`
	Prompt      string          `json:"prompt"`
	Type        string          `json:"subagent_type,omitempty"`
	Model       string          `json:"model,omitempty"`
	Effort      string          `json:"effort,omitempty"`
	Background  *bool           `json:"run_in_background,omitempty" jsonschema:"false waits"`
	Name        string          `json:"name,omitempty"`
	Isolation   string          `json:"isolation,omitempty"`
	Mode        string          `json:"mode,omitempty"`
	Team        string          `json:"team_name,omitempty"`
	USD         float64         `json:"budget_usd,omitempty"`
	Turns       int             `json:"max_turns,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty" jsonschema:"JSON Schema of its result"`
}

// A Starter starts agents for one session.
type Starter interface {
	// Types are the names of the agents that there are, with what each is for.
	Types() []Type
	// Run starts an agent and, where the call waits for it, returns what it came to. The
	// result is the tool's.
	Run(ctx context.Context, in Input, env tool.Env) (tool.Result, error)
}

// A Type is an agent that can be started.
type Type struct{ Name, About string }

// New returns Agent.
func New(s Starter) tool.Tool {
	schema, err := jsonschema.For[Input](nil)
	if err != nil {
		panic(err) // the type above has no schema: any test finds it
	}
	own := schema.Properties["schema"]
	own.Type, own.Types, own.Items = "object", nil, nil
	bg := schema.Properties["run_in_background"]
	bg.Type, bg.Types = "boolean", nil
	schema.Properties["effort"].Enum = []any{"low", "medium", "high", "xhigh", "max"}
	schema.Properties["isolation"].Enum = []any{"worktree"}
	spec := tool.Spec{Name: Name, Description: text + types(s.Types()), Facts: []string{"prompt", "subagent_type", "model", "isolation", "mode", "budget_usd", "max_turns"}}
	return tool.NewWithSchema(spec, schema, plan, func(ctx context.Context, in Input, env tool.Env) (tool.Result, error) {
		if err := in.check(); err != nil {
			return tool.Errorf("%s", err), nil
		}
		return s.Run(ctx, in, env)
	})
}

// types lists the agents for the model.
func types(list []Type) string {
	var b strings.Builder
	b.WriteString("Types:\n")
	for _, t := range list {
		b.WriteString("- " + t.Name)
		if t.About != "" {
			b.WriteString(": " + t.About)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func plan(in Input, _ tool.Env) (tool.Plan, error) {
	if err := in.check(); err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{
		Actions:  []policy.Action{policy.Spawn{Agent: in.Kind()}},
		Title:    "Agent: " + clip.Line(clip.Visible(in.Description), 80),
		Parallel: true,
	}, nil
}

// Kind is the agent that is meant.
func (in Input) Kind() string {
	if in.Type == "" {
		return "general-purpose"
	}
	return in.Type
}

// Asked is the permission mode that the call wants, "" for that of the session.
func (in Input) Asked() policy.Mode {
	m, known := policy.ParseMode(in.Mode)
	if in.Mode == "" || !known {
		return ""
	}
	return m
}

// Waits reports whether the call wants to wait for the result.
func (in Input) Waits() bool { return in.Background != nil && !*in.Background }

func (in Input) check() error {
	switch {
	case strings.TrimSpace(in.Prompt) == "":
		return fmt.Errorf("field \"prompt\" is empty: the agent knows nothing but it")
	case len(in.Prompt) > maxPrompt:
		return fmt.Errorf("field \"prompt\" has %d bytes; at most %d. Put what is long into a file, and name that", len(in.Prompt), maxPrompt)
	case in.Type == Fork && (in.Model != "" || in.Effort != "" || len(in.Schema) > 0):
		return fmt.Errorf("a fork goes on as this conversation does, so that it costs little: leave \"model\", \"effort\" and \"schema\" out, and say in the prompt what form the result is to have")
	case in.USD < 0:
		return fmt.Errorf("field \"budget_usd\" is negative")
	case in.Turns < 0:
		return fmt.Errorf("field \"max_turns\" is negative")
	case in.Effort != "" && !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, in.Effort):
		return fmt.Errorf("field \"effort\" is %q; it is low, medium, high, xhigh or max", clip.Visible(in.Effort))
	case in.Mode != "" && in.Asked() == "":
		return fmt.Errorf("field \"mode\" is %q; it is plan, default, acceptEdits, dontAsk, auto or bypassPermissions, and loosens nothing", clip.Visible(in.Mode))
	case in.Type == Fork && in.Asked() == policy.PlanMode:
		return fmt.Errorf("a fork goes on as this conversation does: leave \"mode\" out")
	case in.Isolation != "" && in.Isolation != "worktree":
		return fmt.Errorf("field \"isolation\" is %q; it can only be worktree", clip.Visible(in.Isolation))
	}
	return nil
}
