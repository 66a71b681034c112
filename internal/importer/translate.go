package importer

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Why servers are not taken, of more than one agent.
const (
	apart   = "it starts in a folder of its own (cwd), which adze has no setting for"
	signsIn = "it signs in with OAuth, which is to be set up here anew"
)

// some is why a server is not taken that offers some of its tools.
func some(name string) string {
	return "it offers some of its tools only; add it, and deny the others (mcp__" + name + "__TOOL)"
}

// without denies the tools that a server is to go without.
func (s *Settings) without(from, server string, tools rows) {
	for _, x := range tools {
		s.rule(from, x.theirs+" of "+server, policy.Deny, "mcp__"+server+"__"+x.text, x.why)
	}
}

// InPlace is why a server is not taken that adze uses where it is written.
const InPlace = "it is used where it is, in .claude.json"

// claudeSettings has the servers of Claude Code, which adze reads where they are, as its
// permissions.
func (a *Agents) claudeSettings(s *Settings, dir string) {
	path := filepath.Join(dir, ".claude.json")
	f, ok := s.read(path)
	if !ok {
		return
	}
	add := func(list []named, why string) {
		for _, x := range list {
			c, not := x.server(), why
			switch {
			case x.problem() != "":
				not = x.problem()
			case not == "":
				not = InPlace
			}
			s.server(ClaudeCode, x.name, c, not, same)
		}
	}
	add(f.each("mcpServers"), "")
	for _, p := range f.each("projects") {
		add(p.each("mcpServers"), "it is of one project, "+p.name+", and is used there")
		if what := p.problem(); what != "" {
			*f.wrong = append(*f.wrong, "projects."+p.name+": "+what)
		}
	}
	s.wrong(path, f)
}

func (a *Agents) codexSettings(s *Settings, path string) {
	f, ok := s.read(path)
	if !ok {
		return
	}
	for _, x := range f.each("mcp_servers") {
		c := server{
			Command: x.text("command"), Args: x.texts("args"), Env: x.pairs("env"), URL: x.text("url"), Headers: x.pairs("http_headers"),
			Timeout: int(x.number("tool_timeout_sec") * 1000),
		}
		if c.URL != "" {
			c.Type = "http"
		}
		only := len(x.texts("enabled_tools")) > 0
		without := x.rules("disabled_tools")
		why := ""
		switch {
		case !x.flag("enabled", true):
			why = "it is switched off"
		case x.text("cwd") != "":
			why = apart
		case only || len(without) > 0:
			why = some(x.name)
		default:
			why = c.literal()
		}
		set := func(m *map[string]string, k, v string) {
			if *m == nil {
				*m = map[string]string{}
			}
			(*m)[k] = v
		}
		if v := x.text("bearer_token_env_var"); v != "" {
			set(&c.Headers, "Authorization", "Bearer ${"+v+"}")
		}
		for k, v := range x.pairs("env_http_headers") {
			set(&c.Headers, k, "${"+v+"}")
		}
		for _, v := range x.texts("env_vars") {
			set(&c.Env, v, "${"+v+":-}")
		}
		s.server(Codex, x.name, c, cmp.Or(x.problem(), why), same)
	}
	if v := f.get("approval_policy"); v != nil {
		s.rule(Codex, fmt.Sprintf("approval_policy = %v", v), policy.Ask, "", "it says when Codex asks, not what is allowed: see --permission-mode")
	}
	if v := f.text("sandbox_mode"); v != "" {
		s.rule(Codex, "sandbox_mode = "+v, policy.Ask, "", "adze's sandbox has settings of its own: adze sandbox")
	}
	s.wrong(path, f)
}

var dollar = pattern.Lazy(`\$(\w+)|\$\{(\w+)\}`)

// braces writes $VAR as ${VAR}.
func braces(v string) (string, string) { return dollar().ReplaceAllString(v, "$${$1$2}"), "" }

func (a *Agents) geminiSettings(s *Settings, path string) {
	f, ok := s.read(path)
	if !ok {
		return
	}
	for _, x := range f.each("mcpServers") {
		c, why := x.server(), ""
		switch v := x.text("httpUrl"); {
		case v != "":
			c.Type, c.URL = "http", v
		case c.URL != "" && c.Type == "": // of versions that had no type
			c.Type = "sse"
		}
		switch {
		case x.text("cwd") != "":
			why = apart
		case x.get("oauth") != nil:
			why = signsIn
		case len(x.texts("includeTools")) > 0:
			why = some(x.name)
		}
		without, trusted := x.rules("excludeTools"), x.flag("trust", false)
		not := without.problem()
		if x.problem() != "" {
			not = "the server is not taken"
		}
		s.server(Gemini, x.name, c, cmp.Or(x.problem(), not, why), braces)
		s.without(Gemini, x.name, without)
		if trusted {
			s.rule(Gemini, "trust "+x.name, policy.Allow, "mcp__"+x.name, not)
		}
	}
	tools := f.table("tools")
	for _, x := range tools.rules("exclude") {
		ours, why := geminiRule(x.text)
		s.rule(Gemini, "tools."+x.theirs, policy.Deny, ours, cmp.Or(x.why, why))
	}
	for _, x := range tools.rules("allowed") {
		ours, why := geminiRule(x.text)
		s.rule(Gemini, "tools."+x.theirs, policy.Allow, ours, cmp.Or(x.why, why))
	}
	for _, x := range tools.rules("core") {
		s.rule(Gemini, "tools."+x.theirs, policy.Deny, "", cmp.Or(x.why, "it says which tools there are: see --tools"))
	}
	s.wrong(path, f)
}

// geminiRule is a tool of Gemini CLI, with the beginning of a command in
// parentheses, as a rule.
func geminiRule(x string) (ours, why string) {
	name, spec, has := strings.Cut(strings.TrimSuffix(x, ")"), "(")
	switch name {
	case "run_shell_command", "ShellTool":
		return bash(spec, has)
	case "write_file", "replace", "edit":
		return "Edit", only(has)
	case "web_fetch":
		return "WebFetch", only(has)
	case "google_web_search":
		return "WebSearch", only(has)
	case "read_file", "read_many_files", "list_directory", "glob", "search_file_content", "grep_search":
		return "Read", only(has)
	}
	if own := likewise[name]; own != "" {
		return own, only(has)
	}
	return "", "adze has no tool that does what " + name + " does"
}

func only(spec bool) string {
	if spec {
		return "what stands in its parentheses has no meaning here"
	}
	return ""
}

// bash is a rule for commands that begin with words, or for all.
func bash(words string, some bool) (ours, why string) {
	words = strings.TrimSpace(words)
	switch {
	case !some || words == "":
		return "Bash", ""
	case strings.ContainsAny(words, "*()"):
		return "", "it has characters that have another meaning in a rule of adze"
	}
	return "Bash(" + words + ":*)", ""
}

var (
	openVariable = pattern.Lazy(`\{env:(\w+)\}`)
	openFile     = pattern.Lazy(`\{file:`)
)

func (a *Agents) openSettings(s *Settings, path string) {
	f, ok := s.read(path)
	if !ok {
		return
	}
	expand := func(v string) (string, string) {
		if openFile().MatchString(v) {
			return v, "a value comes from a file, which adze has no setting for"
		}
		if strings.Contains(v, "${") {
			return v, replaced
		}
		return openVariable().ReplaceAllString(v, "$${$1}"), ""
	}
	for _, x := range f.each("mcp") {
		why := ""
		c := server{Env: x.pairs("environment"), URL: x.text("url"), Headers: x.pairs("headers")}
		if words := x.texts("command"); len(words) > 0 {
			c.Command, c.Args = words[0], words[1:]
		}
		if c.URL != "" {
			c.Type = "http"
		}
		if _, several := x.get("timeout").(map[string]any); !several {
			c.Timeout = int(x.number("timeout"))
		}
		oauth := x.get("oauth")
		switch {
		case !x.flag("enabled", true):
			why = "it is switched off"
		case x.text("cwd") != "":
			why = apart
		case oauth != nil && oauth != false:
			why = signsIn
		}
		s.server(OpenCode, x.name, c, cmp.Or(x.problem(), why), expand)
	}
	s.openRules(f)
	s.wrong(path, f)
}

// openRules are permissions by tool: one word, or a word for each pattern, of
// which the last that fits counts there. Here denials come before questions and
// both before what is allowed, which is stricter, and so is said.
func (s *Settings) openRules(f table) {
	if all, ok := f.get("permission").(string); ok {
		s.rule(OpenCode, "permission "+all, policy.Ask, "", "it is for all tools at once: see --permission-mode")
		return
	}
	tools := f.table("permission")
	for _, tool := range slices.Sorted(maps.Keys(tools.of)) {
		var patterns map[string]any
		switch v := tools.of[tool].(type) {
		case string:
			patterns = map[string]any{"*": v}
		case map[string]any:
			patterns = v
		default:
			s.rule(OpenCode, "permission."+tool, policy.Ask, "", expected("a word, or patterns with a word each", v))
		}
		for _, p := range slices.Sorted(maps.Keys(patterns)) {
			if word, ok := patterns[p].(string); ok {
				s.openRule(tool, p, word, len(patterns) > 1)
			} else {
				s.rule(OpenCode, fmt.Sprintf("permission.%s %q", tool, p), policy.Ask, "", expected("a word", patterns[p]))
			}
		}
	}
}

// openRule is the rule of one pattern; others says that its tool has more.
func (s *Settings) openRule(tool, p, word string, others bool) {
	theirs := fmt.Sprintf("permission.%s %q: %s", tool, p, word)
	var e policy.Effect
	switch word {
	case "allow":
		e = policy.Allow
	case "deny":
		e = policy.Deny
	case "ask":
		e = policy.Ask
	default:
		s.rule(OpenCode, theirs, policy.Ask, "", "it is not allow, ask or deny")
		return
	}
	ours, ok := map[string]string{"bash": "Bash", "edit": "Edit", "read": "Read", "webfetch": "WebFetch", "websearch": "WebSearch", "task": "Agent"}[tool]
	if own := likewise[tool]; own != "" {
		ours, ok = own, true
	}
	switch {
	case slices.Contains([]string{"glob", "grep", "list"}, tool):
		s.rule(OpenCode, theirs, e, "", "rules for Read are also for "+tool+" here, so that one of its own would bind reading")
	case (ours == "TodoWrite" || ours == "AskUserQuestion") && e != policy.Deny:
		s.rule(OpenCode, theirs, e, "", ours+" needs no permission here")
	case !ok:
		s.rule(OpenCode, theirs, e, "", "adze has no tool that does what "+tool+" does")
	case p == "*" && others && e != policy.Allow:
		s.rule(OpenCode, theirs, e, "", "beside other patterns it would bind all of them here; what no rule allows is asked about anyway")
	case p == "*" && e == policy.Allow && tool == "edit":
		s.rule(OpenCode, theirs, e, "Edit(./**)", "")
	case p == "*":
		s.rule(OpenCode, theirs, e, ours, "")
	case ours == "Skill" && !strings.ContainsAny(strings.TrimSuffix(p, "*"), "*?()"):
		s.rule(OpenCode, theirs, e, "Skill("+p+")", "")
	case (tool == "read" || tool == "edit") && e != policy.Allow && openPath(p) != "":
		s.rule(OpenCode, theirs, e, ours+"("+openPath(p)+")", "")
	case tool == "bash" && !strings.ContainsAny(p, "?()"):
		s.rule(OpenCode, theirs, e, "Bash("+p+")", "")
	default:
		s.rule(OpenCode, theirs, e, "", "patterns of "+tool+" have another meaning here")
	}
}

// likewise are tools of others beside those for files, commands and the web, and what does
// the same here.
var likewise = map[string]string{
	"todowrite": "TodoWrite", "write_todos": "TodoWrite", "todos": "TodoWrite", "skill": "Skill", "activate_skill": "Skill", "question": "AskUserQuestion", "ask_user": "AskUserQuestion",
}

// openPath is a pattern for paths of OpenCode, in which a star is also for slashes, as one
// that binds all of these and perhaps more; "" is that there is none. There a path counts
// from the project's folder; here it may stand in any.
func openPath(p string) string {
	if p == "" || strings.ContainsAny(p, "()[]{}\\!") || strings.HasPrefix(p, "~") || strings.HasPrefix(p, "$") {
		return ""
	}
	if strings.HasPrefix(p, "/") {
		p = "/" + p // of the whole disk
	}
	parts := strings.Split(strings.TrimPrefix(p, "./"), "/")
	if len(parts) == 1 {
		return p
	}
	var out []string
	for i, part := range parts {
		switch last := i == len(parts)-1; {
		case strings.Trim(part, "*") == "" && part != "":
			out = append(out, "**")
		case !strings.Contains(part, "*"):
			out = append(out, part)
		case last && strings.LastIndex(part, "*") == 0:
			out = append(out, "**", part)
		default:
			return "" // it would reach into other folders, at a place that no pattern has here
		}
	}
	if s := strings.Join(out, "/"); strings.HasPrefix(s, "/") || strings.HasPrefix(s, "**/") {
		return s
	}
	return "**/" + strings.Join(out, "/")
}

var (
	crushCommand  = pattern.Lazy(`\$\(|` + "`")
	crushVariable = pattern.Lazy(`\$\{?(\w+)(:-[^}]*)?\}?`)
)

func (a *Agents) crushSettings(s *Settings, path string) {
	f, ok := s.read(path)
	if !ok {
		return
	}
	expand := func(v string) (string, string) {
		if crushCommand().MatchString(v) {
			return v, "a value is what a command prints, which adze has no setting for"
		}
		return crushVariable().ReplaceAllString(v, "$${$1$2}"), ""
	}
	for _, x := range f.each("mcp") {
		c, why := x.server(), ""
		c.Timeout = int(x.number("timeout") * 1000)
		switch {
		case x.flag("disabled", false):
			why = "it is switched off"
		case x.flag("oauth", false):
			why = signsIn
		case len(x.texts("enabled_tools")) > 0:
			why = some(x.name)
		}
		without := x.rules("disabled_tools")
		s.server(Crush, x.name, c, cmp.Or(x.problem(), without.problem(), why), expand)
		s.without(Crush, x.name, without)
	}
	permissions := f.table("permissions")
	for _, x := range permissions.rules("allowed_tools") {
		tool, action, _ := strings.Cut(x.text, ":")
		ours, why := map[string]string{"bash": "Bash", "edit": "Edit(./**)", "multiedit": "Edit(./**)", "write": "Edit(./**)", "fetch": "WebFetch",
			"view": "Read(./**)", "ls": "Read(./**)", "grep": "Read(./**)", "glob": "Read(./**)"}[tool], ""
		ours = cmp.Or(ours, likewise[tool])
		switch {
		case action != "" && action != map[string]string{"bash": "execute", "edit": "write", "multiedit": "write", "write": "write", "fetch": "fetch", "view": "read"}[tool]:
			why = "adze's rules do not tell the actions of a tool apart"
		case strings.HasPrefix(tool, "mcp_"):
			why = "where the server's name ends is not told; the rule here is mcp__SERVER__TOOL"
		case ours == "":
			why = "adze has no tool that does what " + tool + " does"
		}
		s.rule(Crush, x.theirs, policy.Allow, ours, cmp.Or(x.why, why))
	}
	s.wrong(path, f)
}
