package contrib_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/contrib"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/tool"
)

func named(names ...string) (out []tool.Tool) {
	for _, name := range names {
		out = append(out, tool.New(tool.Spec{Name: name},
			func(struct{}, tool.Env) (tool.Plan, error) { return tool.Plan{}, nil },
			func(context.Context, struct{}, tool.Env) (tool.Result, error) { return tool.Result{}, nil }))
	}
	return out
}

func commands(names ...string) (out []contrib.Command) {
	for _, name := range names {
		out = append(out, contrib.Command{Name: name, Do: contrib.View{}})
	}
	return out
}

func TestJoin(t *testing.T) {
	a := contrib.Contribution{From: "a", Tools: named("Read", "mcp__x"), Commands: commands("see")}
	set, err := contrib.Join(a, contrib.Contribution{From: "b", Tools: named("Bash"), Commands: commands("look", "Read")})
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Names(); !slices.Equal(got, []string{"Bash", "Read", "mcp__x"}) {
		t.Errorf("tools %v", got)
	}
	for want, other := range map[string]contrib.Contribution{
		`two tools are named "Read": one is from a and one from b`:   {From: "b", Tools: named("Read")},
		`two commands are named "see": one is from a and one from b`: {From: "b", Commands: commands("see")},
	} {
		if _, err := contrib.Join(a, other); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The commands of adze itself have different names, say what they are for, and
// do something.
func TestCommands(t *testing.T) {
	if _, err := contrib.Join(contrib.Commands()); err != nil {
		t.Error(err)
	}
	kinds := map[string]int{}
	for _, c := range contrib.Commands().Commands {
		if c.About == "" || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("%+v", c)
		}
		switch do := c.Do.(type) {
		case contrib.Op:
			kinds["op"]++
			if c.Name == "compact" {
				continue // see TestCompact
			}
			if _, err := do.Make(""); err == nil {
				t.Errorf("/%s needs no words", c.Name)
			}
			if o, err := do.Make("a b"); err != nil || o != (op.Rename{Title: "a b"}) || !strings.Contains(do.Done("a b"), "“a b”") {
				t.Errorf("/%s: %v %v", c.Name, o, err)
			}
		case contrib.View:
			kinds["view"]++
		}
	}
	if kinds["op"] != 2 || kinds["view"] < 15 {
		t.Errorf("%v", kinds)
	}
}

func TestCompact(t *testing.T) {
	for _, c := range contrib.Commands().Commands {
		do, ok := c.Do.(contrib.Op)
		if c.Name != "compact" || !ok {
			continue
		}
		for args, want := range map[string]op.Op{
			"": op.Compact{}, "the parser, mostly": op.Compact{Focus: "the parser, mostly"}, "--undo": op.Compact{Undo: true},
			"--from 2": op.Compact{From: "2"}, "--up-to 3 the tests": op.Compact{UpTo: "3", Focus: "the tests"},
			"--from x": nil, "--from": nil, "--up-to 0": nil, "--undo now": nil, "--from 1 --undo": nil,
		} {
			if o, err := do.Make(args); o != want || (err == nil) != (want != nil) {
				t.Errorf("/compact %s: %+v, %v; want %+v", args, o, err, want)
			}
		}
		return
	}
	t.Error("there is no /compact")
}
