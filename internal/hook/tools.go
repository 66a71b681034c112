package hook

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Shapes of matchers that name tools: in one group from the first to the last character, and
// as a permission rule.
var (
	grouped = pattern.Lazy(`^\^?\(?(?:\?:)?([A-Za-z_|]+)\)?\$?$`)
	ruled   = pattern.Lazy(`^([A-Za-z]+)\((.+)\)$`)
)

// compileTools reads a matcher of an event that is about calls. Beside what compile reads, a
// name of a tool in other case means that tool, and a permission rule is its tool and the
// rule as "if" has it. A text that matches a tool as a pattern is a pattern.
func compileTools(text string, at Place) (m matcher, err error) {
	if rules, list := ruleParts(text); rules != nil {
		var read []string
		for _, s := range rules {
			r, err := policy.ParseRule(s, policy.Deny, policy.User, at.From, "")
			if err != nil {
				return m, err
			}
			if why := policy.Dead(r); why != "" {
				return m, fmt.Errorf("the rule %q: %s", s, why)
			}
			m.rules = append(m.rules, r)
			read = append(read, fmt.Sprintf("%s with \"if\": %q", r.Tool, s))
		}
		m.list, m.named = list, list
		m.said = fmt.Sprintf("the matcher %q has permission rules; it is read as %s", text, strings.Join(append(read, list...), ", or "))
		return m, nil
	}
	words := text
	if g := grouped().FindStringSubmatch(text); g != nil {
		words = g[1]
	} else if !listed().MatchString(text) {
		return compile(text)
	}
	read := text
	for _, w := range split(words) {
		to := tool(w)
		if m.named = append(m.named, to); to != w {
			read = regexp.MustCompile(`\b`+regexp.QuoteMeta(w)+`\b`).ReplaceAllLiteralString(read, to)
		}
	}
	named := m.named
	m, err = compile(read)
	if m.named = named; read != text {
		m.said = fmt.Sprintf("the matcher %q is read as %q: names of tools are written so", text, read)
	}
	return m, err
}

// ruleParts are the rules in a matcher that has some, and the tools that it names without
// one; nil when it has none.
func ruleParts(text string) (rules, list []string) {
	depth := 0
	for _, part := range strings.FieldsFunc(text, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth == 0 && (c == '|' || c == ',')
	}) {
		part = strings.TrimSpace(part)
		if listed().MatchString(part) {
			list = append(list, tool(part))
			continue
		}
		p := ruled().FindStringSubmatch(part)
		if p == nil || !policy.Known(tool(p[1])) {
			return nil, nil
		}
		if re, err := regexp.Compile(part); err == nil && slices.ContainsFunc(policy.Tools(), re.MatchString) {
			return nil, nil
		}
		rules = append(rules, tool(p[1])+"("+p[2]+")")
	}
	return rules, list
}

// tool is the tool that a name in any case means, the name itself where there is none.
func tool(name string) string {
	if policy.Known(name) {
		return name
	}
	for _, t := range policy.Tools() {
		if strings.EqualFold(t, name) {
			return t
		}
	}
	return name
}

// Reading says how a matcher is read that is written in a way of its own, "" for others.
func (h Hook) Reading() string {
	if h.match.said == "" {
		return ""
	}
	return fmt.Sprintf("hooks of %s: %s", h.Event, h.match.said)
}

// Never says what of a matcher is the name of no tool, so that a hook never runs which
// people count on: a server of MCP alone, no more than the prefix of all, and, before calls,
// a tool that no agent program has. "" is nothing.
func (h Hook) Never() string {
	if !h.Event.Guards() {
		return h.noServer()
	}
	return cmp.Or(h.noServer(), h.noTool())
}

// noTool says which tools a matcher names that there are not, "" for none.
func (h Hook) noTool() string {
	for _, name := range h.match.named {
		if !policy.Known(name) {
			return fmt.Sprintf("hooks of %s: there is no tool %q%s", h.Event, name, near.Hint(name, policy.Tools()))
		}
	}
	return ""
}

// noServer says that a matcher means tools of MCP servers and is the name of none.
// A matcher without signs of a pattern is a whole name (code.claude.com/docs/en/hooks, "Match
// MCP tools").
func (h Hook) noServer() string {
	if h.Event.Subject() != "tool_name" {
		return ""
	}
	for _, name := range h.match.list {
		server, ok := strings.CutPrefix(name, "mcp__")
		if server = strings.TrimSuffix(server, "__"); !ok || strings.Contains(server, "__") {
			continue
		}
		if server == "" {
			return fmt.Sprintf("hooks of %s: the matcher %q is the name of no tool, so this hook never runs; \"mcp__.*\" is all tools of MCP servers", h.Event, h.Matcher)
		}
		return fmt.Sprintf("hooks of %s: the matcher %q is the name of no tool, so this hook never runs; \"mcp__%s__.*\" is all tools of that server", h.Event, h.Matcher, server)
	}
	return ""
}
