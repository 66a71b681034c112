package wire

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// junk are words that models and servers write around the name of a tool: namespaces of
// their training ("functions.Bash", "default_api:Bash"), and marks of their templates that
// the server did not take away ("Bash<|channel|>commentary").
var junk = []string{
	"functions", "function", "tools", "tool", "default_api", "api", "namespace", "multi_tool_use", "repo_browser", "container",
	"channel", "commentary", "analysis", "final", "message", "constrain", "json", "code", "start", "end", "assistant", "to", "recipient", "call", "tool_call",
}

// toolNames are the names that calls may have.
type toolNames []string

func namesOf(r llm.Request, past Past) toolNames {
	names := slices.Clone(r.Names)
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	for _, t := range past.loaded() {
		names = append(names, t.Name)
	}
	return names
}

// real is the tool that a call by this name is one of: the name without what is junk around
// it, spelled as the tool is. A name that may be two tools, or none, stays.
func (n toolNames) real(name string) string {
	if slices.Contains(n, name) || name == "" || name == Dispatcher {
		return name
	}
	found := ""
	for _, token := range strings.FieldsFunc(name, func(r rune) bool { return strange(r) }) {
		tool := n.fold(token)
		for _, j := range junk {
			if rest, ok := strings.CutPrefix(token, j+"_"); ok && tool == "" {
				tool = n.fold(rest)
			}
		}
		switch {
		case tool == "" && !slices.Contains(junk, strings.ToLower(token)) && strings.Trim(token, "0123456789") != "":
			return name
		case tool != "" && found != "" && tool != found:
			return name
		case tool != "":
			found = tool
		}
	}
	if found == "" {
		return name
	}
	return found
}

// fold is the only name that differs from s in case at most, "" when there is none.
func (n toolNames) fold(s string) (found string) {
	if slices.Contains(n, s) {
		return s
	}
	for _, name := range n {
		if strings.EqualFold(name, s) && name != found {
			if found != "" {
				return ""
			}
			found = name
		}
	}
	return found
}
