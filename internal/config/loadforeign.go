package config

import (
	"slices"
	"strings"
)

// ccThinking has another agent's switch of reasoning be an effort, where the file names
// none: off is none, and on is what models do by themselves.
func ccThinking(n *node) *node {
	const name = "alwaysThinkingEnabled"
	v := n.get(name)
	if v == nil || v.kind != 't' {
		return n
	}
	n = n.unset(name)
	if string(v.raw) == "false" && n.get("effortLevel") == nil {
		n = n.set("effortLevel", withText(v, "none"))
	}
	return n
}

// ccModel is what a model's name in another agent's file n means here; ok is false where
// it means nothing. A name that is no alias is one of Anthropic's, or one that the server
// knows which the person's variables put in the place of Anthropic's; a project's file has none.
func (l *loader) ccModel(n *node, name string, scope Scope) (model string, ok bool) {
	alias, _ := strings.CutSuffix(strings.ToLower(name), "[1m]")
	if slices.Contains([]string{"opus", "sonnet", "haiku", "fable", "best", "opusplan", "default"}, alias) {
		return name, true
	}
	const address = "ANTHROPIC_BASE_URL"
	behind := n.get("env").get(address) != nil || l.ownVariable(address) != nil || l.o.Env != nil && l.o.Env(address) != ""
	return "anthropic/" + name, !scope.Repo() && name != "" && (behind || strings.HasPrefix(alias, "claude-"))
}
