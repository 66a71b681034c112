package policy

import (
	"slices"
	"strings"
)

// Bounds of the names that models call tools of MCP servers by, in characters: of the whole
// name, which providers bound, and of the server's part. A longer name is no model's.
const (
	MaxToolName   = 64
	MaxServerPart = 32
)

// Nameable is a name in the characters that providers take in names of tools.
func Nameable(name string) string {
	return strings.Map(func(c rune) rune {
		if notOfModels(c) {
			return '_'
		}
		return c
	}, name)
}

// notOfModels reports a character that stands in no name that models use.
func notOfModels(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
}

func fullName(server, tool string) string { return "mcp__" + server + "__" + tool }

// Names are all full names of a server's tool: that by which models call it, then those of
// its server's settings and its server's own word, whole and in the characters that models'
// names have. Where effect is Allow, a name that could be another tool's is not among them:
// one that could be a model's name, that another server has too, or that does not say where
// the server's ends.
func (c Call) Names(effect Effect) (out []string) {
	servers, tools := c.words(effect)
	for _, s := range servers {
		for _, t := range tools {
			out = append(out, fullName(s, t))
		}
	}
	return out
}

// Published is the full name by which files that were not written for adze mean the tool,
// that of models where that one could be another tool's.
func (c Call) Published() string {
	name := fullName(c.Server, c.Tool)
	for _, n := range c.Names(Allow) {
		if !strings.ContainsFunc(n, notOfModels) && len(n) > len(name) {
			name = n
		}
	}
	return name
}

// words are the servers' and the tools' parts of Names.
func (c Call) words(e Effect) (servers, tools []string) {
	servers, tools = []string{c.Server}, []string{c.Tool}
	real := fullName(c.RealServer, c.RealTool)[len("mcp__"):]
	clear := !c.Shared && strings.Index(real, "__") == strings.LastIndex(real, "__")
	add := func(to *[]string, word string, long bool) {
		if word != "" && (e != Allow || clear && (long || strings.ContainsFunc(word, notOfModels))) && !slices.Contains(*to, word) {
			*to = append(*to, word)
		}
	}
	for _, s := range []string{c.RealServer, Nameable(c.RealServer)} {
		add(&servers, s, len(s) > MaxServerPart)
	}
	add(&tools, c.RealTool, len(fullName(c.Server, c.RealTool)) > MaxToolName)
	if e != Allow {
		add(&tools, Nameable(c.RealTool), false)
	}
	return servers, tools
}

// WholeServer is a text that names tools of MCP servers without the ":*" of "mcp__server:*",
// by which files mean all tools of a server.
func WholeServer(text string) string {
	if strings.HasPrefix(text, "mcp__") {
		return strings.TrimSuffix(text, ":*")
	}
	return text
}

// deadMCP says why a rule for tools of MCP servers can match nothing.
func deadMCP(r Rule) string {
	rest := strings.TrimPrefix(WholeServer(r.Tool), "mcp__")
	switch {
	case r.Spec != "":
		return "this rule can never match: a rule for an MCP tool has no parentheses; write mcp__server__tool"
	case rest == "" || strings.HasPrefix(rest, "__"):
		return "this rule can never match: it names no server; write mcp__server or mcp__server__tool, mcp__* for all"
	case strings.HasSuffix(rest, "__"):
		return "this rule can never match: it names no tool; all tools of the server are mcp__" + strings.TrimRight(rest, "_")
	case strings.Contains(rest, ":") && !strings.HasPrefix(rest, "plugin:"): // of plugins' servers the names have it
		return "this rule can never match: a colon parts no server from its tool; write mcp__" + strings.Replace(rest, ":", "__", 1)
	}
	return ""
}

// matchMCP knows mcp__server, mcp__server:*, mcp__server__* and mcp__server__tool, by all
// names (see Call.Names).
func matchMCP(rule Rule, e Effect, a Call) bool {
	if !strings.HasPrefix(rule.Tool, "mcp__") || rule.Spec != "" {
		return false
	}
	servers, _ := a.words(e)
	want := WholeServer(rule.Tool)
	return slices.ContainsFunc(servers, func(s string) bool { return want == "mcp__"+s }) ||
		slices.ContainsFunc(a.Names(e), func(name string) bool { return wordMatch(want, name) })
}
