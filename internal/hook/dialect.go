package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// A Dialect is another agent whose hooks are used as they were written for it.
// "" is none: the format of the settings.
type Dialect string

// Dialects.
const (
	Codex  Dialect = "codex"
	Gemini Dialect = "gemini"
)

// meant are the events of a dialect that mean the same here.
var meant = map[Dialect]map[string]Event{
	Codex: {
		"SessionStart": SessionStart, "SessionEnd": SessionEnd, "UserPromptSubmit": UserPromptSubmit, "PreToolUse": PreToolUse, "PermissionRequest": PermissionRequest,
		"PostToolUse": PostToolUse, "PreCompact": PreCompact, "PostCompact": PostCompact, "SubagentStart": SubagentStart, "SubagentStop": SubagentStop, "Stop": Stop,
	},
	Gemini: {
		"BeforeTool": PreToolUse, "AfterTool": PostToolUse, "BeforeAgent": UserPromptSubmit, "AfterAgent": Stop, "SessionStart": SessionStart,
		"SessionEnd": SessionEnd, "Notification": Notification, "PreCompress": PreCompact,
	},
}

// geminiTools are the tools whose arguments mean the same to Gemini, by its names for
// them.
var geminiTools = map[string][]string{
	"Bash": {"run_shell_command"}, "Read": {"read_file"}, "Write": {"write_file"}, "Edit": {"replace"}, "Glob": {"glob"}, "Grep": {"search_file_content", "grep_search"},
}

// geminiTimeout is that of a hook of Gemini's that names none.
const geminiTimeout = time.Minute

// ParseOther reads the hooks of another agent from the JSON of its file. What means
// something else here, or nothing, is a problem; the rest is used.
func ParseOther(d Dialect, doc []byte, at Place) (hooks []Hook, problems []error) {
	var file struct {
		Hooks  map[string]json.RawMessage `json:"hooks"`
		Config struct {
			Enabled  *bool    `json:"enabled"`
			Disabled []string `json:"disabled"`
		} `json:"hooksConfig"`
	}
	if err := json.Unmarshal(doc, &file); err != nil {
		err = fastjson.Where(doc, err)
		return lostIn(doc, at, err), []error{fmt.Errorf("it is no JSON that could be read for its hooks: %w", err)}
	}
	if file.Config.Enabled != nil && !*file.Config.Enabled {
		return nil, nil
	}
	at.Dialect = d
	for _, name := range slices.Sorted(maps.Keys(file.Hooks)) {
		var groups []json.RawMessage
		if json.Unmarshal(file.Hooks[name], &groups) != nil {
			continue // what is no list is no event: state and switches of that agent
		}
		e, ok := meant[d][strings.ToUpper(name[:min(1, len(name))])+name[min(1, len(name)):]]
		if !ok {
			problems = append(problems, fmt.Errorf("hooks of %s: no event of adze means the same, and they are left out", name))
			continue
		}
		for _, raw := range groups {
			group, err := translated(d, e, raw, file.Config.Disabled)
			if err != nil {
				problems = append(problems, fmt.Errorf("hooks of %s: %w", name, err))
			}
			if group == nil {
				continue
			}
			list, bad := Parse(string(e), group, at)
			hooks, problems = append(hooks, list...), append(problems, bad...)
		}
	}
	return hooks, problems
}

// translated is a group of another agent in the words of this format, nil when
// nothing is left of it. The error says what was left out.
func translated(d Dialect, e Event, raw []byte, disabled []string) (group []byte, err error) {
	var g struct {
		Matcher    string `json:"matcher"`
		Sequential bool   `json:"sequential"`
		Hooks      []struct {
			Type    string          `json:"type"`
			Name    string          `json:"name"`
			Command string          `json:"command"`
			Windows string          `json:"commandWindows"`
			Alias   string          `json:"command_windows"`
			Timeout float64         `json:"timeout"`
			Status  string          `json:"statusMessage"`
			Async   bool            `json:"async"`
			Server  string          `json:"server"`
			Tool    string          `json:"tool"`
			Input   json.RawMessage `json:"input"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		return nil, fastjson.InWords(err)
	}
	var list []map[string]any
	var left []error
	for _, h := range g.Hooks {
		h.Type = strings.ToLower(h.Type)
		if d == Codex && h.Type != string(Command) && h.Type != string(MCPTool) {
			left = append(left, fmt.Errorf("a hook of type %q is left out, as Codex does it", h.Type))
			continue
		}
		if slices.Contains(disabled, h.Name) && h.Name != "" || slices.Contains(disabled, h.Command) {
			continue
		}
		if windows := cmp.Or(h.Windows, h.Alias); d == Codex && windows != "" && runtime.GOOS == "windows" {
			h.Command = windows
		}
		seconds := h.Timeout
		switch {
		case d == Gemini && h.Timeout > 0:
			seconds = h.Timeout / 1000
		case h.Timeout == 0 && e == SessionEnd: // leaving takes no longer than with hooks of one's own
		case d == Gemini:
			seconds = geminiTimeout.Seconds()
		case h.Timeout == 0:
			seconds = DefaultTimeout.Seconds()
		}
		one := map[string]any{"type": h.Type, "timeout": seconds, "statusMessage": h.Status}
		switch {
		case d == Codex && h.Type == string(MCPTool):
			if one["server"], one["tool"] = h.Server, h.Tool; h.Input != nil {
				one["input"] = h.Input
			}
		default:
			one["command"], one["async"] = h.Command, d == Codex && h.Async && e != SessionEnd // which Codex waits for
		}
		list = append(list, one)
	}
	if g.Sequential && len(list) > 1 {
		left = append(left, errors.New("\"sequential\" means nothing here: hooks of an event run together"))
	}
	if len(list) == 0 {
		return nil, errors.Join(left...)
	}
	group, err = json.Marshal(map[string]any{"matcher": g.Matcher, "hooks": list})
	return group, errors.Join(append(left, err)...)
}

// compile reads a matcher as the dialect of the place does: of another agent's, one that is
// about a tool is a pattern, others are words.
func (at Place) compile(e Event, text string) (m matcher, err error) {
	switch {
	case e.Subject() != "tool_name" || text == "" || text == "*":
		return compile(text)
	case at.Dialect == "":
		if m, err = compileTools(text, at); err == nil && m.expr != nil {
			err = possible(m.expr.String())
		}
		return m, err
	}
	if m.expr, err = regexp.Compile(text); err != nil {
		return m, fmt.Errorf("it cannot be used as a pattern (RE2 syntax, without look-around and back references): %w", err)
	}
	return m, possible(text)
}

// names are what a subject is called in the dialect, none when it has no name there
// that means the same.
func (d Dialect) names(e Event, subject string) (out []string) {
	switch {
	case d == Gemini && e == Notification:
		if subject == "permission_prompt" {
			return []string{"ToolPermission"}
		}
		return nil
	case d == "" && e.Subject() == "agent_type":
		return policy.AgentNames(subject)
	case e.Subject() != "tool_name" || strings.HasPrefix(subject, "mcp__"):
		return []string{subject}
	case d == "":
		return policy.Names(subject)
	case d == Gemini:
		for _, name := range policy.Names(subject) {
			out = append(out, geminiTools[name]...)
		}
		return out
	case subject == "Bash": // edits are patches to Codex
		return []string{subject}
	}
	return nil
}

// Spoken is what the hook reads of an event, in its dialect.
func (h Hook) Spoken(text []byte, now time.Time) []byte {
	if h.as != "" {
		text = calledAs(text, h.as)
	}
	var in map[string]any
	if h.Dialect == "" {
		return h.named(text)
	}
	if json.Unmarshal(text, &in) != nil {
		return text
	}
	switch h.Dialect {
	case Codex:
		in["turn_id"] = in["prompt_id"]
	case Gemini:
		for name, e := range meant[Gemini] {
			if e == h.Event {
				in["hook_event_name"] = name
			}
		}
		in["timestamp"] = now.UTC().Format(time.RFC3339Nano)
		if tool, ok := in["tool_name"].(string); ok {
			if names := h.Dialect.names(h.Event, tool); len(names) > 0 {
				in["tool_name"] = names[0]
			}
		}
		switch res := in["tool_response"].(type) {
		case map[string]any:
			res["llmContent"], res["returnDisplay"] = res["text"], res["text"]
		case []any: // the content of an MCP tool's answer
			in["tool_response"] = map[string]any{"llmContent": res, "returnDisplay": res}
		}
		if h.Event == Notification {
			in["notification_type"] = "ToolPermission"
		}
		if h.Event == Stop {
			in["prompt_response"] = in["last_assistant_message"]
		}
	}
	out, err := json.Marshal(in)
	if err != nil {
		return text
	}
	return append(out, '\n')
}

// calledAs is an event with another name of its tool.
func calledAs(text []byte, name string) []byte {
	var in map[string]json.RawMessage
	if json.Unmarshal(text, &in) != nil || in["tool_name"] == nil {
		return text
	}
	var err error
	if in["tool_name"], err = json.Marshal(name); err != nil {
		return text
	}
	out, err := json.Marshal(in)
	if err != nil {
		return text
	}
	return append(out, '\n')
}

// named is an event with the name of its tool that the hook's matcher has, where it has
// not adze's own: a program that looks at the name again knows that one.
func (h Hook) named(text []byte) []byte {
	var in map[string]json.RawMessage
	var tool string
	if h.Event.Subject() != "tool_name" || h.match.all || json.Unmarshal(text, &in) != nil || json.Unmarshal(in["tool_name"], &tool) != nil {
		return text
	}
	for _, name := range h.Dialect.names(h.Event, tool) {
		if !h.match.knows(name) {
			continue
		}
		var err error
		if in["tool_name"], err = json.Marshal(name); err != nil || name == tool {
			return text
		}
		if told, ok := toldAs(tool, name, in["tool_input"]); ok {
			in["tool_input"] = told
		}
		if out, err := json.Marshal(in); err == nil {
			return append(out, '\n')
		}
	}
	return text
}

// knows reports whether a matcher has a name, also in a rule.
func (m matcher) knows(name string) bool {
	return m.matches(name) || slices.ContainsFunc(m.rules, func(r policy.Rule) bool { return r.Tool == name })
}

// heard is an answer in the words of this format. A yes of another agent's hook is
// none here: there it only means that nothing stands against the call.
func (h Hook) heard(text []byte) []byte {
	var o map[string]any
	if h.Dialect == "" || json.Unmarshal(text, &o) != nil {
		return text
	}
	s, _ := o["hookSpecificOutput"].(map[string]any)
	if s == nil {
		s = map[string]any{}
	}
	delete(s, "hookEventName")
	if h.Event == Stop || h.Event == SubagentStop { // where it has the model go on here, and is nothing there
		delete(s, "additionalContext")
	}
	if p, _ := s["permissionDecision"].(string); strings.EqualFold(p, "allow") {
		delete(s, "permissionDecision")
		delete(s, "permissionDecisionReason")
	}
	switch d, _ := o["decision"].(string); d {
	case "deny", "block":
		o["decision"] = "block"
	default:
		delete(o, "decision")
	}
	if h.Dialect == Gemini {
		for theirs, ours := range map[string]string{"tool_input": "updatedInput", "tool_output": "updatedToolOutput"} {
			if v, ok := s[theirs]; ok {
				s[ours] = v
				delete(s, theirs)
			}
		}
		switch {
		case o["decision"] == "block" && h.Event == PostToolUse: // the reason is what the model reads in place of the result
			s["updatedToolOutput"] = o["reason"]
			delete(o, "decision")
		case h.Event == PreCompact || h.Event == Notification || h.Event == SessionStart || h.Event == SessionEnd: // only looks on
			delete(o, "decision")
			delete(o, "continue")
		}
	}
	o["hookSpecificOutput"] = s
	out, err := json.Marshal(o)
	if err != nil {
		return text
	}
	return bytes.TrimSpace(out)
}

// refusal is what exit code 2 of a hook of another agent means, where that is
// something else than here.
func (h Hook) refusal(why string) (a Answer, ok bool) {
	if h.Dialect != Gemini {
		return a, false
	}
	switch h.Event {
	case PostToolUse:
		raw, err := json.Marshal(why)
		return Answer{Output: raw, By: h.Short()}, err == nil
	case PreCompact:
		return Answer{System: []string{why}, By: h.Short()}, true
	}
	return a, false
}

// Fit completes what a hook wants of the arguments of a call of tool that it was given:
// those of Gemini's name only what they change, and one that was told of another tool's
// arguments (see toldAs) may change those.
func (h Hook) Fit(a Answer, tool string, args json.RawMessage) Answer {
	if h.Dialect == "" && a.Input != nil && !h.match.all {
		for _, name := range h.Dialect.names(h.Event, tool) {
			if h.match.knows(name) {
				a.Input = meantAs(tool, name, args, a.Input)
				break
			}
		}
	}
	if h.Dialect == Gemini && a.Input != nil {
		var was, now map[string]json.RawMessage
		if json.Unmarshal(args, &was) == nil && json.Unmarshal(a.Input, &now) == nil && was != nil {
			maps.Copy(was, now)
			if text, err := json.Marshal(was); err == nil {
				a.Input = text
			}
		}
	}
	return a
}
