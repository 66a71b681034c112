package agents_test

import (
	"context"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/agents"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/tool"
)

// TestListsOfAgents: a list that has a tool by the name that other agents have for it, or has
// one that does the same, leaves the tool or takes it away.
func TestListsOfAgents(t *testing.T) {
	var all []tool.Tool
	for _, name := range []string{"Bash", "Edit", "MultiEdit", "Read", "TaskOutput", "TaskStop", "Write"} {
		all = append(all, tool.New(tool.Spec{Name: name}, func(struct{}, tool.Env) (tool.Plan, error) { return tool.Plan{}, nil },
			func(context.Context, struct{}, tool.Env) (tool.Result, error) { return tool.Result{}, nil }))
	}
	set, err := tool.NewSet(all...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tools, denied []string
		want, lacks   string
	}{
		{[]string{"Read", "Edit"}, nil, "Edit MultiEdit Read", ""},
		{nil, []string{"Edit", "Write", "KillShell"}, "Bash Read TaskOutput", ""},
		{[]string{"BashOutput", "KillBash"}, nil, "TaskOutput TaskStop", ""},
		{[]string{"MultiEdit"}, nil, "MultiEdit", ""},
		{[]string{"Edit", "LS", "mcp__x"}, []string{"MultiEdit"}, "Edit", "LS"},
	} {
		a := agents.Def{Tools: c.tools, Denied: c.denied}
		if got := strings.Join(agents.Compose(&a, agents.Facts{}).Tools(set).Names(), " "); got != c.want {
			t.Errorf("%v without %v: %s, want %s", c.tools, c.denied, got, c.want)
		}
		if got := agents.Compose(&a, agents.Facts{}).Lacks(set); (got == "") != (c.lacks == "") || !strings.HasSuffix(got, c.lacks) {
			t.Errorf("%v: %q, want %q", c.tools, got, c.lacks)
		}
	}
}

// TestModes: a definition that others wrote only tightens, a person's own may loosen
// what they did not ask for, and nobody's makes a child looser than its parent.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		scope, wants string
		facts        agents.Facts
		want         policy.Mode
		note         bool
	}{
		{"project", "plan", agents.Facts{Mode: policy.Default}, policy.PlanMode, false},
		{"project", "acceptEdits", agents.Facts{Mode: policy.Default}, policy.Default, true},
		{"user", "acceptEdits", agents.Facts{Mode: policy.Default}, policy.AcceptEdits, false},
		{"user", "bypassPermissions", agents.Facts{Mode: policy.Default}, policy.Default, true},
		{"user", "auto", agents.Facts{Mode: policy.Default, NoAuto: true}, policy.Default, true},
		{"user", "acceptEdits", agents.Facts{Mode: policy.PlanMode, KeepsMode: true}, policy.PlanMode, false},
		{"user", "acceptEdits", agents.Facts{Mode: policy.Default, Child: true}, policy.Default, false},
		{"user", "plan", agents.Facts{Mode: policy.AcceptEdits, Child: true}, policy.PlanMode, false},
		{"user", "", agents.Facts{Mode: policy.AcceptEdits, Child: true}, policy.AcceptEdits, false},
		{"user", "from tomorrow", agents.Facts{Mode: policy.AcceptEdits}, policy.AcceptEdits, false},
	} {
		d := agents.Def{Mode: c.wants, Thing: skill.Thing{Name: "a", Scope: c.scope}}
		if p := agents.Compose(&d, c.facts); p.Mode != c.want || (p.Note != "") != c.note {
			t.Errorf("%s of %s in %+v: %s %q, want %s", c.wants, c.scope, c.facts, p.Mode, p.Note, c.want)
		}
	}
}

// TestPlans: what was asked for goes before the definition, and that before the start.
func TestPlans(t *testing.T) {
	d := agents.Def{Model: "small", Effort: "low", MaxTurns: 7, Prompt: "Be brief.", Initial: " go\n"}
	for _, c := range []struct {
		facts         agents.Facts
		model, effort string
		turns         int
		system        string
	}{
		{agents.Facts{}, "small", "low", 7, "Be brief."},
		{agents.Facts{Model: "big", Effort: "high", Turns: 3}, "big", "high", 3, "Be brief."},
		{agents.Facts{Turns: 9, KeepsEffort: true, KeepsSystem: true}, "small", "", 7, ""},
		{agents.Facts{Turns: 3, Child: true}, "small", "low", 7, "Be brief."},
	} {
		p := agents.Compose(&d, c.facts)
		if p.Model != c.model || string(p.Effort) != c.effort || p.Turns != c.turns || p.System != c.system || p.First != "go" {
			t.Errorf("%+v: %+v", c.facts, p)
		}
	}
	if p := agents.Compose(nil, agents.Facts{Mode: policy.Default, Turns: 5}); p.Name != "" || p.Mode != policy.Default || p.Turns != 5 || p.System != "" {
		t.Errorf("the usual agent: %+v", p)
	}
}

// TestStarts: a list may say which agents a session starts, by any of their names.
func TestStarts(t *testing.T) {
	for _, c := range []struct {
		tools, denied []string
		may, not      string
	}{
		{nil, nil, "a fork general-purpose", ""},
		{[]string{"Read", "Agent(a, Explore)"}, nil, "a explore Explore", "b fork general"},
		{[]string{"Task(a)", "Agent(b)"}, nil, "a b", "c"},
		{[]string{"Agent(a)", "Agent"}, nil, "a b", ""},
		{[]string{"*"}, []string{"Agent(general-purpose)"}, "a", "general claude"},
		{[]string{"Agent()"}, nil, "", "a"},
	} {
		p := agents.Compose(&agents.Def{Tools: c.tools, Denied: c.denied}, agents.Facts{})
		for _, name := range strings.Fields(c.may) {
			if why, ok := p.Starts(name); !ok {
				t.Errorf("%v without %v: %s is refused: %s", c.tools, c.denied, name, why)
			}
		}
		for _, name := range strings.Fields(c.not) {
			if why, ok := p.Starts(name); ok || why == "" {
				t.Errorf("%v without %v: %s is started", c.tools, c.denied, name)
			}
		}
	}
}
