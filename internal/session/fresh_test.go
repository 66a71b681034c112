package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
)

const planText = "The person approved the plan.\nThe plan:\n\n1. write it"

// fresh is a tool that is approved in a fresh context; a prompt comes while it
// runs.
func fresh(t *testing.T, r **rig) tool.Tool {
	return tool.New(tool.Spec{Name: "leave"},
		func(in, tool.Env) (tool.Plan, error) {
			return tool.Plan{Actions: []policy.Action{policy.None{}}}, nil
		},
		func(context.Context, in, tool.Env) (tool.Result, error) {
			if err := (*r).Submit(t.Context(), op.Prompt{ID: "meanwhile", Text: "and mind the tests"}); err != nil {
				t.Error(err)
			}
			return tool.Result{Text: planText, Effects: []tool.Effect{effect.Mode{To: policy.AcceptEdits}, effect.Fresh{}}}, nil
		})
}

// A plan that is approved in a fresh context is the first thing the model
// sees from then on. What was said before stays in the log, and a resume
// gives the same.
func TestFreshContextBeginsWithThePlan(t *testing.T) {
	var r *rig
	withPlan := func(c *session.Config) {
		set, err := tool.NewSet(fresh(t, &r), r0(c, "look"))
		if err != nil {
			t.Fatal(err)
		}
		c.Tools = set
	}
	r = start(t, nil, withPlan,
		fake.Use(llm.ToolUse{ID: "c1", Name: "look", Input: input("secret of the old context")}),
		fake.Use(llm.ToolUse{ID: "c2", Name: "look"}, llm.ToolUse{ID: "c3", Name: "leave"}),
		fake.Use(llm.ToolUse{ID: "c4", Name: "look"}), fake.Say("done"))
	r.prompt("plan it")
	es := r.turns(1, nil)
	valid(t, r.State().Messages())
	if r.State().Whole() {
		t.Error("results of the old context count as known")
	}
	requests := r.model.Requests()
	if len(requests) != 4 {
		t.Fatalf("%d requests", len(requests))
	}
	want := []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: planText}, llm.Text{S: "and mind the tests"}}}}
	if d := cmp.Diff(want, requests[2].Messages); d != "" {
		t.Errorf("the first request of the new context (-want +got):\n%s", d)
	}
	if got := requests[3].Messages; len(got) != 3 || !cmp.Equal(want[0], got[0]) {
		t.Errorf("the next request: %v", got)
	}
	if got := all[event.Compacted](es); len(got) != 1 || got[0].Trigger != "plan" || got[0].Text != planText {
		t.Errorf("recorded: %+v", got)
	}
	if m := r.State().Mode; m != policy.AcceptEdits {
		t.Errorf("the mode is %s", m)
	}
	kept := false
	for _, f := range all[event.ToolFinished](es) {
		kept = kept || strings.Contains(f.Text, "secret of the old context")
	}
	if !kept {
		t.Error("the log lost what was said before")
	}
	before := r.State().Messages()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	log := &mem.Log{}
	for e, err := range r.log.After(t.Context(), 0) {
		if err == nil {
			err = log.Append(t.Context(), e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r = start(t, log, withPlan, fake.Say("gone on"))
	if d := cmp.Diff(before, r.State().Messages()); d != "" {
		t.Errorf("after a resume (-before +after):\n%s", d)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// r0 is a tool of the usual set.
func r0(c *session.Config, name string) tool.Tool {
	t, _ := c.Tools.Get(name)
	return t
}
