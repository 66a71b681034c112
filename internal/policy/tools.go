package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// known are the tools that a rule can name: those of adze, what servers ask of people
// and models (McpElicitation, McpSampling), what commands in the sandbox want
// (SandboxNetworkAccess, SandboxKeep), and those of other agents whose settings are
// read. MCP tools cannot be known before their servers are asked.
var known = []string{
	"Agent", "AskUserQuestion", "Bash", "BashOutput", "CallTool", "Edit", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep", "KillShell", "LS", "ListAgents", "ListMcpResources", "ListMcpResourcesTool", "MergeWorktrees",
	"McpElicitation", "McpSampling", "Monitor", "MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "Read", "ReadMcpResource", "ReadMcpResourceTool", "SandboxKeep", "SandboxNetworkAccess", "SendMessage", "Skill", "Sleep", "SlashCommand", "StructuredOutput", "Task", "TaskOutput", "TaskStop", "TodoRead", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write",
	"CronCreate", "CronDelete", "CronList", "ProposeGoal", "ScheduleWakeup", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate",
	"TeamCreate", "TeamDelete",
}

// otherNames are those by which files for other agents know tools of adze: of one that is
// theirs under another name, and of one that they have not, the tool that does the same. The
// names are those of Claude Code 2.1.332 (its SDK's sdk-tools.d.ts, 2026-11), which has MultiEdit no
// more, and its older ones.
var otherNames = map[string][]string{
	"Agent": {"Task"}, "TaskOutput": {"BashOutput"}, "TaskStop": {"KillShell", "KillBash"}, "MultiEdit": {"Edit"},
	"ListMcpResources": {"ListMcpResourcesTool"}, "ReadMcpResource": {"ReadMcpResourceTool"},
}

// Tools lists the names of tools that a rule can begin with.
func Tools() []string { return slices.Clone(known) }

// Names are the names by which lists and matchers may mean a tool: its own first, then those
// that files for other agents have for it.
func Names(tool string) []string { return append([]string{tool}, otherNames[tool]...) }

// Known reports whether a rule can name this tool.
func Known(tool string) bool {
	return strings.HasPrefix(tool, "mcp__") || slices.Contains(known, tool) || slices.Contains(elsewhere, tool)
}

// Dead says why a rule can never match anything, "" when it can.
func Dead(r Rule) string {
	switch {
	case !Known(r.Tool):
		return fmt.Sprintf("there is no tool %q", r.Tool)
	case shellTool(r.Tool):
		return deadCommand(r)
	case family(r.Tool) == "Read" || family(r.Tool) == "Edit":
		if r.Effect != Allow && pathList(r.Spec) {
			return "this rule can never match: it names several paths; write a rule for each"
		}
		return deadPath(r.Spec, onWindows)
	case r.Tool == "WebFetch":
		if r.Spec != "" && !strings.HasPrefix(r.Spec, "domain:") {
			return "this rule can never match: WebFetch takes domain:host"
		}
	case strings.HasPrefix(r.Tool, "mcp__"):
		return deadMCP(r)
	case r.Spec != "" && !slices.Contains([]string{"Read", "Edit", "Agent", "SendMessage", "Skill", "WebSearch", "Workflow", "SlashCommand"}, family(r.Tool)):
		return "this rule can never match: " + r.Tool + " takes nothing in parentheses"
	}
	return ""
}

// pathList reports several paths with commas between them.
func pathList(spec string) bool {
	parts := strings.Split(spec, ",")
	for _, p := range parts {
		if p = strings.TrimSpace(p); p == "" || !strings.ContainsAny(p[:1], "./~*$") && !strings.ContainsAny(p, "/*") || strings.ContainsAny(p, "{}[]") {
			return false
		}
	}
	return len(parts) > 1
}

// miswritten says why the text of a rule that forbids or asks is no command, though it
// could be read as one.
func miswritten(r Rule) string {
	s := r.Spec
	should := func(text string) string { return "; commands that begin so are " + r.Tool + "(" + text + ":*)" }
	for _, end := range []string{":＊", "：*", "：＊"} {
		if head, ok := strings.CutSuffix(s, end); ok {
			return "this rule can never match: its colon or star is a full-width one" + should(head)
		}
	}
	if head, ok := strings.CutSuffix(strings.Trim(s, "\"'`"), ":*"); ok && len(s) > len(head)+2 && s[0] == s[len(s)-1] && !strings.ContainsAny(head, "\"'`") {
		return "this rule can never match: the quotes around it belong to the command" + should(head)
	}
	if strings.Contains(s, ":*\n") {
		return "this rule can never match: it holds several lines; write a rule for each command"
	}
	if parts := strings.Split(s, ", "); len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return !strings.HasSuffix(p, "*") || strings.ContainsAny(p, "\"'") }) {
		return "this rule can never match what it means: it names several commands; write a rule for each"
	}
	return ""
}

func deadCommand(r Rule) string {
	if functionOf(r.Spec).name != "" {
		if r.Effect == Allow {
			return "this rule can never match: it is a function, and no command"
		}
		return ""
	}
	if r.Effect != Allow {
		if why := miswritten(r); why != "" {
			return why
		}
	}
	all := readings(r.Spec, r.Effect != Allow, nil)
	why := ""
	for _, one := range all {
		bad := one.bad
		for _, s := range one.steps {
			if bad == "" {
				bad = deadStep(r, s.commandPattern)
			}
		}
		if bad == "" {
			return ""
		}
		why = cmp.Or(why, bad)
	}
	return why
}

// NamesHome reports whether a rule speaks of the home folder.
func NamesHome(r Rule) bool {
	return strings.HasPrefix(strings.TrimLeft(r.Spec, "\"'"), "~") || shellTool(r.Tool) && strings.Contains(r.Spec, " ~") || strings.Contains(r.Spec, "$HOME") || strings.Contains(r.Spec, "${HOME}")
}

// deadStep says why one command of a rule can match nothing.
func deadStep(r Rule, p commandPattern) string {
	words := p.words()
	if len(words) == 0 || strings.ContainsAny(words[0], `/\`) {
		return ""
	}
	if at := strings.IndexAny(words[0], "{}^!"); r.Effect != Allow && len(words[0]) > 1 && (at >= 0 || strings.HasSuffix(words[0], ",")) {
		return fmt.Sprintf("this rule can never match: no program has the name %q; write a rule for each command", strings.ReplaceAll(words[0], string(star), "*"))
	}
	if name, _, colon := strings.Cut(words[0], ":"); colon {
		if strings.HasSuffix(words[0], ":"+string(star)) { // of that, Lint says more
			return ""
		}
		if name == "" {
			return "this rule can never match: it names no program; every command is " + r.Tool
		}
		return "this rule can never match: no program has a colon in its name; commands that begin with " + name + " are " + r.Tool + "(" + name + ":*)"
	}
	if r.Effect == Allow && strings.IndexFunc(p.text(), unicode.IsSpace) >= 0 && strings.IndexFunc(p.text(), func(c rune) bool { return c > 0x7f && unicode.IsSpace(c) }) >= 0 {
		return "this rule can never match: a blank in it is no plain one"
	}
	return ""
}

// Wholly reports whether the rule speaks of every call of a tool.
func (r Rule) Wholly(tool string) bool {
	if shellTool(r.Tool) && r.Tool == tool {
		return compileCommand(r.Spec).any
	}
	return r.Spec == "" && r.names(tool)
}

// names reports whether the rule's tool is this one, or one that the same rules govern.
func (r Rule) names(tool string) bool {
	return r.Tool == tool || r.family() == family(tool) || slices.Contains(otherNames[tool], r.Tool)
}

// elsewhere are the tools of Claude Code 2.1.332 that adze has not (its SDK's sdk-tools.d.ts and
// BUILTIN_TOOL_NAMES, 2026-11), and older names of them: a list that names one is about a tool
// that nobody can call here. A rule can name it: a deny rule for it holds.
var elsewhere = []string{
	"Artifact", "Brief", "ClaudeDesign", "Config", "EnterWorktree", "ExitWorktree", "KillBash", "LSP", "ListPeers",
	"ObserverReport", "Projects", "ProposeGoal", "ProposeSkills", "PushNotification", "REPL", "ReadMcpResourceDir", "ReadNotifications", "RefreshMcpTools", "RemoteTrigger", "ReportFindings",
	"SendFeedback", "SendUserFile", "SendUserMessage", "SubagentHandback", "WaitForMcpServers",
}
