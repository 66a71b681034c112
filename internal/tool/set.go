package tool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// A Set is an ordered, immutable collection of tools with unique names:
// built-ins by name, then MCP tools by name, so that the same tools always
// give the same bytes. A set that grew keeps the order it had and lists what
// came behind it, for the same reason; see Then.
type Set struct {
	list   []entry
	specs  []llm.Spec // of list
	byName map[string]int
}

// An entry is a tool with what it was when it was asked, once. What else may
// become known of a tool of a set, such as that a model sees only its name
// until it looks it up, has its place here.
type entry struct {
	Tool
	spec Spec
	gone bool // listed, so that the bytes stay, and not there any more
}

// setOf keeps the order of entries with unique names.
func setOf(list []entry) Set {
	s := Set{list: list, specs: make([]llm.Spec, 0, len(list)), byName: make(map[string]int, len(list))}
	for i, e := range list {
		s.specs = append(s.specs, llm.Spec{Name: e.spec.Name, Description: e.spec.Description, Schema: e.spec.Schema})
		s.byName[e.spec.Name] = i
	}
	return s
}

// NewSet refuses two tools of one name. Each is asked once what it is.
func NewSet(tools ...Tool) (Set, error) {
	list := make([]entry, 0, len(tools))
	for _, t := range tools {
		list = append(list, entry{Tool: t, spec: t.Spec()})
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(btoi(isMCP(a.spec.Name)), btoi(isMCP(b.spec.Name))), cmp.Compare(a.spec.Name, b.spec.Name))
	})
	for i := range list[min(1, len(list)):] {
		if name := list[i].spec.Name; name == list[i+1].spec.Name {
			return Set{}, fmt.Errorf("two tools are named %q", name)
		}
	}
	return setOf(list), nil
}

// Get finds a tool by name. One that is gone is not found.
func (s Set) Get(name string) (Tool, bool) {
	i, ok := s.byName[name]
	if !ok || s.list[i].gone {
		return nil, false
	}
	return s.list[i].Tool, true
}

// Names lists the tools that are there, in order.
func (s Set) Names() []string {
	out := make([]string, 0, len(s.list))
	for _, e := range s.list {
		if !e.gone {
			out = append(out, e.spec.Name)
		}
	}
	return out
}

// Specs lists what the model is told, in order, with tools that are gone. It
// is worked out once for a set, and must not be changed.
func (s Set) Specs() []llm.Spec { return slices.Clip(s.specs) }

// Only returns the tools for which keep is true.
func (s Set) Only(keep func(name string) bool) Set {
	var list []entry
	for _, e := range s.list {
		if keep(e.spec.Name) {
			list = append(list, e)
		}
	}
	return setOf(list)
}

// Map returns the set with each tool replaced by what f makes of it. f must
// keep names.
func (s Set) Map(f func(Tool) Tool) Set {
	list := slices.Clone(s.list)
	for i, e := range list {
		t := f(e.Tool)
		list[i] = entry{Tool: t, spec: t.Spec(), gone: e.gone}
	}
	return setOf(list)
}

// Then is the set of a session that had s and has next from now on, and what
// differs. Providers keep what they have read of a request as far as it stays
// the same, so nothing that s lists moves: what came is listed behind it, and
// what is gone stays listed. A tool that now describes itself in other words
// takes its old place.
func (s Set) Then(next Set) (now Set, added, removed []string) {
	list := slices.Clone(s.list)
	for i, e := range list {
		j, there := next.byName[e.spec.Name]
		there = there && !next.list[j].gone
		switch {
		case there:
			list[i] = next.list[j]
			if e.gone {
				added = append(added, e.spec.Name)
			}
		case !e.gone:
			list[i].gone = true
			removed = append(removed, e.spec.Name)
		}
	}
	for _, e := range next.list {
		if _, listed := s.byName[e.spec.Name]; !listed && !e.gone {
			list = append(list, e)
			added = append(added, e.spec.Name)
		}
	}
	return setOf(list), added, removed
}

func isMCP(name string) bool { return strings.HasPrefix(name, "mcp__") }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
