package tool_test

import (
	"context"
	"slices"
	"testing"

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
		set, added, removed = set.Then(step.next)
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
