package hook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A matcher says what an event has to be about.
type matcher struct {
	all   bool
	list  []string
	expr  *regexp.Regexp
	rules []policy.Rule // each is about calls of its tool that do what it says
	named []string      // the tools that it names, in whatever form
	said  string        // how it is read, where that is not what it says
}

// listed is a matcher that names its subjects one by one.
var listed = pattern.Lazy(`^[A-Za-z0-9_\- ,|]+$`)

// compile reads a matcher: nothing or "*" is everything, words are a list that
// "|" and "," part, anything else a pattern that may match in any place. The
// patterns are RE2, so what only JavaScript knows is an error.
func compile(text string) (m matcher, err error) {
	switch {
	case text == "" || text == "*":
		return matcher{all: true}, nil
	case listed().MatchString(text):
		return matcher{list: split(text)}, nil
	}
	if m.expr, err = regexp.Compile(text); err != nil {
		return m, fmt.Errorf("it cannot be used as a pattern (RE2 syntax, without look-around and back references): %w", err)
	}
	return m, nil
}

// split parts what a matcher names one by one.
func split(text string) (list []string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == ',' }) {
		if w = strings.TrimSpace(w); w != "" {
			list = append(list, w)
		}
	}
	return list
}

func (m matcher) matches(subject string) bool {
	if m.expr != nil {
		return m.expr.MatchString(subject)
	}
	return m.all || slices.Contains(m.list, subject)
}

// A Set is the hooks of a session. It does not change.
type Set struct {
	by map[Event][]Hook // in the order of configuration
}

// NewSet makes a set of hooks, which run in this order where order counts.
func NewSet(hooks ...Hook) Set {
	s := Set{by: map[Event][]Hook{}}
	for _, h := range hooks {
		s.by[h.Event] = append(s.by[h.Event], h)
	}
	return s
}

// Any reports whether an event has hooks at all.
func (s Set) Any(e Event) bool { return len(s.by[e]) > 0 }

// Listed are the subjects that matchers of an event name one by one.
func (s Set) Listed(e Event) (out []string) {
	for _, h := range s.by[e] {
		out = append(out, h.match.list...)
	}
	return out
}

// All are the hooks of all events, in their order.
func (s Set) All() (out []Hook) {
	for _, e := range Events() {
		out = append(out, s.by[e]...)
	}
	return out
}

// A Scene is what an input does not say: whose doing it is, what a call would do,
// and what paths in rules count from.
type Scene struct {
	Agent   string // as in Common
	Actions []policy.Action
	Rules   policy.Rules // of which the folders count, not the list
}

// Matching are the hooks that an input is for, identical ones once.
func (s Set) Matching(in Input, at Scene) (out []Hook) {
	seen := map[string]bool{}
	for _, h := range s.by[in.Event()] {
		if h.Agent != "" && h.Agent != at.Agent || !h.matches(in.Subject(), at) || h.rule != nil && !at.does(*h.rule, in.Subject()) {
			continue
		}
		if names := h.names(in.Subject(), at); names != nil && strings.HasPrefix(in.Subject(), "mcp__") {
			h.as = names[max(0, slices.IndexFunc(names, h.match.knows))]
		}
		if k := h.identity(); !seen[k] {
			seen[k] = true
			out = append(out, h)
		}
	}
	return out
}

// names are what the subject of the hook's event may be called in its matcher: a tool of an
// MCP server by all of its names, first that of its settings and its server.
func (h Hook) names(subject string, at Scene) []string {
	if h.Event.Subject() == "tool_name" {
		for _, a := range at.Actions {
			if c, ok := a.(policy.Call); ok && c.Names(policy.Deny)[0] == subject {
				return append([]string{c.Published()}, c.Names(policy.Deny)...)
			}
		}
	}
	return h.Dialect.names(h.Event, subject)
}

// matches reports whether a subject is what the hook is about.
func (h Hook) matches(subject string, at Scene) bool {
	names := h.names(subject, at)
	return slices.ContainsFunc(names, h.match.matches) || slices.ContainsFunc(h.match.rules, func(r policy.Rule) bool {
		return slices.Contains(names, r.Tool) && at.does(r, subject)
	})
}

// identity is the same for hooks that would do the same.
func (h Hook) identity() string {
	return fmt.Sprintf("%#v\x00%s\x00%s\x00%s", h.Handler, h.Root, h.Data, h.Dialect)
}

// does reports whether a call does what a rule names: any part of it, as for a
// rule that denies.
func (at Scene) does(rule policy.Rule, tool string) bool {
	rules := at.Rules
	rules.List, rules.Protected, rules.Unsafe, rule.Root = []policy.Rule{rule}, nil, "", rules.Dir
	v := policy.Decide(rules, policy.Bypass, policy.Request{Tool: tool, Actions: at.Actions})
	switch v.Effect {
	case policy.Deny:
		return v.Rule == rule.Text()
	case policy.Ask: // it may do that, as far as can be seen: a rule that denies asks then, too
		return v.Check == policy.CheckOpaque || v.Check == policy.CheckDeniedBelow
	case policy.Allow:
	}
	return false
}
