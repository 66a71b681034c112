package policy

import "slices"

// agentNames are the names of the agents that adze brings, each with those that other
// programs have for it: what Claude Code 2.1.332 calls its own, and the older ones. The
// second name is the one that hosts and hooks are told.
var agentNames = [][]string{
	{"general", "general-purpose", "claude"}, {"explore", "Explore"}, {"plan", "Plan"}, {"guide", "claude-code-guide"},
	{"verify", "verification"}, {"statusline", "statusline-setup"},
}

// AgentNames are the names by which rules, matchers and lists may mean an agent: the given
// one first, then the others of an agent that adze brings.
func AgentNames(name string) []string {
	out := []string{name}
	for _, all := range agentNames {
		if slices.Contains(all, name) {
			out = append(out, slices.DeleteFunc(slices.Clone(all), func(n string) bool { return n == name })...)
		}
	}
	return out
}

// PublicAgent is what hosts and hooks are told of an agent that adze brings: the name that
// other programs have for it, where they have one.
func PublicAgent(name string) string {
	for _, all := range agentNames {
		if all[0] == name {
			return all[1]
		}
	}
	return name
}

// DeniesAgent reports whether a rule denies an agent, whatever it is to do.
func (r Rules) DeniesAgent(name string) bool {
	return slices.ContainsFunc(r.List, func(rule Rule) bool {
		return rule.Effect == Deny && rule.family() == "Agent" && (rule.Spec == "" || agentMatch(rule.Spec, name))
	})
}

// agentMatch reports whether the pattern of a rule means an agent, by any of its names.
func agentMatch(spec, name string) bool {
	return slices.ContainsFunc(AgentNames(name), func(n string) bool { return wordMatch(spec, n) })
}
