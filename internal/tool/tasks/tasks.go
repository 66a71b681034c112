// Package tasks has the tools with which a model looks at what runs in the background and
// ends it: TaskOutput and TaskStop. What such tasks are, their sources know.
package tasks

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

//go:embed output.md
var outputText string

//go:embed stop.md
var stopText string

// Waits of TaskOutput with block.
const (
	defaultWait = 30 * time.Second
	maxWait     = 600 * time.Second
)

// limit is how many characters a result of TaskOutput has at most.
const limit = 30_000

type outputInput struct {
	ID      string `json:"task_id" jsonschema:"the id of the task, such as b1"`
	Filter  string `json:"filter,omitempty" jsonschema:"a regular expression (RE2); only lines that match are shown, the others are skipped for good"`
	Block   bool   `json:"block,omitempty" jsonschema:"wait until it has ended, or timeout"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"milliseconds to wait with block; 30000 unless given, at most 600000"`
}

type stopInput struct {
	ID string `json:"task_id" jsonschema:"the id of the task, or the name of an agent"`
}

// New returns TaskOutput and TaskStop for what all says.
func New(all func() task.List) []tool.Tool {
	return []tool.Tool{
		anyID{tool.New(tool.Spec{Name: "TaskOutput", Description: outputText, Limit: limit},
			func(in outputInput, _ tool.Env) (tool.Plan, error) {
				_, err := in.look()
				return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: "Output: " + clip.Line(clip.VisibleText(in.ID), 40), Parallel: true}, err
			},
			func(ctx context.Context, in outputInput, _ tool.Env) (tool.Result, error) {
				l, err := in.look()
				if err != nil {
					return tool.Errorf("%s", err), nil
				}
				return all().Look(ctx, in.ID, l), nil
			})},
		anyID{tool.New(tool.Spec{Name: "TaskStop", Description: stopText},
			func(in stopInput, _ tool.Env) (tool.Plan, error) {
				// it only ends what this session started
				return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: "Stop: " + clip.Line(clip.VisibleText(in.ID), 40)}, in.check()
			},
			func(_ context.Context, in stopInput, _ tool.Env) (tool.Result, error) { return all().Stop(in.ID), nil })},
	}
}

func (in stopInput) check() error {
	if in.ID == "" {
		return errors.New(`field "task_id" is empty`)
	}
	return nil
}

func (in outputInput) look() (l task.Look, err error) {
	if in.Timeout < 0 || in.Timeout > int(maxWait.Milliseconds()) {
		return l, fmt.Errorf("field \"timeout\" is %d ms; give 1 to %d", in.Timeout, maxWait.Milliseconds())
	}
	if in.Block {
		if l.Wait = defaultWait; in.Timeout > 0 {
			l.Wait = time.Duration(in.Timeout) * time.Millisecond
		}
	}
	if in.Filter != "" {
		if l.Filter, err = regexp.Compile(in.Filter); err != nil {
			return l, fmt.Errorf("field \"filter\" is not a regular expression (RE2): %w", err)
		}
	}
	return l, nil
}

// anyID lets a call name its task the way older tools do, and those of other agents.
type anyID struct{ tool.Tool }

func (a anyID) Plan(in json.RawMessage, env tool.Env) (tool.Plan, error) {
	return a.Tool.Plan(rename(in), env)
}

func (a anyID) Run(ctx context.Context, in json.RawMessage, env tool.Env) (tool.Result, error) {
	return a.Tool.Run(ctx, rename(in), env)
}

func rename(in json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(in, &m) != nil || m["task_id"] != nil {
		return in
	}
	for _, other := range []string{"id", "bash_id", "shell_id", "agent_id"} {
		if v, ok := m[other]; ok {
			delete(m, other)
			m["task_id"] = v
			if out, err := json.Marshal(m); err == nil {
				return out
			}
		}
	}
	return in
}
