package extension_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/skill"
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

func commands(names ...string) (out []op.Command) {
	for _, name := range names {
		out = append(out, op.Command{Name: name})
	}
	return out
}

func TestTools(t *testing.T) {
	a := extension.Contribution{From: extension.OfPlace("a"), Tools: named("Read", "mcp__x"), Commands: commands("see")}
	set, err := extension.Tools(a, extension.Contribution{From: extension.OfPlace("b"), Tools: named("Bash"), Commands: commands("look", "Read")})
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Names(); !slices.Equal(got, []string{"Bash", "Read", "mcp__x"}) {
		t.Errorf("tools %v", got)
	}
	for want, other := range map[string]extension.Contribution{
		`two tools are named "Read": one is from a and one from b`:   {From: extension.OfPlace("b"), Tools: named("Read")},
		`two commands are named "see": one is from a and one from b`: {From: extension.OfPlace("b"), Commands: commands("see")},
	} {
		if _, err := extension.Tools(a, other); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Hooks count in the order of the list, whoever brings them.
func TestHooks(t *testing.T) {
	of := func(from string, commands ...string) extension.Contribution {
		c := extension.Contribution{From: extension.OfPlace(from)}
		for _, s := range commands {
			c.Hooks = append(c.Hooks, hook.Hook{Event: hook.Stop, Handler: hook.Handler{Type: hook.Command, Command: s}})
		}
		return c
	}
	var got []string
	for _, h := range extension.Hooks(of("z", "1", "2"), of("none"), of("a", "3"), of("z", "4")).All() {
		got = append(got, h.Name())
	}
	if !slices.Equal(got, []string{"1", "2", "3", "4"}) {
		t.Errorf("%q", got)
	}
}

// Of one name the nearest counts, and what it hides says by whom. A command takes
// its name from all skills, and from nothing else.
func TestLibrary(t *testing.T) {
	thing := func(name, from string) skill.Thing { return skill.Thing{Name: name, From: from} }
	of := func(from string, command bool, names ...string) extension.Contribution {
		c := extension.Contribution{From: extension.OfPlace(from)}
		for _, n := range names {
			c.Skills = append(c.Skills, skill.Skill{Thing: thing(n, from), Command: command})
			c.Agents = append(c.Agents, skill.Agent{Thing: thing(n, from)})
			c.Styles = append(c.Styles, skill.Style{Thing: thing(n, from)})
		}
		return c
	}
	own := of("adze", false, "a", "c")
	own.Commands = commands("b", "d")
	lib := extension.Library(of("near", true, "b", "a"), of("far", false, "a", "b", "e"), own)
	var got []string
	for _, s := range lib.Skills() {
		got = append(got, s.Name+" of "+s.From)
	}
	for _, a := range lib.Agents() {
		got = append(got, "agent "+a.Name+" of "+a.From)
	}
	for _, s := range lib.Styles() {
		got = append(got, "style "+s.Name+" of "+s.From)
	}
	for _, h := range lib.Hidden() {
		if h.Kind == skill.Skills || h.Kind == skill.Commands {
			got = append(got, string(h.Kind)+" "+h.Name+" of "+h.From+" hidden by "+h.By)
		}
	}
	want := []string{
		"a of near", "c of adze", "e of far", "agent a of near", "agent b of near", "agent c of adze", "agent e of far", "style a of near", "style b of near", "style c of adze", "style e of far",
		"skill a of far hidden by near", "skill b of far hidden by near", "skill a of adze hidden by near", "command b of near hidden by adze",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// What a person or a project has under the name of a command is called by a longer one.
	of2 := extension.Contribution{From: extension.OfPlace("user")}
	of2.Skills = []skill.Skill{{Thing: skill.Thing{Name: "b", Scope: "user"}, Command: true}, {Thing: skill.Thing{Name: "d", Scope: "plugin"}}}
	lib = extension.Library(of2, own)
	if s, ok := lib.Find("user:b"); !ok || s.Name != "user:b" || len(lib.Hidden()) != 2 || lib.Hidden()[0].As != "user:b" || lib.Hidden()[1].As != "" {
		t.Errorf("%+v %+v", s.Thing, lib.Hidden())
	}
}
