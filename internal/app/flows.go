package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

// workflowTool is the name of the tool that runs workflows.
const workflowTool = "Workflow"

// newFlows are the workflows of the session, none of which runs yet.
func (r *Running) newFlows() *fleet.Flows {
	f := &fleet.Flows{
		Tree: r.tree, Of: r.ID, Dir: filepath.Join(cmp.Or(r.log.Scratch(), r.place.process.temp.outside), "workflows"),
		Known: r.ext.Workflows().Saved, Script: r.ext.Workflows().Script, Mask: r.place.process.hide.String,
		Read: func(path string) (string, error) {
			return r.kit.Text(path, func(p tool.Plan) error {
				if v := policy.Decide(r.Rules(), r.Mode(), policy.Request{Tool: "Read", Actions: p.Actions}); v.Effect != policy.Allow {
					return fmt.Errorf("%s is not read without a question, and a script cannot ask: %s", path, v.Why())
				}
				return nil
			})
		},
		Budget: func() (int, int) { return r.Session.Tokens() },
	}
	if r.spec.Child != nil {
		f.Refused = "agents run no workflows: do this work yourself"
	}
	return f
}

// RunWorkflow runs a workflow without the session's model, and returns what it came to. tell
// hears what happens in it, a line each.
func (r *Running) RunWorkflow(ctx context.Context, s fleet.Script, args json.RawMessage, tell func(line string)) (json.RawMessage, error) {
	return r.flows.Do(ctx, s, args, tell)
}

// Schedules answers /schedules, as agenda.Agenda.Report.
func (r *Running) Schedules(ctx context.Context, args string) (string, error) {
	return r.kit.Agenda.Report(ctx, args)
}

// flowing reports whether the session lists the tool that runs workflows: where there are
// any but those that adze brings, and once somebody spoke of them.
func (r *Running) flowing() bool {
	if c := r.spec.Child; c != nil {
		return r.forks() && c.Of.flowing() // whose tools it has
	}
	return r.spoken.Load() || r.ext.Workflows().HasWorkflows() || slices.Contains(r.place.Config().Tools.Allowed, workflowTool)
}

// listen has the tool that runs workflows offered where a prompt that waits speaks of them.
func (r *Running) listen() {
	if r.spec.Child != nil || r.spoken.Load() {
		return
	}
	for _, q := range r.State().Queue {
		name, _, _ := strings.Cut(strings.TrimPrefix(q.Text, "/"), " ")
		if q.From == nil && (fleet.MeansWorkflow(q.Text) || q.Command && r.ext.Workflows().RunsWorkflow(name)) {
			was := r.flowing()
			if r.spoken.Store(true); !was {
				r.Offer()
			}
			return
		}
	}
}
