package policy

import (
	"slices"
	"strings"
)

// find returns the first rule with this effect that matches a, nil if none.
func (c *call) find(e Effect, a Action) *compiledRule {
	for i := range c.rules.by[e] {
		rule := &c.rules.by[e][i]
		if c.matches(rule, e, a) {
			return rule
		}
	}
	return nil
}

// granted reports whether a rule of this session allows a.
func (c *call) granted(a Action) bool {
	for i := range c.rules.by[Allow] {
		if rule := &c.rules.by[Allow][i]; rule.Scope == Session && c.matches(rule, Allow, a) {
			return true
		}
	}
	return false
}

// matches reports whether a rule speaks about an action. Deny and ask rules
// look at every spelling; an allow rule only at the plain one.
func (c *call) matches(rule *compiledRule, e Effect, a Action) bool {
	if rule.Spec == "" && rule.names(c.req.Tool) {
		return true
	}
	switch a := a.(type) {
	case Exec:
		if rule.Tool == "WebFetch" {
			return e != Allow && rule.Spec != "" && slices.ContainsFunc(reached(a.Argv), func(host string) bool { return matchNet(rule.Rule, e, Net{Host: host}) })
		}
		return shellTool(rule.Tool) && (rule.Spec != "" || rule.Tool == "Bash") && c.matchExec(rule, e, a)
	case Opaque:
		return rule.Tool == "Bash" && (rule.cmd.any || e == Allow && c.allowsOpaque(rule, a) || rule.defines.matches(a))
	case Read:
		return c.wholeShell(rule) && e == Allow || c.matchRead(rule, e, a)
	case Write:
		if len(rule.places) > 0 && shellTool(rule.Tool) { // > file
			return shellTool(c.req.Tool) && c.matchFile(rule, a.Path, a.Named, a.Asked)
		}
		return c.wholeShell(rule) && e == Allow || c.matchWrite(rule, e, a)
	case Net:
		return matchNet(rule.Rule, e, a)
	case Call:
		return matchMCP(rule.Rule, e, a)
	case Spawn:
		return rule.family() == "Agent" && (rule.Spec == "" || agentMatch(rule.Spec, a.Agent))
	case Tell:
		return rule.Tool == "SendMessage" && (rule.Spec == "" || wordMatch(rule.Spec, a.To))
	case Workflow:
		return rule.Tool == "Workflow" && (rule.Spec == "" || wordMatch(rule.Spec, a.Name) && (e != Allow || !a.Inline))
	case Skill:
		return rule.Tool == "Skill" && (rule.Spec == "" || skillMatch(rule.Spec, a.Name))
	case Person, None:
	}
	return false
}

func (c *call) matchRead(rule *compiledRule, e Effect, a Read) bool {
	if !rule.governs("Read", c.req.Tool) {
		return false
	}
	return c.matchFile(rule, a.Path, a.Named, a.Asked) || e != Allow && a.Tree && !a.List && rule.matchAll(c.rules.Rules, a.Path)
}

func (c *call) matchWrite(rule *compiledRule, e Effect, a Write) bool {
	if !rule.governs("Edit", c.req.Tool) || e == Allow && (a.Blind || a.Remove && a.Tree) {
		return false
	}
	if c.matchFile(rule, a.Path, a.Named, a.Asked) {
		return true
	}
	if !a.Tree || e == Allow {
		return false
	}
	_, sure := c.stands(rule, a)
	return sure == surely || e == Ask && sure == maybeIs
}

// wholeShell reports whether the rule is Bash or Bash(*), and the request is
// a command.
func (c *call) wholeShell(rule *compiledRule) bool {
	return rule.Tool == "Bash" && rule.cmd.any && shellTool(c.req.Tool)
}

func shellTool(name string) bool { return name == "Bash" || name == "PowerShell" }

func (c *call) matchFile(rule *compiledRule, resolved, named, asked string) bool {
	if rule.Spec == "" {
		return true
	}
	return rule.matchPath(c.rules.Rules, resolved) || rule.matchPath(c.rules.Rules, c.named(named, asked))
}

// matchNet knows WebFetch(domain:x). An allow rule names that host, or with
// *.x those below it; a deny rule for x holds for the hosts below it too.
func matchNet(rule Rule, e Effect, n Net) bool {
	if rule.Tool != "WebFetch" {
		return false
	}
	want, ok := strings.CutPrefix(rule.Spec, "domain:")
	if !ok {
		return rule.Spec == ""
	}
	host := strings.TrimSuffix(strings.ToLower(n.Host), ".")
	want = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(want)), ".")
	if host == want || want == "*" {
		return true
	}
	if below, wild := strings.CutPrefix(want, "*."); wild {
		return strings.HasSuffix(host, "."+below)
	}
	return e != Allow && strings.HasSuffix(host, "."+want)
}

// wordMatch matches a name against a pattern in which * is any run.
func wordMatch(pattern, name string) bool {
	return wildMatch(strings.ReplaceAll(pattern, "*", string(star)), name)
}

// skillMatch knows "name", "name *", "name:*" and "prefix*".
func skillMatch(spec, name string) bool {
	if s, ok := strings.CutSuffix(spec, " *"); ok {
		return name == s || strings.HasPrefix(name, s+" ")
	}
	if s, ok := strings.CutSuffix(spec, ":*"); ok {
		return name == s || strings.HasPrefix(name, s+":") || strings.HasPrefix(name, s+" ")
	}
	return wordMatch(spec, name)
}
