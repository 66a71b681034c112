package skill

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// Dialects of definitions of agents: the programs whose files they are.
const (
	Codex       Dialect = "Codex"
	Copilot     Dialect = "Copilot"
	Gemini      Dialect = "Gemini"
	Antigravity Dialect = "Antigravity"
	Cursor      Dialect = "Cursor"
	Droid       Dialect = "Droid"
)

// A writing is how another program writes definitions. Fields and names that are not here
// are adze's own.
type writing struct {
	fields map[string]string // its fields, by adze's names for them
	idle   map[string]string // fields that have no effect here, and why
	// tools are its tools, in lower case unless that is another one, by adze's for them: several have
	// blanks between them.
	tools map[string]string
	mean  func(*theirs) // what names alone do not tell
}

// Tools of adze that others have as one.
const (
	shells   = "Bash BashOutput KillShell"
	edits    = "Edit MultiEdit"
	writes   = edits + " Write"
	searches = "Grep Glob"
	webs     = "WebFetch WebSearch"
)

const (
	oneTemperature = "adze leaves the temperature to the provider"
	noPlugins      = "plugins count for all sessions or none"
	anyPerson      = "a person can always begin a session as an agent (adze --agent)"
	forLists       = "it is for lists of that program"
)

// writings are those that are known, from the documentation of the programs, looked up in
// November 2026: learn.chatgpt.com/codex/subagents, docs.github.com (custom agents configuration),
// geminicli.com/docs/core/subagents, antigravity.google/docs/subagents, cursor.com/docs/agent/subagents,
// docs.factory.ai/cli/configuration/custom-droids; and src/features/subagents of dyoshikawa/rulesync.
func writings(of Dialect) writing {
	switch of {
	case Codex:
		return writing{
			fields: map[string]string{"model_reasoning_effort": "effort", "mcp_servers": "mcpServers"},
			idle: map[string]string{
				"nickname_candidates": forLists, "approval_policy": "permissionMode of the session says what is asked", "web_search": "adze's tools for that are given by tools",
				"skills": "skills of Codex are named by their paths, and every agent can use the skills that there are",
			},
			mean: codexAgent,
		}
	case Copilot:
		return writing{
			fields: map[string]string{"mcp-servers": "mcpServers"},
			idle: map[string]string{
				"target": "adze is neither", "user-invocable": anyPerson, "argument-hint": forLists, "handoffs": "the model decides who goes on", "metadata": forLists,
				"mode": "it is of an older form", "agents": "Agent(a, b) in tools names them", "hooks": "hooks of that program have another form",
			},
			tools: map[string]string{
				"execute": shells, "shell": shells, "bash": shells, "powershell": shells, "runcommands": shells, "runinterminal": shells, "terminalcommand": shells,
				"read": "Read", "view": "Read", "notebookread": "Read", "readfile": "Read",
				"edit": writes, "multiedit": writes, "write": writes, "notebookedit": writes, "editfiles": writes, "create": writes, "createfile": writes,
				"search": searches, "grep": searches, "glob": searches, "codebase": searches, "usages": searches, "findtestfiles": searches, "searchresults": searches, "filesearch": searches, "textsearch": searches, "listdirectory": searches,
				"agent": "Agent", "custom-agent": "Agent", "task": "Agent", "runsubagent": "Agent",
				"web": webs, "websearch": webs, "webfetch": webs, "fetch": webs, "todo": "TodoWrite", "todos": "TodoWrite", "todowrite": "TodoWrite",
			},
			mean: copilotAgent,
		}
	case Gemini:
		return writing{
			fields: map[string]string{"max_turns": "maxTurns"},
			idle:   map[string]string{"kind": "every agent is local", "temperature": oneTemperature, "timeout_mins": "maxTurns bounds an agent, and time does not"},
			tools: map[string]string{
				"read_file": "Read", "read_many_files": "Read", "write_file": "Write", "replace": edits, "edit": edits, "run_shell_command": shells, "glob": "Glob",
				"search_file_content": "Grep", "grep_search": "Grep", "list_directory": "Glob", "web_fetch": "WebFetch", "google_web_search": "WebSearch", "write_todos": "TodoWrite", "activate_skill": "Skill",
			},
			mean: geminiAgent,
		}
	case Antigravity:
		return writing{
			idle: map[string]string{
				"mainAgent": anyPerson, "subagent": "it says no more than that models may start it", "commandExecutionPolicy": "the sandbox of the session holds for its agents", "plugins": noPlugins, "hidden": forLists,
				"inheritMcp": "tools says which tools of servers it has",
			},
			tools: map[string]string{
				"run_command": shells, "view_file": "Read", "write_to_file": "Write", "replace_file_content": edits, "multi_replace_file_content": edits, "grep_search": "Grep", "find_by_name": "Glob", "list_dir": "Glob",
				"read_url_content": "WebFetch", "search_web": "WebSearch",
			},
			mean: antigravityAgent,
		}
	case Cursor:
		return writing{fields: map[string]string{"is_background": "background"}, idle: map[string]string{"readonly": "it says no more than that it may write"}, mean: cursorAgent}
	case Droid:
		return writing{
			fields: map[string]string{"reasoningEffort": "effort"},
			tools: map[string]string{
				"ls": "Glob", "create": "Write", "Edit": edits, "edit": writes, "multiedit": edits, "applypatch": writes, "execute": shells, "fetchurl": "WebFetch", "task": "Agent",
				"read-only": "Read Grep Glob", "web": webs, "mcp": "mcp__*",
			},
			mean: droidAgent,
		}
	case "", Prompts, OpenCode: // their agents are not read
	}
	return writing{}
}

// agentEnding is how names of files end that define agents.
func agentEnding(of Dialect) string {
	switch of {
	case Codex:
		return ".toml"
	case Copilot:
		return ".agent.md"
	case "", Prompts, OpenCode, Gemini, Antigravity, Cursor, Droid:
	}
	return ".md"
}

// agentDialect is whose format a file has that defines an agent, by its path.
func agentDialect(path string) Dialect {
	for _, s := range spots(Agents) {
		for _, dir := range []string{s.dir, s.home} {
			if dir != "" && strings.Contains("/"+filepath.ToSlash(path), "/"+dir+"/") {
				return s.of
			}
		}
	}
	return ""
}

// theirs are the fields of a definition on their way to adze's.
type theirs struct {
	*head
	said []Problem // what has no effect
	bad  *Problem  // why it defines nothing
}

func (t *theirs) idle(key, why string) {
	t.tell(key, "%s has no effect: %s", clip.Line(clip.Visible(key), 60), why)
}

func (t *theirs) tell(key, format string, args ...any) {
	t.said = append(t.said, Problem{Line: t.line[key], Text: fmt.Sprintf(format, args...), Used: true})
}

// put has a field be a value, at the line of another one.
func (t *theirs) put(key string, v any, at string) {
	n := new(yaml.Node)
	if n.Encode(v) != nil { // it came from YAML or TOML
		return
	}
	t.nodes[key], t.line[key] = n, t.line[at]
}

// isTrue and isFalse report what a switch says.
func (t *theirs) isTrue(key string) bool  { return strings.EqualFold(t.text1(key), "true") }
func (t *theirs) isFalse(key string) bool { return strings.EqualFold(t.text1(key), "false") }

// translate has the fields of another program's definition be adze's. said is what of them has no
// effect, bad why it defines nothing.
func translate(of Dialect, f found, h *head, body string) (said []Problem, bad *Problem) {
	w := writings(of)
	t := &theirs{head: h}
	if w.mean != nil {
		w.mean(t)
	}
	for _, key := range slices.Clone(h.keys) {
		switch to := w.fields[key]; {
		case to != "":
			h.nodes[to], h.line[to] = h.nodes[key], h.line[key]
		case w.idle[key] != "":
			if h.nodes[key] != nil {
				t.idle(key, w.idle[key])
			}
		case key != "name" && !slices.Contains(agentFields, key):
			t.idle(key, fmt.Sprintf("adze knows no such field of %s", of))
		}
	}
	if t.bad == nil {
		t.tools(w)
	}
	if !h.has("description") {
		t.put("description", opening(body), "name")
	}
	if !h.has("name") {
		t.put("name", callable(strings.TrimSuffix(f.name, ".agent")), "name")
	}
	return t.said, t.bad
}

// tomlHead reads a definition of Codex: its fields, and its instructions.
func tomlHead(text []byte) (h head, body string, bad *Problem) {
	h = head{nodes: map[string]*yaml.Node{}, line: map[string]int{}}
	var all map[string]any
	if _, err := toml.Decode(string(text), &all); err != nil {
		return h, "", tomlProblem(err)
	}
	t := &theirs{head: &h}
	for key, v := range all {
		h.keys, h.line[key] = append(h.keys, key), tomlLine(text, key)
		t.put(key, v, key)
	}
	order.By(h.keys, func(a, b string) int { return cmp.Or(cmp.Compare(h.line[a], h.line[b]), cmp.Compare(a, b)) })
	const own = "developer_instructions"
	if n := h.nodes[own]; n != nil && n.Kind != yaml.ScalarNode {
		return h, "", &Problem{Line: h.line[own], Text: own + " is not a text"}
	}
	return h, h.text1(own), nil
}

// tomlLine is the line in which a field at the top stands, 0 where that is not seen.
func tomlLine(text []byte, key string) int {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		name := bytes.Trim(bytes.TrimSpace(line), "[")
		if name, ok := bytes.CutPrefix(bytes.Trim(name, `"'`), []byte(key)); ok && bytes.ContainsAny(name[:min(1, len(name))], " \t=.]\"'") {
			return n
		}
	}
	return 0
}

// tools has the list of tools be one of adze's.
func (t *theirs) tools(w writing) {
	if w.tools == nil || !t.has("tools") {
		return
	}
	before := len(t.notes)
	list := t.list("tools")
	if len(t.notes) > before {
		t.notes = t.notes[:before] // agentOf says what is wrong
		return
	}
	out, unknown := []string{}, []string{}
	for _, name := range list {
		ours, ok := w.tool(name)
		switch {
		case name == "*" || name == "all":
			delete(t.nodes, "tools")
			return
		case !ok:
			unknown = append(unknown, name)
		}
		for _, n := range ours {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	t.put("tools", out, "tools")
	if len(unknown) > 0 {
		t.tell("tools", "adze has no tool like %s", clip.Line(clip.Visible(strings.Join(unknown, ", ")), 300))
	}
}

// tool is a tool in adze's words.
func (w writing) tool(name string) (ours []string, ok bool) {
	if to := cmp.Or(w.tools[name], w.tools[strings.ToLower(name)]); to != "" {
		return strings.Fields(to), true
	}
	if server, tool, ok := strings.Cut(name, "/"); ok && server != "vscode" { // server/tool, or a group of tools and one of them
		if to := w.tools[strings.ToLower(server)]; to != "" {
			if one := w.tools[strings.ToLower(tool)]; one != "" {
				to = one
			}
			return strings.Fields(to), true
		}
		if tool == "*" {
			return []string{"mcp__" + server}, true
		}
		return []string{"mcp__" + server + "__" + tool}, true
	}
	if rest, ok := strings.CutPrefix(name, "mcp_"); ok && !strings.HasPrefix(rest, "_") { // mcp_server_tool
		switch server, all := strings.CutSuffix(rest, "_*"); {
		case rest == "*":
			return []string{"mcp__*"}, true
		case all:
			return []string{"mcp__" + server}, true
		}
		server, tool, _ := strings.Cut(rest, "_")
		return []string{"mcp__" + server + "__" + tool}, true
	}
	if policy.Known(name) {
		return []string{name}, true
	}
	return nil, false
}

func codexAgent(t *theirs) {
	switch mode := t.text1("sandbox_mode"); mode {
	case "":
	case "read-only":
		t.put("permissionMode", string(policy.PlanMode), "sandbox_mode")
	default:
		t.idle("sandbox_mode", "adze's sandbox has settings of its own, and a definition loosens nothing")
	}
	delete(t.nodes, "sandbox_mode")
	if servers := t.json("mcp_servers"); servers != nil {
		t.put("mcp_servers", t.codexServers(servers), "mcp_servers")
	}
	t.keys = slices.DeleteFunc(t.keys, func(k string) bool { return k == "sandbox_mode" || k == "developer_instructions" })
}

// codexServers are MCP servers of Codex in the form of .mcp.json.
func (t *theirs) codexServers(raw json.RawMessage) map[string]any {
	var all map[string]map[string]any
	if json.Unmarshal(raw, &all) != nil {
		t.bad = &Problem{Line: t.line["mcp_servers"], Text: "mcp_servers is no table of servers"}
		return nil
	}
	out := map[string]any{}
	for name, s := range all {
		one, headers := map[string]any{}, map[string]any{}
		if s["enabled"] == false {
			continue
		}
		for k, v := range s {
			switch k {
			case "command", "args", "env", "cwd":
				one[k] = v
			case "url":
				one["type"], one["url"] = "http", v
			case "http_headers":
				if h, ok := v.(map[string]any); ok {
					headers = h
				}
			case "bearer_token_env_var":
				headers["Authorization"] = fmt.Sprintf("Bearer ${%v}", v)
			case "enabled":
			default:
				t.tell("mcp_servers", "%s of the server %s has no effect: it is Codex's own", clip.Line(clip.Visible(k), 60), clip.Line(clip.Visible(name), 60))
			}
		}
		if len(headers) > 0 {
			one["headers"] = headers
		}
		out[name] = one
	}
	return out
}

func copilotAgent(t *theirs) {
	delete(t.nodes, "name") // it is for people; the file's name is the agent's
	if n := t.nodes["model"]; n != nil && n.Kind == yaml.SequenceNode && len(n.Content) > 0 {
		t.nodes["model"] = n.Content[0] // the others stand in for it
	}
	if model := t.text1("model"); model != "" {
		model, _, _ = strings.Cut(model, " (")
		t.put("model", strings.ToLower(strings.ReplaceAll(strings.TrimSpace(model), " ", "-")), "model")
	}
	if t.isFalse("infer") && !t.has("disable-model-invocation") {
		t.put("disable-model-invocation", true, "infer")
	}
	t.keys = slices.DeleteFunc(t.keys, func(k string) bool { return k == "infer" || k == "user-invocable" && !t.isFalse(k) })
	var servers map[string]map[string]any
	if raw := t.json("mcp-servers"); raw != nil && json.Unmarshal(raw, &servers) == nil {
		for name, s := range servers {
			if s["type"] == "local" {
				s["type"] = "stdio"
			}
			if tools, ok := s["tools"].([]any); ok && !slices.Contains(tools, any("*")) {
				name = clip.Line(clip.Visible(name), 60)
				t.tell("mcp-servers", "which tools the server %s has is not limited here: name them in tools, as %s/TOOL", name, name)
			}
			delete(s, "tools")
		}
		t.put("mcp-servers", servers, "mcp-servers")
	}
}

func geminiAgent(t *theirs) {
	if t.text1("kind") == "remote" {
		t.bad = &Problem{Line: t.line["kind"], Text: "it is an agent of another machine (kind: remote), which adze cannot ask"}
	}
	if t.text1("kind") == "local" {
		delete(t.nodes, "kind")
	}
}

func antigravityAgent(t *theirs) {
	if t.isFalse("subagent") {
		t.put("disable-model-invocation", true, "subagent")
		delete(t.nodes, "subagent")
	}
	if n := t.nodes["tools"]; n != nil && len(n.Content) == 0 { // it stands for what is usual
		delete(t.nodes, "tools")
	}
}

func cursorAgent(t *theirs) {
	if t.isTrue("readonly") {
		t.put("permissionMode", string(policy.PlanMode), "readonly")
		delete(t.nodes, "readonly")
	}
	if t.text1("model") == "fast" {
		t.put("model", "small", "model")
	}
}

func droidAgent(t *theirs) {
	if t.text1("reasoningEffort") == "off" {
		t.put("reasoningEffort", "none", "reasoningEffort")
	}
	if t.has("tools") && t.nodes["tools"].Kind == yaml.SequenceNode && !slices.Contains(t.list("tools"), "TodoWrite") {
		t.put("tools", append(t.list("tools"), "TodoWrite"), "tools") // every droid has it
	}
}
