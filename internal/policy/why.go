package policy

import (
	"fmt"
	"strings"
)

// Why is the reason together with the rule that settled it and where that rule
// stands, each once.
func (v Verdict) Why() string {
	var rule []string
	if v.Rule != "" && !strings.Contains(v.Reason, v.Rule) {
		rule = append(rule, "rule "+v.Rule)
	}
	if v.Rule != "" && v.Source != "" {
		rule = append(rule, v.Source)
	}
	if len(rule) == 0 {
		return v.Reason
	}
	return v.Reason + " (" + strings.Join(rule, ", ") + ")"
}

func byRule(e Effect, rule *compiledRule, a Action, why string) Verdict {
	return Verdict{Effect: e, Reason: fmt.Sprintf("%s: %s", why, rule.Text()), Rule: rule.Text(), Source: rule.Source, Check: CheckRule, Part: part(a)}
}

func whyNot(e Exec) string {
	switch {
	case e.Beyond != "":
		return e.Beyond
	case e.Why != "":
		return e.Why
	}
	return "no rule covers this command"
}

// show names a path for a person: what was written, and what it means.
func show(asked, resolved string) string {
	if asked == "" || asked == resolved {
		return resolved
	}
	return asked + " (" + resolved + ")"
}

// part is the piece of a request that a dialog marks.
func part(a Action) string {
	switch a := a.(type) {
	case Exec:
		return QuoteCommand(a.Argv)
	case Opaque:
		return a.Source
	case Read:
		return a.Path
	case Write:
		return a.Path
	case Net:
		if a.URL != "" {
			return a.URL
		}
		return a.Host
	case Call:
		return "mcp__" + a.Server + "__" + a.Tool
	case Spawn:
		return a.Agent
	case Skill:
		return a.Name
	case Person, None:
	}
	return ""
}
