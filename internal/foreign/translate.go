package foreign

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// InPlace is why a server is not taken that adze uses where it is written.
const InPlace = "it is used where it is, in ~/.claude.json"

// claudeSettings has the servers of Claude Code. Those in the home folder, and its
// permissions, adze reads where they are.
func (a *Agents) claudeSettings(s *Settings, dir string) {
	type servers map[string]struct {
		server
		Helper json.RawMessage `json:"headersHelper"`
		OAuth  json.RawMessage `json:"oauth"`
	}
	var f struct {
		Servers  servers `json:"mcpServers"`
		Projects map[string]struct {
			Servers servers `json:"mcpServers"`
		} `json:"projects"`
	}
	path := filepath.Join(dir, ".claude.json")
	if !s.read(path, &f) {
		return
	}
	inPlace := dir == a.place.Home
	add := func(list servers, why string) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			c, not := list[name], why
			switch {
			case inPlace && not == "":
				not = InPlace
			case not == "" && (len(c.Helper) > 0 || len(c.OAuth) > 0):
				not = "it signs in with a helper or OAuth, which is to be set up here anew"
			}
			s.server(ClaudeCode, name, c.server, not, same)
		}
	}
	add(f.Servers, "")
	for _, dir := range slices.Sorted(maps.Keys(f.Projects)) {
		why := "it is of one project, " + dir + ": add it there, to .adze/settings.local.json"
		if inPlace {
			why = "it is of one project, " + dir + ", and is used there"
		}
		add(f.Projects[dir].Servers, why)
	}
}

func (a *Agents) codexSettings(s *Settings, path string) {
	var f struct {
		Servers map[string]struct {
			Command string            `toml:"command"`
			Args    []string          `toml:"args"`
			Env     map[string]string `toml:"env"`
			EnvVars []string          `toml:"env_vars"`
			Cwd     string            `toml:"cwd"`
			URL     string            `toml:"url"`
			Bearer  string            `toml:"bearer_token_env_var"`
			Headers map[string]string `toml:"http_headers"`
			FromEnv map[string]string `toml:"env_http_headers"`
			Enabled *bool             `toml:"enabled"`
			Seconds float64           `toml:"tool_timeout_sec"`
			Only    []string          `toml:"enabled_tools"`
			Without []string          `toml:"disabled_tools"`
		} `toml:"mcp_servers"`
		Approval any    `toml:"approval_policy"`
		Sandbox  string `toml:"sandbox_mode"`
	}
	if !s.read(path, &f) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(f.Servers)) {
		x := f.Servers[name]
		why := ""
		switch {
		case x.Enabled != nil && !*x.Enabled:
			why = "it is switched off"
		case x.Cwd != "":
			why = "it starts in a folder of its own (cwd), which adze has no setting for"
		case len(x.Only)+len(x.Without) > 0:
			why = "it offers some of its tools only; add it, and deny the others (mcp__" + name + "__TOOL)"
		}
		c := server{Command: x.Command, Args: x.Args, Env: x.Env, URL: x.URL, Headers: x.Headers, Timeout: int(x.Seconds * 1000)}
		if c.URL != "" {
			c.Type = "http"
		}
		set := func(m *map[string]string, k, v string) {
			if *m == nil {
				*m = map[string]string{}
			}
			(*m)[k] = v
		}
		if why == "" {
			why = c.literal()
		}
		if x.Bearer != "" {
			set(&c.Headers, "Authorization", "Bearer ${"+x.Bearer+"}")
		}
		for k, v := range x.FromEnv {
			set(&c.Headers, k, "${"+v+"}")
		}
		for _, v := range x.EnvVars {
			set(&c.Env, v, "${"+v+":-}")
		}
		s.server(Codex, name, c, why, same)
	}
	if f.Approval != nil {
		s.rule(Codex, fmt.Sprintf("approval_policy = %v", f.Approval), policy.Ask, "", "it says when Codex asks, not what is allowed: see --permission-mode")
	}
	if f.Sandbox != "" {
		s.rule(Codex, "sandbox_mode = "+f.Sandbox, policy.Ask, "", "adze's sandbox has settings of its own: adze sandbox")
	}
}

var dollar = pattern.Lazy(`\$(\w+)|\$\{(\w+)\}`)

// braces writes $VAR as ${VAR}.
func braces(v string) (string, string) { return dollar().ReplaceAllString(v, "$${$1$2}"), "" }

func (a *Agents) geminiSettings(s *Settings, path string) {
	var f struct {
		Servers map[string]struct {
			server
			Cwd     string   `json:"cwd"`
			HTTP    string   `json:"httpUrl"`
			Include []string `json:"includeTools"`
			Exclude []string `json:"excludeTools"`
			OAuth   any      `json:"oauth"`
			Trust   bool     `json:"trust"`
		} `json:"mcpServers"`
		Tools struct {
			Allowed, Exclude, Core []string
		} `json:"tools"`
	}
	if !s.read(path, &f) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(f.Servers)) {
		x, why := f.Servers[name], ""
		c := x.server
		switch {
		case x.HTTP != "":
			c.Type, c.URL = "http", x.HTTP
		case c.URL != "" && c.Type == "": // of versions that had no type
			c.Type = "sse"
		}
		switch {
		case x.Cwd != "":
			why = "it starts in a folder of its own (cwd), which adze has no setting for"
		case x.OAuth != nil:
			why = "it signs in with OAuth, which is to be set up here anew"
		case len(x.Include) > 0:
			why = "it offers some of its tools only; add it, and deny the others (mcp__" + name + "__TOOL)"
		}
		s.server(Gemini, name, c, why, braces)
		for _, tool := range x.Exclude {
			s.rule(Gemini, "excludeTools "+tool+" of "+name, policy.Deny, "mcp__"+name+"__"+tool, "")
		}
		if x.Trust {
			s.rule(Gemini, "trust "+name, policy.Allow, "mcp__"+name, "")
		}
	}
	for _, x := range f.Tools.Exclude {
		ours, why := geminiRule(x)
		s.rule(Gemini, "tools.exclude "+x, policy.Deny, ours, why)
	}
	for _, x := range f.Tools.Allowed {
		ours, why := geminiRule(x)
		s.rule(Gemini, "tools.allowed "+x, policy.Allow, ours, why)
	}
	for _, x := range f.Tools.Core {
		s.rule(Gemini, "tools.core "+x, policy.Deny, "", "it says which tools there are: see --tools")
	}
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
	var f struct {
		MCP map[string]struct {
			Type    string            `json:"type"`
			Command []string          `json:"command"`
			Env     map[string]string `json:"environment"`
			Cwd     string            `json:"cwd"`
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
			Enabled *bool             `json:"enabled"`
			Timeout any               `json:"timeout"`
			OAuth   any               `json:"oauth"`
		} `json:"mcp"`
		Permission json.RawMessage `json:"permission"`
	}
	if !s.read(path, &f) {
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
	for _, name := range slices.Sorted(maps.Keys(f.MCP)) {
		x, why := f.MCP[name], ""
		c := server{Env: x.Env, URL: x.URL, Headers: x.Headers}
		if len(x.Command) > 0 {
			c.Command, c.Args = x.Command[0], x.Command[1:]
		}
		if c.URL != "" {
			c.Type = "http"
		}
		if ms, ok := x.Timeout.(float64); ok {
			c.Timeout = int(ms)
		}
		switch {
		case x.Enabled != nil && !*x.Enabled:
			why = "it is switched off"
		case x.Cwd != "":
			why = "it starts in a folder of its own (cwd), which adze has no setting for"
		case x.OAuth != nil && x.OAuth != false:
			why = "it signs in with OAuth, which is to be set up here anew"
		}
		s.server(OpenCode, name, c, why, expand)
	}
	s.openRules(path, f.Permission)
}

// openRules are permissions by tool: one word, or a word for each pattern, of
// which the last that fits counts there. Here denials come before questions and
// both before what is allowed, which is stricter, and so is said.
func (s *Settings) openRules(path string, raw json.RawMessage) {
	var tools map[string]json.RawMessage
	if len(raw) == 0 {
		return
	}
	var all string
	if json.Unmarshal(raw, &all) == nil {
		s.rule(OpenCode, "permission "+all, policy.Ask, "", "it is for all tools at once: see --permission-mode")
		return
	}
	if err := json.Unmarshal(raw, &tools); err != nil {
		s.Errors = append(s.Errors, fmt.Errorf("read %s: permission: %w", path, err))
		return
	}
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		word, patterns := "", map[string]string{}
		if json.Unmarshal(tools[tool], &word) == nil {
			patterns["*"] = word
		} else if json.Unmarshal(tools[tool], &patterns) != nil {
			s.rule(OpenCode, "permission."+tool, policy.Ask, "", "it is neither a word nor patterns with a word each")
			continue
		}
		for _, p := range slices.Sorted(maps.Keys(patterns)) {
			s.openRule(tool, p, patterns)
		}
	}
}

func (s *Settings) openRule(tool, p string, patterns map[string]string) {
	theirs := fmt.Sprintf("permission.%s %q: %s", tool, p, patterns[p])
	var e policy.Effect
	switch patterns[p] {
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
	ours, ok := map[string]string{"bash": "Bash", "edit": "Edit", "read": "Read", "webfetch": "WebFetch", "websearch": "WebSearch"}[tool]
	others := len(patterns) > 1
	switch {
	case !ok:
		s.rule(OpenCode, theirs, e, "", "adze has no tool that does what "+tool+" does")
	case p == "*" && others && e != policy.Allow:
		s.rule(OpenCode, theirs, e, "", "beside other patterns it would bind all of them here; what no rule allows is asked about anyway")
	case p == "*" && e == policy.Allow && tool == "edit":
		s.rule(OpenCode, theirs, e, "Edit(./**)", "")
	case p == "*":
		s.rule(OpenCode, theirs, e, ours, "")
	case tool == "bash" && !strings.ContainsAny(p, "?()"):
		s.rule(OpenCode, theirs, e, "Bash("+p+")", "")
	default:
		s.rule(OpenCode, theirs, e, "", "patterns of "+tool+" have another meaning here")
	}
}

var (
	crushCommand  = pattern.Lazy(`\$\(|` + "`")
	crushVariable = pattern.Lazy(`\$\{?(\w+)(:-[^}]*)?\}?`)
)

func (a *Agents) crushSettings(s *Settings, path string) {
	var f struct {
		MCP map[string]struct {
			server
			Disabled bool     `json:"disabled"`
			Without  []string `json:"disabled_tools"`
			Only     []string `json:"enabled_tools"`
			OAuth    bool     `json:"oauth"`
		} `json:"mcp"`
		Permissions struct {
			Allowed []string `json:"allowed_tools"`
		} `json:"permissions"`
	}
	if !s.read(path, &f) {
		return
	}
	expand := func(v string) (string, string) {
		if crushCommand().MatchString(v) {
			return v, "a value is what a command prints, which adze has no setting for"
		}
		return crushVariable().ReplaceAllString(v, "$${$1$2}"), ""
	}
	for _, name := range slices.Sorted(maps.Keys(f.MCP)) {
		x, why := f.MCP[name], ""
		c := x.server
		c.Timeout *= 1000
		switch {
		case x.Disabled:
			why = "it is switched off"
		case x.OAuth:
			why = "it signs in with OAuth, which is to be set up here anew"
		case len(x.Only) > 0:
			why = "it offers some of its tools only; add it, and deny the others (mcp__" + name + "__TOOL)"
		}
		s.server(Crush, name, c, why, expand)
		for _, tool := range x.Without {
			s.rule(Crush, "disabled_tools "+tool+" of "+name, policy.Deny, "mcp__"+name+"__"+tool, "")
		}
	}
	for _, x := range f.Permissions.Allowed {
		tool, action, _ := strings.Cut(x, ":")
		ours, why := map[string]string{"bash": "Bash", "edit": "Edit(./**)", "multiedit": "Edit(./**)", "write": "Edit(./**)", "fetch": "WebFetch",
			"view": "Read(./**)", "ls": "Read(./**)", "grep": "Read(./**)", "glob": "Read(./**)"}[tool], ""
		switch {
		case action != "" && action != map[string]string{"bash": "execute", "edit": "write", "multiedit": "write", "write": "write", "fetch": "fetch", "view": "read"}[tool]:
			why = "adze's rules do not tell the actions of a tool apart"
		case strings.HasPrefix(tool, "mcp_"):
			why = "where the server's name ends is not told; the rule here is mcp__SERVER__TOOL"
		case ours == "":
			why = "adze has no tool that does what " + tool + " does"
		}
		s.rule(Crush, "allowed_tools "+x, policy.Allow, ours, why)
	}
}
