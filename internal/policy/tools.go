package policy

import (
	"fmt"
	"slices"
	"strings"
)

// known are the tools that a rule can name: those of adze, what servers ask of people
// and models (McpElicitation, McpSampling), what commands in the sandbox want
// (SandboxNetworkAccess, SandboxKeep), and those of other agents whose settings are
// read. MCP tools cannot be known before their servers are asked.
var known = []string{
	"Agent", "AskUserQuestion", "Bash", "BashOutput", "CallTool", "Edit", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep", "KillShell", "LS", "ListMcpResources", "ListMcpResourcesTool",
	"McpElicitation", "McpSampling", "MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "Read", "ReadMcpResource", "ReadMcpResourceTool", "SandboxKeep", "SandboxNetworkAccess", "Skill", "SlashCommand", "StructuredOutput", "Task", "TaskOutput", "TodoRead", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Write",
}

// Tools lists the names of tools that a rule can begin with.
func Tools() []string { return slices.Clone(known) }

// Known reports whether a rule can name this tool.
func Known(tool string) bool {
	return strings.HasPrefix(tool, "mcp__") || slices.Contains(known, tool)
}

// Dead says why a rule can never match anything, "" when it can.
func Dead(r Rule) string {
	switch {
	case !Known(r.Tool):
		return fmt.Sprintf("there is no tool %q", r.Tool)
	case shellTool(r.Tool):
		return deadCommand(r)
	case family(r.Tool) == "Read" || family(r.Tool) == "Edit":
		return deadPath(r.Spec, onWindows)
	case r.Tool == "WebFetch":
		if r.Spec != "" && !strings.HasPrefix(r.Spec, "domain:") {
			return "this rule can never match: WebFetch takes domain:host"
		}
	case strings.HasPrefix(r.Tool, "mcp__"):
		if r.Spec != "" {
			return "this rule can never match: a rule for an MCP tool has no parentheses; write mcp__server__tool"
		}
	case r.Spec != "" && !slices.Contains([]string{"Read", "Edit", "Agent", "Skill", "WebSearch", "SlashCommand"}, family(r.Tool)):
		return "this rule can never match: " + r.Tool + " takes nothing in parentheses"
	}
	return ""
}

func deadCommand(r Rule) string {
	spec := strings.TrimSpace(r.Spec)
	if compileCommand(spec).any {
		return ""
	}
	words := splitRule(spec)
	for _, w := range words {
		switch w {
		case "&&", "||", ";", "|", "|&", "&", ">", ">>", "<":
			return "this rule can never match: each command of a list is matched by itself, and redirects are not part of it"
		}
	}
	if begins := splitRule(strings.TrimSuffix(spec, ":*")); len(begins) > 0 && !strings.ContainsAny(begins[0], `/\`) && !strings.Contains(spec, ":* ") { // of that, Lint says more
		if name, _, colon := strings.Cut(begins[0], ":"); colon {
			return "this rule can never match: no program has a colon in its name; commands that begin with " + name + " are " + r.Tool + "(" + name + ":*)"
		}
	}
	if isAssignment(words[0]) {
		return "this rule can never match: assignments before a command are not part of it"
	}
	return ""
}

// Wholly reports whether the rule speaks of every call of a tool.
func (r Rule) Wholly(tool string) bool {
	if shellTool(r.Tool) && r.Tool == tool {
		return compileCommand(r.Spec).any
	}
	return r.Spec == "" && family(r.Tool) == family(tool)
}
