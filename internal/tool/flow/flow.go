// Package flow has the tool with which a model runs workflows: Workflow. Who runs them is
// the business of whoever made the tool.
package flow

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
	"github.com/adze-agent/adze/internal/workflow"
)

//go:embed flow.md
var text string

// Name is the tool's.
const Name = "Workflow"

// An Input is what a call wants. Names and meanings are those of sdk-tools.d.ts of
// @anthropic-ai/claude-agent-sdk 0.3.332.
type Input struct {
	Script      string          `json:"script,omitempty" jsonschema:"the whole script"`
	Name        string          `json:"name,omitempty" jsonschema:"a saved workflow"`
	Path        string          `json:"scriptPath,omitempty" jsonschema:"a file with a script; goes before the others"`
	Args        json.RawMessage `json:"args,omitempty" jsonschema:"any JSON, no text of JSON"`
	Resume      string          `json:"resumeFromRunId,omitempty" jsonschema:"the run to go on from"`
	Title       string          `json:"title,omitempty" jsonschema:"has no effect"`
	Description string          `json:"description,omitempty" jsonschema:"has no effect"`
}

// A Saved is a workflow that can be called by its name.
type Saved struct{ Name, About string }

// A Runner runs workflows for one session.
type Runner interface {
	// Saved are the workflows that there are.
	Saved() []Saved
	// Named is one of them.
	Named(name string) (workflow.Script, error)
	// Earlier is the script of a run, and what it was given.
	Earlier(run string) (s workflow.Script, args json.RawMessage, err error)
	// Launch starts a run for a call. The result is the tool's.
	Launch(ctx context.Context, in Input, s workflow.Script, call string) (tool.Result, error)
}

// New returns Workflow.
func New(r Runner) tool.Tool {
	schema, err := jsonschema.For[Input](nil)
	if err != nil {
		panic(err) // the type above has no schema: any test finds it
	}
	schema.Properties["args"] = &jsonschema.Schema{Description: schema.Properties["args"].Description} // anything
	spec := tool.Spec{Name: Name, Description: text + saved(r.Saved()), Deferrable: true, Facts: []string{"script", "name", "scriptPath", "args", "resumeFromRunId"}}
	t := &caller{r: r, planned: map[string]planned{}}
	return tool.NewWithSchema(spec, schema, t.plan, t.run)
}

// saved lists the workflows for the model.
func saved(list []Saved) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nSaved:\n")
	for _, s := range list {
		fmt.Fprintf(&b, "- %s: %s\n", s.Name, clip.Line(clip.Clean(s.About), 400))
	}
	return b.String()
}

// maxPlanned bounds the calls that were planned and never ran.
const maxPlanned = 50

type caller struct {
	r  Runner
	mu sync.Mutex // guards planned
	// planned are the scripts that people saw, by the call: what runs is what they saw.
	planned map[string]planned
}

type planned struct {
	s   workflow.Script
	err error
}

// script is what a call runs. inline: the call itself says it. path is the file that is
// read for it, "" for none.
func (c *caller) script(in Input, env tool.Env) (s workflow.Script, inline bool, path string, err error) {
	switch {
	case in.Path != "":
		if path, err = place.Locate(env.Dir, env.Home, in.Path); err != nil {
			return s, true, path, err
		}
		raw, err := regular.Read(path, workflow.MaxSource)
		if err != nil {
			return s, true, path, fmt.Errorf("the script %s cannot be read: %w", in.Path, err)
		}
		s, err = workflow.Read(string(raw))
		s.File = path
		return s, true, path, err
	case in.Script != "":
		s, err = workflow.Read(in.Script)
		return s, true, "", err
	case in.Name != "":
		s, err = c.r.Named(in.Name)
		return s, false, "", err
	case in.Resume != "":
		s, _, err = c.r.Earlier(in.Resume)
		return s, true, "", err
	}
	return s, true, "", errors.New("one of script, name and scriptPath says what to run")
}

// plan is what a call would do. A script with a mistake does nothing, and Run says so in the
// public form.
func (c *caller) plan(in Input, env tool.Env) (tool.Plan, error) {
	if in.Path == "" && in.Script == "" && in.Name == "" && in.Resume == "" {
		return tool.Plan{}, errors.New("one of script, name and scriptPath says what to run")
	}
	s, inline, path, err := c.script(in, env)
	c.mu.Lock()
	if len(c.planned) >= maxPlanned {
		clear(c.planned)
	}
	c.planned[env.Call] = planned{s, err}
	c.mu.Unlock()
	p := tool.Plan{Title: "Workflow: " + clip.Line(clip.Visible(s.Name), 80)}
	if path != "" {
		p.Actions = append(p.Actions, policy.Read{Path: path, Asked: in.Path})
	}
	if err != nil {
		p.Title, p.Actions = "Workflow", append(p.Actions, policy.None{})
		return p, nil
	}
	p.Actions = append(p.Actions, policy.Workflow{Name: s.Name, Inline: inline})
	p.View = view.Group{Blocks: []view.Block{view.Text{S: about(s)}, view.Code{Path: s.Name + ".js", First: 1, S: s.Source}}}
	return p, nil
}

// about says for a person what a workflow is.
func about(s workflow.Script) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", s.Name, clip.VisibleText(s.Description))
	for _, p := range s.Phases {
		fmt.Fprintf(&b, "\n- %s", clip.Line(clip.Visible(p.Title), 80))
		if p.Detail != "" {
			fmt.Fprintf(&b, ": %s", clip.Line(clip.Visible(p.Detail), 200))
		}
	}
	return b.String()
}

func (c *caller) run(ctx context.Context, in Input, env tool.Env) (tool.Result, error) {
	c.mu.Lock()
	saw, ok := c.planned[env.Call]
	delete(c.planned, env.Call)
	c.mu.Unlock()
	s, err := saw.s, saw.err
	if !ok {
		s, _, _, err = c.script(in, env)
	}
	if err == nil {
		err = s.Check(ctx)
	}
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	if err != nil {
		why := err.Error() // a mistake in a script is no failed call: hosts know it by the field
		return tool.Result{Text: "The workflow was not started: " + why, Data: func() any {
			return map[string]any{"status": "async_launched", "taskId": "", "taskType": "local_workflow", "workflowName": s.Name, "error": why}
		}}, nil
	}
	if in.Resume != "" && in.Args == nil {
		if _, in.Args, err = c.r.Earlier(in.Resume); err != nil {
			return tool.Errorf("The workflow was not started: %s", err), nil
		}
	}
	return c.r.Launch(ctx, in, s, env.Call)
}
