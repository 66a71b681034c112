package tool

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/order"
)

// A Set is an ordered, immutable collection of tools with unique names:
// built-ins by name, then MCP tools by name, so that the same tools always
// give the same bytes. A set that grew keeps the order it had and lists what
// came behind it, for the same reason; see Then. A set with deferred tools tells the
// model of some tools by name only; see Defer.
type Set struct {
	list   []entry
	specs  []llm.Spec // what is listed
	byName map[string]int
	load   bool       // the tool that loads others is listed
	loaded []llm.Spec // of the tools that are named only, as the model was told of them
}

// An entry is a tool with what it was when it was asked, once.
type entry struct {
	Tool         // nil for one that an earlier run listed, and that is not there
	spec  Spec   // what it is now
	told  string // how a list describes it that was sent, when spec has other words; else ""
	named bool   // only its name is told, by somebody else
	gone  bool   // listed, so that the bytes stay, and not there any more
}

// listed is what the model is told of the tool.
func (e entry) listed() llm.Spec {
	return llm.Spec{Name: e.spec.Name, Description: cmp.Or(e.told, e.spec.Description), Schema: e.spec.Schema, Loads: e.spec.Loads}
}

// again is the tool as next has it, in the place of e. The tool of a server that
// has only other words for itself stays listed with the old ones.
func (e entry) again(next entry) entry {
	next.named = e.named
	if was := e.listed(); !e.named && isMCP(was.Name) && was.Description != "" && was.Description != next.spec.Description && bytes.Equal(was.Schema, next.spec.Schema) {
		next.told = was.Description
	}
	return next
}

// size is how long the description of a tool is, in tokens of four bytes.
func (e entry) size() int {
	return (len(e.spec.Name) + len(e.spec.Description) + len(e.spec.Schema)) / 4
}

// setOf keeps the order of entries with unique names.
func setOf(list []entry, load bool, loaded []llm.Spec) Set {
	s := Set{list: list, specs: make([]llm.Spec, 0, len(list)+len(loaded)), byName: make(map[string]int, len(list)), load: load}
	for i, e := range list {
		s.byName[e.spec.Name] = i
		if e.named || !load && e.spec.Loads {
			continue
		}
		l := e.listed()
		if names := s.Seldom(); l.Loads && len(names) > 0 {
			l.Description += "\nThese are there: " + strings.Join(names, ", ")
		}
		s.specs = append(s.specs, l)
	}
	return s.Loaded(loaded)
}

// Seldom are the tools of which the one that loads others tells the names.
func (s Set) Seldom() (names []string) {
	for _, e := range s.list {
		if e.named && e.spec.Seldom && !e.gone {
			names = append(names, e.spec.Name)
		}
	}
	return names
}

// Earlier is the set that an earlier run of a session listed, in the form of Told, with
// the tools that the model knows of in other ways, and those that were gone. Then makes
// of it the set of this run.
func Earlier(listed []llm.Spec, named, gone []string) Set {
	list := make([]entry, 0, len(listed)+len(named))
	there := make(map[string]bool, cap(list))
	load := false
	add := func(l llm.Spec, named bool) {
		if !there[l.Name] {
			there[l.Name], load = true, load || l.Loads
			list = append(list, entry{spec: Spec{Name: l.Name, Description: l.Description, Schema: l.Schema, Loads: l.Loads}, named: named, gone: slices.Contains(gone, l.Name)})
		}
	}
	for _, l := range listed {
		add(l, false)
	}
	for _, name := range named {
		add(llm.Spec{Name: name}, true)
	}
	return setOf(list, load, nil)
}

// Told is what a later run needs to know of what the set lists, in order: of adze's own
// tools the names, those of servers whole. What the model loaded is not among it.
func (s Set) Told() []llm.Spec {
	out := slices.Clone(s.specs[:len(s.specs)-len(s.loaded)])
	for i, l := range out {
		if !isMCP(l.Name) {
			out[i] = llm.Spec{Name: l.Name, Loads: l.Loads}
		}
	}
	return out
}

// Reworded are the tools that are listed in other words than they have now, as they
// describe themselves now.
func (s Set) Reworded() (out []llm.Spec) {
	for _, e := range s.list {
		if e.told != "" && !e.gone {
			out = append(out, llm.Spec{Name: e.spec.Name, Description: e.spec.Description})
		}
	}
	return out
}

// Loaded is the set when the model has loaded these tools, as it was told of
// them. Those that are listed whole are left out.
func (s Set) Loaded(list []llm.Spec) Set {
	whole := s.specs[:len(s.specs)-len(s.loaded)]
	s.specs, s.loaded = slices.Clip(slices.Clone(whole)), nil
	for _, l := range list {
		if i, there := s.byName[l.Name]; there && !s.list[i].named {
			continue
		}
		l.Deferred = true
		s.specs, s.loaded = append(s.specs, l), append(s.loaded, l)
	}
	return s
}

// Defer decides which tools of a new set the model is told of whole. Those that
// may be deferred are named only when their descriptions have more than limit tokens
// together, and always when more tools may come: then the tool that loads them is
// listed from the beginning. A set without such a tool has all of them whole.
func (s Set) Defer(limit int, more bool) Set {
	loader, size := s.sized()
	seldom := slices.ContainsFunc(s.list, func(e entry) bool { return e.spec.Seldom && !e.gone })
	if !loader || !more && !seldom && size <= limit {
		return s
	}
	list := slices.Clone(s.list)
	for i := range list {
		list[i].named = list[i].spec.Seldom || list[i].spec.Deferrable && size > limit
	}
	return setOf(list, true, s.loaded)
}

// Anew is the set for a model that was told of nothing yet: the tools that are
// there, all of them whole until Defer decides otherwise.
func (s Set) Anew() Set {
	list := slices.Clone(s.list)
	for i := range list {
		list[i].named, list[i].told = false, ""
	}
	return setOf(slices.DeleteFunc(list, func(e entry) bool { return e.gone }), false, nil)
}

// sized reports whether a set can load tools, and how many tokens the
// descriptions have that may be deferred and are listed.
func (s Set) sized() (loader bool, size int) {
	for _, e := range s.list {
		loader = loader || e.spec.Loads && !e.gone
		if e.spec.Deferrable && !e.named {
			size += e.size()
		}
	}
	return loader, size
}

// Named are the tools that are there and that the model was not told of whole:
// by name only, or by loading them.
func (s Set) Named() (out []llm.Spec) {
	for _, e := range s.list {
		if e.named && !e.gone {
			out = append(out, llm.Spec{Name: e.spec.Name, Description: e.spec.Description, Schema: e.spec.Schema})
		}
	}
	return out
}

// Unloaded finds a tool that is there, is named only, and was not loaded.
func (s Set) Unloaded(name string) (llm.Spec, bool) {
	i, there := s.byName[name]
	if !there || !s.list[i].named || s.list[i].gone || slices.ContainsFunc(s.loaded, func(l llm.Spec) bool { return l.Name == name }) {
		return llm.Spec{}, false
	}
	e := s.list[i]
	return llm.Spec{Name: e.spec.Name, Description: e.spec.Description, Schema: e.spec.Schema}, true
}

// Listed are the names of the tools that are there and can be called at once.
func (s Set) Listed() (out []string) {
	for _, l := range s.specs {
		if i, there := s.byName[l.Name]; there && !s.list[i].gone {
			out = append(out, l.Name)
		}
	}
	return out
}

// NewSet refuses two tools of one name. Each is asked once what it is.
func NewSet(tools ...Tool) (Set, error) {
	list := make([]entry, 0, len(tools))
	for _, t := range tools {
		list = append(list, entry{Tool: t, spec: t.Spec()})
	}
	order.By(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(btoi(isMCP(a.spec.Name)), btoi(isMCP(b.spec.Name))), cmp.Compare(a.spec.Name, b.spec.Name))
	})
	for i := range list[min(1, len(list)):] {
		if name := list[i].spec.Name; name == list[i+1].spec.Name {
			return Set{}, fmt.Errorf("two tools are named %q", name)
		}
	}
	return setOf(list, false, nil), nil
}

// Get finds a tool by name. One that is gone is not found.
func (s Set) Get(name string) (Tool, bool) {
	i, ok := s.byName[name]
	if !ok || s.list[i].gone {
		return nil, false
	}
	return s.list[i].Tool, true
}

// Names lists the tools that are there, in order, however the model is told of them.
func (s Set) Names() []string {
	out := make([]string, 0, len(s.list))
	for _, e := range s.list {
		if !e.gone && (s.load || !e.spec.Loads) {
			out = append(out, e.spec.Name)
		}
	}
	return out
}

// Files is what the tools that are there do with files, all together.
func (s Set) Files() (all FileUse) {
	for _, e := range s.list {
		if !e.gone {
			all |= e.spec.Files
		}
	}
	return all
}

// Specs lists what the model is told, in order, with tools that are gone, and
// last those that it loaded. It is worked out once for a set, and must not be changed.
func (s Set) Specs() []llm.Spec { return slices.Clip(s.specs) }

// Only returns the tools for which keep is true of the name.
func (s Set) Only(keep func(name string) bool) Set {
	return s.Meant(func(names ...string) bool { return keep(names[0]) })
}

// Meant returns the tools for which keep is true of all names that lists may mean them by,
// their own first.
func (s Set) Meant(keep func(names ...string) bool) Set {
	var list []entry
	for _, e := range s.list {
		if keep(append([]string{e.spec.Name}, e.spec.Others...)...) {
			list = append(list, e)
		}
	}
	return setOf(list, s.load, s.loaded)
}

// Map returns the set with each tool replaced by what f makes of it. f must
// keep names.
func (s Set) Map(f func(Tool) Tool) Set {
	list := slices.Clone(s.list)
	for i, e := range list {
		if e.Tool == nil {
			continue
		}
		t := f(e.Tool)
		list[i] = entry{Tool: t, spec: t.Spec(), told: e.told, named: e.named, gone: e.gone}
	}
	return setOf(list, s.load, s.loaded)
}

// Then is the set of a session that had s and has next from now on, and what
// differs. Providers keep what they have read of a request as far as it stays
// the same, so nothing that s lists moves: what came is listed behind it, and
// what is gone stays listed. A tool that takes other arguments now
// takes its old place; of a server's tool that has only other words for itself, see Reworded.
// What came and may be deferred is named only where s can
// load it, or when there is more of it now than limit tokens; see Defer.
func (s Set) Then(next Set, limit int) (now Set, added, removed []string) {
	list := slices.Clone(s.list)
	for i, e := range list {
		j, there := next.byName[e.spec.Name]
		there = there && !next.list[j].gone
		switch {
		case there:
			list[i] = e.again(next.list[j])
			if e.gone {
				added = append(added, e.spec.Name)
			}
		case !e.gone:
			list[i].gone = true
			removed = append(removed, e.spec.Name)
		}
	}
	list = slices.DeleteFunc(list, func(e entry) bool { return e.Tool == nil && len(e.spec.Schema) == 0 }) // nobody knows what was said of it
	was := len(list)
	for _, e := range next.list {
		if _, listed := s.byName[e.spec.Name]; !listed && !e.gone {
			list = append(list, e)
			if !e.spec.Loads {
				added = append(added, e.spec.Name)
			}
		}
	}
	load := s.load
	if !load {
		if loader, size := (Set{list: list}).sized(); loader && size > limit {
			load = true
			list, was = lastly(list, was)
		}
	}
	for i := range list[was:] {
		list[was+i].named = load && (list[was+i].spec.Deferrable || list[was+i].spec.Seldom)
	}
	return setOf(list, load, s.loaded), added, removed
}

// lastly moves the tool that loads others behind what was listed, which are the
// first n, when it is one of those.
func lastly(list []entry, n int) ([]entry, int) {
	i := slices.IndexFunc(list[:n], func(e entry) bool { return e.spec.Loads })
	if i < 0 {
		return list, n
	}
	loader := list[i]
	list = slices.Insert(slices.Delete(list, i, i+1), n-1, loader)
	return list, n - 1
}

func isMCP(name string) bool { return strings.HasPrefix(name, "mcp__") }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
