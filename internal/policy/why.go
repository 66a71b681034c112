package policy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
)

// Why is the reason together with the rule that settled it and where that rule
// stands, each once.
func (v Verdict) Why() string { return why(v.Reason, v.Rule, v.Source) }

// Why is what Verdict.Why is, of the part alone.
func (p Piece) Why() string { return why(p.Reason, p.Rule, p.Source) }

func why(reason, rule, source string) string {
	var settled []string
	if !strings.Contains(reason, rule) {
		settled = append(settled, "rule "+rule)
	}
	if rule != "" && source != "" {
		settled = append(settled, source)
	}
	if len(settled) == 0 {
		return reason
	}
	return reason + " (" + strings.Join(settled, ", ") + ")"
}

// Denied is the refusal of the same call by somebody else than the rules: a hook, a person.
// The rule that spoke of it before did not settle that, and is not named.
func (v Verdict) Denied(c Check, reason string) Verdict {
	v.Effect, v.Check, v.Reason = Deny, c, reason
	v.Rule, v.Source = "", ""
	return v
}

func byRule(e Effect, rule *compiledRule, a Action, why string) Verdict {
	return Verdict{Effect: e, Reason: fmt.Sprintf("%s: %s", why, rule.Text()), Rule: rule.Text(), Source: rule.Source, Check: CheckRule, Part: part(a)}
}

// noRule says that no rule allows a command, by the words that tell what it is, and what
// speaks against running it without one.
func noRule(e Exec) string {
	out, why := "no rule allows it", cmp.Or(e.Beyond, e.Why)
	if len(e.Argv) > 0 {
		n := max(stable(e.Argv), 1)
		if n == 1 && len(e.Argv) > 1 && plainWord(e.Argv[0]) && plainWord(e.Argv[1]) {
			n = 2
		}
		for k := min(len(e.Argv), 4); k > n; k-- { // as many words as the reason names
			if strings.HasPrefix(why, QuoteCommand(e.Argv[:k])+" is ") {
				n = k
			}
		}
		if name := QuoteCommand(e.Argv[:n]); len(name) <= maxForm {
			out = "no rule allows `" + name + "`"
			if rest, same := strings.CutPrefix(why, name+" is "); same {
				return out + ", which is " + rest
			}
		}
	}
	if why == "" {
		return out
	}
	return out + "; " + why
}

// uncovered says, of a command that an allow rule names and does not cover, which rule that
// is and why it does not; "" when there is none.
func (c *call) uncovered(argv []string, why string) string {
	for i := range c.rules.by[Allow] {
		rule := &c.rules.by[Allow][i]
		if shellTool(rule.Tool) && !rule.cmd.any && why != "" && len(argv) > 0 && rule.cmd.match(argv) {
			return "the rule " + rule.Text() + " does not cover it: " + why
		}
	}
	return ""
}

// strayed says which path outside of the folders of the session a command names.
func (c *call) strayed(a Exec) string {
	out := c.outside(a)
	if len(out) == 0 {
		return ""
	}
	return c.show(out[0].Asked, out[0].Path) + " is outside of the folders of the session"
}

// maxForm bounds, in bytes, how much of a command is named in a reason.
const maxForm = 60

// plainWord reports a word that may be the name of a program or of a subcommand.
func plainWord(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// unruled is why a change is asked about that nothing speaks against.
func (c *call) unruled(a Write) string {
	does := "is changed"
	if a.Remove {
		does = "is removed"
	}
	name := c.show(a.Asked, a.Path)
	if a.Content {
		name = "all that is in " + a.Path
	}
	switch {
	case !c.inDirs(a.Path):
		return name + " is outside the folders that may be changed"
	case c.mode == Default, c.mode == AcceptEdits && c.owned && !c.pure:
		return fmt.Sprintf("the mode %s asks before %s %s", c.mode, name, does)
	case c.mode == AcceptEdits && a.Blind:
		return fmt.Sprintf("%s %s with what comes out of a pipe, which the mode %s asks about", name, does, c.mode)
	case c.mode == AcceptEdits && a.Content:
		return fmt.Sprintf("%s %s, which the mode %s asks about", name, does, c.mode)
	case c.mode == AcceptEdits:
		return fmt.Sprintf("%s %s with all that is in it, which the mode %s asks about", name, does, c.mode)
	}
	return fmt.Sprintf("no rule allows that %s %s", name, does)
}

// unclear is why a script, or a part of one, is not judged by what was read of it.
func unclear(a Opaque) string {
	if a.Whole {
		return a.Why
	}
	return "part of this could not be read exactly: " + a.Why
}

// show names a path for a person: what was written, and what it means where that is
// something else.
func (c *call) show(asked, resolved string) string {
	if asked == "" || asked == resolved || strings.Trim(asked, "./") == "" { // dots are lost in a sentence
		return resolved
	}
	rest, home := strings.CutPrefix(asked, "~/")
	if c.named("", asked) == resolved || home && filepath.Join(c.rules.Home, rest) == resolved {
		return asked
	}
	return asked + " (" + resolved + ")"
}

// part is the piece of a request that a dialog marks.
func part(a Action) string {
	switch a := a.(type) {
	case Exec:
		return asWritten(a)
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
	case Tell:
		return a.To
	case Workflow:
		return a.Name
	case Skill:
		return a.Name
	case Person, None:
	}
	return ""
}
