package tool_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/tool"
)

func named(name string, times *int) tool.Tool {
	return asked{tool.New(tool.Spec{Name: name, Description: name + " does it"},
		func(struct{}, tool.Env) (tool.Plan, error) { return tool.Plan{}, nil },
		func(context.Context, struct{}, tool.Env) (tool.Result, error) { return tool.Result{}, nil }), times}
}

// A set has one order whatever order its tools come in, and asks each tool
// once what it is.
func TestSet(t *testing.T) {
	n := 0
	set, err := tool.NewSet(named("mcp__a__x", &n), named("Write", &n), named("Bash", &n), named("Read", &n))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Bash", "Read", "Write", "mcp__a__x"}
	for range 3 {
		var got []string
		for _, sp := range set.Specs() {
			got = append(got, sp.Name)
			if tl, ok := set.Get(sp.Name); !ok || sp.Description != sp.Name+" does it" || len(sp.Schema) == 0 || tl == nil {
				t.Errorf("%+v", sp)
			}
		}
		if !slices.Equal(got, want) || !slices.Equal(set.Names(), want) {
			t.Errorf("specs %v, names %v", got, set.Names())
		}
	}
	if n != 4 {
		t.Errorf("asked %d times", n)
	}
	for _, name := range want { // each stands for itself
		if tl, _ := set.Get(name); tl.Spec().Name != name {
			t.Errorf("%s is %s", name, tl.Spec().Name)
		}
	}
	some := set.Only(func(name string) bool { return name != "Read" })
	if _, ok := some.Get("Read"); ok || !slices.Equal(some.Names(), []string{"Bash", "Write", "mcp__a__x"}) || len(some.Specs()) != 3 {
		t.Errorf("%v", some.Names())
	}
	same := set.Map(func(tl tool.Tool) tool.Tool { return tool.Brief(tl) })
	if !slices.Equal(same.Names(), want) {
		t.Errorf("%v", same.Names())
	}
	if _, err := tool.NewSet(named("Read", &n), named("Bash", &n), named("Read", &n)); err == nil || err.Error() != `two tools are named "Read"` {
		t.Errorf("%v", err)
	}
}

// What a set lists never moves when tools come and go.
func TestSetThen(t *testing.T) {
	n := 0
	of := func(names ...string) tool.Set {
		var list []tool.Tool
		for _, name := range names {
			list = append(list, named(name, &n))
		}
		set, err := tool.NewSet(list...)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	set := of("c", "mcp__x")
	for _, step := range []struct {
		next                         tool.Set
		added, removed, names, specs []string
	}{
		{of("c", "mcp__x"), nil, nil, []string{"c", "mcp__x"}, []string{"c", "mcp__x"}},
		{of("b", "a", "c", "mcp__x"), []string{"a", "b"}, nil, []string{"c", "mcp__x", "a", "b"}, []string{"c", "mcp__x", "a", "b"}},
		{of("b", "d"), []string{"d"}, []string{"c", "mcp__x", "a"}, []string{"b", "d"}, []string{"c", "mcp__x", "a", "b", "d"}},
		{of("c", "d"), []string{"c"}, []string{"b"}, []string{"c", "d"}, []string{"c", "mcp__x", "a", "b", "d"}},
		{of(), nil, []string{"c", "d"}, []string{}, []string{"c", "mcp__x", "a", "b", "d"}},
	} {
		asked := n
		var added, removed []string
		set, added, removed = set.Then(step.next, 1<<30)
		var specs []string
		for _, sp := range set.Specs() {
			specs = append(specs, sp.Name)
			if _, ok := set.Get(sp.Name); ok != slices.Contains(step.names, sp.Name) {
				t.Errorf("%s is found: %t", sp.Name, ok)
			}
		}
		if !slices.Equal(added, step.added) || !slices.Equal(removed, step.removed) || !slices.Equal(set.Names(), step.names) || !slices.Equal(specs, step.specs) {
			t.Errorf("added %v, removed %v, names %v, listed %v; want %+v", added, removed, set.Names(), specs, step)
		}
		if n != asked {
			t.Errorf("tools were asked %d times more", n-asked)
		}
	}
	if back := set.Only(func(name string) bool { return name == "a" }).Names(); len(back) > 0 {
		t.Errorf("%v is there again", back)
	}
}

// A set that is settled tells of tools by name where they are long together, or
// come later; what was listed stays, in its place.
func TestSetDefers(t *testing.T) {
	of := func(names ...string) tool.Set {
		t.Helper()
		var list []tool.Tool
		for _, name := range names {
			list = append(list, tool.New(tool.Spec{Name: name, Description: name, Deferrable: strings.HasPrefix(name, "mcp__"), Loads: name == "ToolSearch"},
				func(struct{}, tool.Env) (tool.Plan, error) { return tool.Plan{}, nil },
				func(context.Context, struct{}, tool.Env) (tool.Result, error) { return tool.Result{}, nil }))
		}
		set, err := tool.NewSet(list...)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	check := func(what string, set tool.Set, listed, named string) {
		t.Helper()
		if got := strings.Join(names(set.Specs()), " "); got != listed {
			t.Errorf("%s: listed are %q, want %q", what, got, listed)
		}
		if got := strings.Join(names(set.Named()), " "); got != named {
			t.Errorf("%s: named are %q, want %q", what, got, named)
		}
	}
	const many = 1 << 30
	start := of("Read", "Write", "ToolSearch", "mcp__a__x", "mcp__a__y")
	check("not settled", start, "Read Write mcp__a__x mcp__a__y", "")
	check("short", start.Defer(many, false), "Read Write mcp__a__x mcp__a__y", "")
	check("long", start.Defer(0, false), "Read ToolSearch Write", "mcp__a__x mcp__a__y")
	check("more may come", start.Defer(many, true), "Read ToolSearch Write mcp__a__x mcp__a__y", "")
	check("without the tool that loads", of("Read", "mcp__a__x").Defer(0, true), "Read mcp__a__x", "")

	// Whole, and then too many: the tool that loads comes behind what was listed.
	set, added, _ := start.Defer(many, false).Then(of("Read", "Write", "ToolSearch", "mcp__a__x", "mcp__a__y", "mcp__b__z", "Late"), 5)
	check("too many", set, "Read Write mcp__a__x mcp__a__y ToolSearch Late", "mcp__b__z")
	if !slices.Equal(added, []string{"Late", "mcp__b__z"}) {
		t.Errorf("added %v", added)
	}
	// What may come moves nothing.
	set, _, _ = start.Defer(many, true).Then(of("Read", "Write", "ToolSearch", "mcp__a__x", "mcp__a__y", "mcp__b__z"), many)
	check("came later", set, "Read ToolSearch Write mcp__a__x mcp__a__y", "mcp__b__z")
	set = set.Loaded([]llm.Spec{{Name: "mcp__b__z", Description: "as it was"}, {Name: "mcp__a__x"}, {Name: "mcp__c__away"}})
	check("loaded", set, "Read ToolSearch Write mcp__a__x mcp__a__y mcp__b__z mcp__c__away", "mcp__b__z")
	if last := set.Specs()[5]; !last.Deferred || last.Description != "as it was" {
		t.Errorf("a loaded tool is told as %+v", last)
	}
	if _, not := set.Unloaded("mcp__b__z"); not {
		t.Error("a loaded tool counts as not loaded")
	}
	if got := strings.Join(set.Listed(), " "); got != "Read ToolSearch Write mcp__a__x mcp__a__y mcp__b__z" {
		t.Errorf("to be called at once: %q", got)
	}
	gone, _, removed := set.Then(of("Read", "Write", "ToolSearch"), many)
	check("gone", gone, "Read ToolSearch Write mcp__a__x mcp__a__y mcp__b__z mcp__c__away", "")
	if len(removed) != 3 {
		t.Errorf("removed %v", removed)
	}
	back, added, _ := gone.Then(of("Read", "Write", "ToolSearch", "mcp__b__z"), many)
	check("back", back, "Read ToolSearch Write mcp__a__x mcp__a__y mcp__b__z mcp__c__away", "mcp__b__z")
	if !slices.Equal(added, []string{"mcp__b__z"}) {
		t.Errorf("added %v", added)
	}
	check("for another model", back.Anew(), "Read Write mcp__b__z", "")
	check("and settled", back.Anew().Defer(0, false), "Read ToolSearch Write", "mcp__b__z")
	same := back.Map(func(t tool.Tool) tool.Tool { return t }).Only(func(string) bool { return true })
	check("mapped", same, "Read ToolSearch Write mcp__a__x mcp__a__y mcp__b__z mcp__c__away", "mcp__b__z")
}

func names(list []llm.Spec) (out []string) {
	for _, s := range list {
		out = append(out, s.Name)
	}
	return out
}
