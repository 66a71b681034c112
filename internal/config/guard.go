package config

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
)

// guard takes out of one layer what its scope may not set. below is what the
// weaker layers said.
func (l *loader) guard(n, below *node, scope Scope) *node {
	for _, k := range l.table {
		if strings.Contains(k.Name, "*") {
			continue
		}
		v := n.at(k.Name)
		if v == nil {
			continue
		}
		if k.Name == "env" && scope.Repo() && v.kind == '{' {
			n = n.set("env", l.repoEnv(v))
			continue
		}
		if why := forbidden(k, v, below.at(k.Name), scope); why != "" {
			l.problem(Warning, v.from, k.Name, why)
			n = n.unset(k.Name)
		}
	}
	return l.guardNulls(n, scope)
}

// forbidden says why a scope may not give a key this value, or "".
func forbidden(k Key, v, below *node, scope Scope) string {
	inFile := scope != Flag && scope != EnvVar
	switch {
	case k.Guard == Admin && scope != Managed:
		return "not used: only managed settings may set this"
	case k.Name == "permissions.defaultMode" && inFile && v.kind == '"' && modeRank(v.text) == 0:
		return "not used: the bypass mode needs --dangerously-skip-permissions at every start"
	case !scope.Repo():
		return ""
	case k.Guard == Person || k.Guard == Own && scope != Local:
		return "not used: a project's file may not set this, only your own settings or a flag"
	case k.Guard != Tighten || v.kind == 'n':
		return ""
	case k.Name == "permissions.defaultMode":
		was := "default"
		if below != nil {
			was = below.text
		}
		if r := modeRank(v.text); r < modeRank("default") || r < modeRank(was) {
			return "not used: a project's file may not choose a looser mode than you"
		}
	case v.kind == 't' && string(v.raw) == "false":
		return "not used: a project's file may only make this stricter"
	}
	return ""
}

// modeRank orders modes by how much they hold back.
func modeRank(name string) int {
	m, _ := policy.ParseMode(name)
	switch m {
	case policy.Bypass:
		return 0
	case policy.Auto:
		return 1
	case policy.AcceptEdits:
		return 2
	case policy.Default:
		return 3
	case policy.DontAsk, policy.PlanMode:
	}
	return 4
}

// guardNulls keeps a null from lifting what others forbid. Nothing removes a
// deny rule; a project's file resets only plain harmless values.
func (l *loader) guardNulls(n *node, scope Scope) *node {
	var walk func(at *node, path string) *node
	walk = func(at *node, path string) *node {
		out := at
		for _, m := range at.members {
			p := join(path, m.name)
			switch {
			case m.value.kind == '{' && l.isSection(p):
				out = out.with(member{m.name, m.from, walk(m.value, p)})
			case m.value.kind == 'n':
				if why := l.nullForbidden(p, scope); why != "" {
					l.problem(Warning, m.value.from, p, why)
					out = out.with(member{name: m.name})
				}
			case m.value.kind == '{' && scope.Repo():
				out = out.with(member{m.name, m.from, l.repoMap(m.value, p)})
			}
		}
		return out
	}
	return walk(n, "")
}

// repoMap drops the nulls of a project's map or object.
func (l *loader) repoMap(n *node, path string) *node {
	out := n
	for _, m := range n.members {
		if m.value.kind == 'n' {
			l.problem(Warning, m.value.from, join(path, m.name), "null not used: a project's file may not remove this")
			out = out.with(member{name: m.name})
		}
	}
	return out
}

func (l *loader) isSection(path string) bool {
	return slices.ContainsFunc(l.table, func(k Key) bool { return strings.HasPrefix(k.Name, path+".") && !strings.Contains(k.Name, "*") })
}

func (l *loader) nullForbidden(path string, scope Scope) string {
	if path == "permissions" || path == "permissions.deny" {
		return "null not used: a deny rule is only removed where it stands"
	}
	if !scope.Repo() || path == "permissions.allow" {
		return ""
	}
	for _, k := range l.table {
		if k.Name != path {
			continue
		}
		switch k.Kind {
		case String, Int, Number, Bool, Tokens, Portion, Space, Level, Off:
			if k.Guard == Free && !k.Runs {
				return ""
			}
		case Strings, StringMap, Bools, Objects, Object, List, Anything:
		}
	}
	return "null not used: a project's file may not remove this"
}

// unset removes a dotted path.
func (n *node) unset(path string) *node {
	seg, rest, more := strings.Cut(path, ".")
	kid := n.get(seg)
	if kid == nil {
		return n
	}
	if !more {
		return n.with(member{name: seg})
	}
	return n.with(member{seg, kid.from, kid.unset(rest)})
}

// repoEnv drops the variables that would redirect a provider, a runtime or
// this program.
func (l *loader) repoEnv(n *node) *node {
	out := n
	for _, m := range n.members {
		if steering(m.name) {
			l.problem(Warning, m.from, "env."+m.name, "not used: a project's file may not set this variable")
			out = out.with(member{name: m.name})
		}
	}
	return out
}

var (
	steeringNames = []string{"PATH", "HOME", "USER", "SHELL", "IFS", "ENV", "BASH_ENV", "PS4", "PROMPT_COMMAND", "CDPATH",
		"EDITOR", "VISUAL", "PAGER", "BROWSER", "TMPDIR", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
		"REQUESTS_CA_BUNDLE", "OLLAMA_HOST", "RUSTC_WRAPPER", "GOFLAGS", "GOPROXY", "GOENV", "MAKEFLAGS", "LESSOPEN", "LESSCLOSE",
		"MAX_THINKING_TOKENS", "API_TIMEOUT_MS", "RIPGREP_CONFIG_PATH", "PATHEXT", "COMSPEC", "PSMODULEPATH", "ZDOTDIR"}
	steeringPrefixes = []string{"LD_", "DYLD_", "GIT_", "SSH_", "ADZE_", "XDG_", "CLAUDE", "ANTHROPIC_", "OPENAI_", "GEMINI_",
		"GOOGLE_", "AWS_", "AZURE_", "VERTEX_", "NODE_", "NPM_CONFIG_", "PYTHON", "PIP_", "UV_", "PERL5", "RUBY", "BUNDLE_", "SSL_", "CURL_", "CARGO_"}
	steeringSuffixes = []string{"_PROXY", "_BASE_URL", "_API_BASE", "_ENDPOINT", "_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_CREDENTIALS"}
)

// steering reports whether a variable redirects a provider, a runtime or this program.
func steering(name string) bool {
	u := strings.ToUpper(name)
	has := func(list []string, f func(s, x string) bool) bool {
		return slices.ContainsFunc(list, func(x string) bool { return f(u, x) })
	}
	return slices.Contains(steeringNames, u) || has(steeringPrefixes, strings.HasPrefix) || has(steeringSuffixes, strings.HasSuffix)
}

// untrusted keeps of a repository's file only what forbids.
func untrusted(n *node) (kept *node, dropped bool) {
	kept = &node{kind: '{', from: n.from}
	for _, m := range n.members {
		if m.name != "permissions" || m.value.kind != '{' {
			dropped = true
			continue
		}
		for _, p := range m.value.members {
			if p.name == "deny" || p.name == "ask" {
				kept = kept.set("permissions."+p.name, p.value)
			} else {
				dropped = true
			}
		}
	}
	return kept, dropped
}

// claims lists what a repository's file wants that could run code or loosen
// a rule.
func (l *loader) claims(n *node) {
	for _, k := range l.table {
		if !k.Runs && k.Guard == Free || strings.Contains(k.Name, "*") {
			continue
		}
		if v := n.at(k.Name); v != nil && v.kind != 'n' {
			text := clip.Visible(string(v.json())) // whole: somebody says yes to it
			l.out.Claims = append(l.out.Claims, Claim{Key: k.Name, Text: text, Origin: v.from})
		}
	}
}
