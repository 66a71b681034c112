package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A foreignVar is a variable of Claude Code that stands for a setting of ours. read
// gives the setting's value for the variable's; ok is false where it says nothing that
// can be used.
type foreignVar struct {
	name, key string
	read      func(string) (any, bool)
}

// foreignVars are public (code.claude.com/docs/en/settings and /model-config, 2026-11).
// The variables of a provider (its address, keys, headers and the models behind its
// aliases) are not here: package choose reads them by name.
var foreignVars = []foreignVar{
	{"ANTHROPIC_MODEL", "model", func(s string) (any, bool) { return "anthropic/" + s, true }},
	{"CLAUDE_CODE_EFFORT_LEVEL", "effort", func(s string) (any, bool) { return strings.ToLower(s), !strings.EqualFold(s, "auto") }},
	{"MAX_THINKING_TOKENS", "effort", thinkingTokens},
	{"CLAUDE_CODE_MAX_OUTPUT_TOKENS", "max_output_tokens", whole(1)},
	{"API_TIMEOUT_MS", "stream_idle_timeout", whole(1000)},
	{"MCP_TIMEOUT", "mcp.wait", whole(1000)}, // which also bounds each attempt to connect (ext.ServerTimeouts)
}

// thinkingTokens: 0 turns reasoning off.
func thinkingTokens(s string) (any, bool) {
	n, err := strconv.Atoi(s)
	if err == nil && n == 0 {
		return "none", true
	}
	return s, err == nil && n > 0
}

// whole reads a positive whole number, divided by unit and rounded up.
func whole(unit int) func(string) (any, bool) {
	return func(s string) (any, bool) {
		n, err := strconv.Atoi(s)
		if err != nil || n <= 0 || n > math.MaxInt32 {
			return nil, false
		}
		return (n + unit - 1) / unit, true
	}
}

// A ForeignVar is a variable of Claude Code that stands for a setting.
type ForeignVar struct{ Name, Key string }

// ForeignVars are those variables.
func ForeignVars() (out []ForeignVar) {
	for _, v := range foreignVars {
		out = append(out, ForeignVar{v.name, v.key})
	}
	return out
}

// withVariables lays what variables in `env` of one of the person's own files say over
// the file's own keys, as the program does whose variables they are.
func (l *loader) withVariables(n *node) *node {
	env := n.get("env")
	if env == nil || env.kind != '{' {
		return n
	}
	for _, v := range slices.Backward(foreignVars) { // of two for one key, the first counts
		at := env.get(v.name)
		if at == nil || at.kind != '"' || strings.TrimSpace(at.text) == "" {
			continue
		}
		if value := l.variable(v, at.text, at.from); value != nil {
			n = n.set(v.key, value)
		}
	}
	return n
}

// variable is the setting that a variable stands for, nil where it cannot be used.
func (l *loader) variable(v foreignVar, text string, from Origin) *node {
	value, ok := v.read(strings.TrimSpace(text))
	if v.name == "CLAUDE_CODE_EFFORT_LEVEL" && !ok {
		return nil // auto: as without it
	}
	n, err := fromGo(value, from)
	if ok && err == nil {
		c, at := checker{}, l.spec
		for seg := range strings.SplitSeq(v.key, ".") {
			at = at.kids[Fold(seg)]
		}
		n = c.value(n, at, v.key)
		ok = len(c.problems) == 0 && n != nil
	}
	if !ok || err != nil {
		l.problem(Warning, from, "env."+v.name, fmt.Sprintf("not used: %q is no value of %s", text, v.name))
		return nil
	}
	return n
}

// addForeign takes variables of the process that stand for a setting. They count below
// our own files, and above the files of the agent whose variables they are; what `env`
// of the person's settings says of the same variable goes first.
func (l *loader) addForeign() {
	if l.o.Env == nil {
		return
	}
	for _, v := range slices.Backward(foreignVars) {
		text := l.o.Env(v.name)
		if strings.TrimSpace(text) == "" || l.ownVariable(v.name) != nil {
			continue
		}
		at := l.tree.at(v.key)
		foreign := at != nil && at.from.Scope == EnvVar && slices.ContainsFunc(foreignVars, func(v foreignVar) bool { return v.name == at.from.From })
		if at != nil && at.from.Scope != Default && !foreign && !l.out.ccFile(at.from.File) {
			continue
		}
		if value := l.variable(v, text, Origin{Scope: EnvVar, From: v.name, Root: l.o.Dir}); value != nil {
			l.lay((&node{kind: '{', from: value.from}).set(v.key, value))
		}
	}
}

// ownVariable is what `env` of the person's own settings, or an administrator's, says of
// a variable; nil where it says nothing. A project's file never speaks here.
func (l *loader) ownVariable(name string) *node { return personal(l.tree, name) }

func personal(tree *node, name string) *node {
	n := tree.get("env").get(name)
	if n == nil || n.kind != '"' || n.from.Scope.Repo() {
		return nil
	}
	return n
}

// Variable is what `env` of the person's own settings, or of an administrator's, says of
// a variable that adze itself reads, such as a provider's address. It goes before the
// process's environment, also where it is empty. ok is false where it is not there, and
// where a project's file has it. firm: --settings or the administrator says it.
func (c *Config) Variable(name string) (value string, firm, ok bool) {
	n := personal(c.tree, name)
	if n == nil {
		return "", false, false
	}
	return n.text, n.from.Scope == Settings || n.from.Scope == Managed, true
}

// Over is an environment with the variables of the person's own settings over it.
func (c *Config) Over(env func(string) string) func(string) string {
	return func(name string) string {
		if v, _, ok := c.Variable(name); ok {
			return v
		}
		if env == nil {
			return ""
		}
		return env(name)
	}
}
