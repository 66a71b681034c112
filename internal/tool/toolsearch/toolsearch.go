// Package toolsearch is the tool by which a model loads tools that it was told
// of by name only, and the notice that tells it of them. Which tools those are, the
// set of the request says (tool.Set); the package keeps nothing.
package toolsearch

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/tool"
)

//go:embed toolsearch.md
var text string

// Name is what the tool is called.
const Name = "ToolSearch"

// Bounds of a search.
const (
	defaultResults = 5
	maxResults     = 50
	maxQuery       = 2_000  // bytes
	maxLoaded      = 60_000 // bytes of descriptions and schemas that one call loads, but for the first tool
	maxAbout       = 120    // bytes of a description in the result
	maxOthers      = 10     // tools that match as well and are named
)

type input struct {
	Query string `json:"query"`
	Max   int    `json:"max_results,omitzero" jsonschema:"default 5"`
}

// New returns ToolSearch.
func New() tool.Tool {
	return tool.New(tool.Spec{Name: Name, Description: strings.TrimSpace(text), Loads: true}, plan, run)
}

func plan(in input, _ tool.Env) (tool.Plan, error) {
	if err := in.check(); err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{
		Actions: []policy.Action{policy.None{}}, Parallel: true, Fold: "search",
		Title: "Load tools: " + clip.Line(clip.Visible(in.Query), 100),
	}, nil
}

func (in input) check() error {
	switch {
	case strings.TrimSpace(in.Query) == "":
		return fmt.Errorf(`field "query": it is empty; give select:NAME, or words`)
	case len(in.Query) > maxQuery:
		return fmt.Errorf(`field "query": %d bytes; at most %d`, len(in.Query), maxQuery)
	case in.Max < 0 || in.Max > maxResults:
		return fmt.Errorf(`field "max_results": %d; from 1 to %d`, in.Max, maxResults)
	}
	return nil
}

func run(_ context.Context, in input, env tool.Env) (tool.Result, error) {
	if err := in.check(); err != nil {
		return tool.Errorf("%s", err), nil
	}
	all := env.Tools.Named()
	found, others, missing := search(all, in.Query, cmp.Or(in.Max, defaultResults))
	var res tool.Result
	var out strings.Builder
	var loaded []llm.Spec
	size := 0
	for _, s := range found {
		how := ""
		if _, not := env.Tools.Unloaded(s.Name); !not {
			how = " (you have it already)"
		} else if size += len(s.Description) + len(s.Schema); size > maxLoaded && len(loaded) > 0 {
			how = " (not loaded: the result would be too long; select it in another call)"
		} else {
			loaded = append(loaded, s)
		}
		fmt.Fprintf(&out, "\n%s%s: %s", s.Name, how, about(s))
	}
	switch {
	case len(found) == 0 && len(missing) == 0:
		fmt.Fprintf(&out, "\nNo tool matches %q.%s", clip.Line(clip.Visible(in.Query), 200), overview(all))
		res.IsErr = true
	case len(loaded) > 0:
		res.Effects = []effect.Effect{effect.Loaded{Tools: loaded}}
		res.Text = "You can call these now:"
	}
	names := namesOf(all)
	for _, name := range missing {
		fmt.Fprintf(&out, "\nThere is no tool %q to load%s.", clip.Line(clip.Visible(name), 100), near.Hint(name, names))
		res.IsErr = len(found) == 0
	}
	if len(others) > 0 {
		fmt.Fprintf(&out, "\nThese match too, and are not loaded: %s", strings.Join(others[:min(len(others), maxOthers)], ", "))
		if n := len(others) - maxOthers; n > 0 {
			fmt.Fprintf(&out, " and %d more", n)
		}
	}
	res.Text = strings.TrimPrefix(res.Text+out.String(), "\n")
	return res, nil
}

// about is a description in a line.
func about(s llm.Spec) string {
	return clip.Line(clip.Visible(strings.Join(strings.Fields(s.Description), " ")), maxAbout)
}

// overview says what there is to look for.
func overview(all []llm.Spec) string {
	if len(all) == 0 {
		return " There is nothing to load: every tool is in your list."
	}
	return " There are:\n" + names(namesOf(all))
}

func namesOf(all []llm.Spec) (out []string) {
	for _, s := range all {
		out = append(out, s.Name)
	}
	return out
}

// search finds tools: those to load, best first, names of more that match, and
// names that were asked for and are not there.
func search(all []llm.Spec, query string, most int) (found []llm.Spec, others, missing []string) {
	query = strings.TrimSpace(query)
	list, selects := strings.CutPrefix(query, "select:")
	if !selects {
		if i := slices.IndexFunc(all, func(s llm.Spec) bool { return s.Name == query }); i >= 0 {
			return all[i : i+1], nil, nil
		}
		return ranked(all, words(query), most)
	}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		s, ok := pick(all, name)
		switch {
		case !ok:
			missing = append(missing, name)
		case slices.ContainsFunc(found, func(f llm.Spec) bool { return f.Name == s.Name }):
		case len(found) == maxResults:
			others = append(others, s.Name)
		default:
			found = append(found, s)
		}
	}
	return found, others, missing[:min(len(missing), maxOthers)]
}

// pick finds the tool that a name means: letters count in either case, and the
// name that a server gave it will do where only one has it.
func pick(all []llm.Spec, name string) (llm.Spec, bool) {
	for _, same := range []func(s string) bool{
		func(s string) bool { return s == name },
		func(s string) bool { return strings.EqualFold(s, name) },
		func(s string) bool { _, own := split(s); return strings.EqualFold(own, name) },
	} {
		var hit []llm.Spec
		for _, s := range all {
			if same(s.Name) {
				hit = append(hit, s)
			}
		}
		if len(hit) == 1 {
			return hit[0], true
		}
	}
	return llm.Spec{}, false
}

// A word is one of a query.
type word struct {
	s    string
	must bool
}

func words(query string) (out []word) {
	for f := range strings.FieldsSeq(strings.ToLower(query)) {
		s, must := strings.CutPrefix(f, "+")
		if s = strings.Trim(s, `"',.;:()`); s != "" {
			out = append(out, word{s, must})
		}
	}
	return out
}

// What a word counts where it is found.
const (
	inName    = 12 // one of the words of the name
	likeName  = 6  // a part of one
	inServer  = 5
	inAbout   = 3
	likeAbout = 1
	inArgs    = 2
)

// ranked are the tools in which all that must be there is, by how much of the
// rest they have, and among equals in the order they have.
func ranked(all []llm.Spec, query []word, most int) (found []llm.Spec, others, missing []string) {
	type hit struct {
		s llm.Spec
		n int
	}
	var hits []hit
	for _, s := range all {
		e, n, ok := entryOf(s), 0, true
		for _, w := range query {
			points := e.score(w.s)
			n += points
			ok = ok && (points > 0 || !w.must)
		}
		if ok && n > 0 {
			hits = append(hits, hit{s, n})
		}
	}
	order.By(hits, func(a, b hit) int { return cmp.Compare(b.n, a.n) })
	for i, h := range hits {
		if i < most {
			found = append(found, h.s)
		} else {
			others = append(others, h.s.Name)
		}
	}
	return found, others, nil
}

// An entry is a tool as it is searched.
type entry struct {
	whole        string
	name, server []string
	about        []string
	args         []string
}

func entryOf(s llm.Spec) entry {
	server, own := split(s.Name)
	e := entry{whole: strings.ToLower(own), name: parts(own), server: parts(server), about: parts(s.Description)}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(s.Schema, &schema) == nil {
		for _, k := range slices.Sorted(maps.Keys(schema.Properties)) {
			e.args = append(e.args, parts(k)...)
		}
	}
	return e
}

// score is what a word of a query counts. Words that begin alike are alike, so
// that "issues" finds issue.
func (e entry) score(w string) (n int) {
	like := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool {
			return len(w) > 2 && strings.Contains(p, w) || len(p) > 2 && strings.HasPrefix(w, p)
		})
	}
	switch {
	case w == e.whole || slices.Contains(e.name, w):
		n += inName
	case like(e.name) || len(w) > 2 && strings.Contains(e.whole, w):
		n += likeName
	}
	if slices.Contains(e.server, w) {
		n += inServer
	}
	switch {
	case slices.Contains(e.about, w):
		n += inAbout
	case like(e.about):
		n += likeAbout
	}
	if slices.Contains(e.args, w) {
		n += inArgs
	}
	return n
}

// parts are the words of a text in small letters; of createIssue there are two.
func parts(s string) (out []string) {
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	small := false
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		default:
			if unicode.IsUpper(r) && small {
				end()
			}
			b.WriteRune(unicode.ToLower(r))
		}
		small = unicode.IsLower(r)
	}
	end()
	return out
}

// split takes a name apart into the server that the tool is of, "" for none, and
// its own name there.
func split(name string) (server, own string) {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if server, own, ok := strings.Cut(rest, "__"); ok {
			return server, own
		}
	}
	return "", name
}
