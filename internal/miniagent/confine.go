package miniagent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

// A Limit is what the tools of a helper may do.
type Limit struct {
	// Read and Write say which resolved paths may be read and written.
	Read, Write func(path string) bool
	Ends        string // the tool whose first success ends the helper, "" for none
}

// Confine is set, as a model is told of it, with those of mine in the place of
// tools of the same name, as far as the limit goes. Every other call is refused:
// the others are there because a provider has read of them already.
func Confine(set tool.Set, mine []tool.Tool, l Limit) tool.Set {
	by := map[string]tool.Tool{}
	var names []string
	writes := &sync.Map{}
	for _, t := range mine {
		by[t.Spec().Name] = t
		names = append(names, t.Spec().Name)
	}
	slices.Sort(names)
	return set.Map(func(t tool.Tool) tool.Tool {
		return confined{Limit: l, spec: t.Spec(), inner: by[t.Spec().Name], names: names, writes: writes}
	})
}

// A confined is a tool that does no more than its limit lets it.
type confined struct {
	Limit
	spec  tool.Spec
	inner tool.Tool // nil: not there
	names []string  // of those that are there
	// writes are the paths that planned calls would write, by call.
	writes *sync.Map
}

// Spec implements tool.Tool.
func (c confined) Spec() tool.Spec { return c.spec }

// Plan implements tool.Tool.
func (c confined) Plan(in json.RawMessage, env tool.Env) (tool.Plan, error) {
	if c.inner == nil {
		return tool.Plan{}, fmt.Errorf("%s is not there for this task; the tools are %v", c.spec.Name, c.names)
	}
	plan, err := c.inner.Plan(in, env)
	if err != nil {
		return tool.Plan{}, err
	}
	var paths []string
	for a := range policy.All(plan.Actions) {
		if path, ok := c.covers(a); !ok {
			return tool.Plan{}, fmt.Errorf("%s is outside of what this task is about", path)
		}
		if w, ok := a.(policy.Write); ok {
			paths = append(paths, w.Path)
		}
	}
	if len(paths) > 0 {
		c.writes.Store(env.Call, paths)
	}
	return plan, nil
}

// covers reports whether an action is within the limit. A kind that is not
// known here is not.
func (c confined) covers(a policy.Action) (path string, ok bool) {
	switch a := a.(type) {
	case policy.Read:
		return a.Path, !a.Tree && c.Read(a.Path)
	case policy.Write:
		return a.Path, !a.Tree && !a.Remove && c.Write(a.Path)
	case policy.None:
		return "", true
	case policy.Exec, policy.Opaque, policy.Net, policy.Call, policy.Spawn, policy.Tell, policy.Workflow, policy.Skill, policy.Person:
	}
	return "this", false
}

// Run implements tool.Tool.
func (c confined) Run(ctx context.Context, in json.RawMessage, env tool.Env) (tool.Result, error) {
	if c.inner == nil {
		return tool.Errorf("%s is not there for this task", c.spec.Name), nil
	}
	res, err := c.inner.Run(ctx, in, env)
	if err != nil || res.IsErr {
		return res, err
	}
	if paths, ok := c.writes.LoadAndDelete(env.Call); ok {
		var changed effect.Changed
		for _, p := range paths.([]string) {
			changed.Files = append(changed.Files, effect.Change{Path: p})
		}
		res.Effects = append(res.Effects, changed)
	}
	if c.Ends == c.spec.Name {
		res.Effects = append(res.Effects, effect.Final{Text: res.Text})
	}
	return res, nil
}
