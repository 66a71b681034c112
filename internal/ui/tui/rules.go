package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
)

// rulesCommand shows the mode and the rules that hold now, those of the session
// first, and has a person take one back.
func (m *Model) rulesCommand() []effect {
	d := newMenu(m, "Permissions", nil, nil)
	d.Loading, d.None = true, "No rule is set, here or in the settings."
	d.Hint, d.Deletes = "Enter takes a rule back, Esc closes", true
	var list []ask.Rule
	at := func(id string) (r ask.Rule, ok bool) {
		i := slices.IndexFunc(list, func(r ask.Rule) bool { return ruleID(r) == id })
		if i < 0 {
			return r, false
		}
		return list[i], true
	}
	d.chosen = func(m *Model, c Choice) []effect {
		if r, ok := at(c.ID); ok {
			return m.takeRuleBack(r)
		}
		return nil
	}
	m.open(d)
	s := m.s
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		var rules ask.RuleSet
		r, err := m.host.ask(ctx, s, ask.Rules{})
		if err == nil {
			rules, err = ask.Data[ask.RuleSet](r)
		}
		return func(m *Model) []effect {
			if d.Loading = false; err != nil {
				m.close(d)
				return m.fail(err)
			}
			list = inOrder(rules.List)
			d.About = m.permitted(rules)
			d.Set(m.ruleChoices(list))
			return nil
		}
	}}}
}

// ruleID tells a rule from the others in force.
func ruleID(r ask.Rule) string {
	return strings.Join([]string{string(r.Scope), r.Effect.String(), r.Text, r.Source}, "\x00")
}

// inOrder has the session's rules first, and of each kind those that refuse before
// those that ask and those that allow.
func inOrder(rules []ask.Rule) []ask.Rule {
	out := slices.Clone(rules)
	order.By(out, func(a, b ask.Rule) int {
		away := func(r ask.Rule) int {
			if r.Scope == policy.Session {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(away(a), away(b)), cmp.Compare(b.Effect, a.Effect))
	})
	return out
}

// permitted is the mode, and the folders that may be worked in.
func (m *Model) permitted(r ask.RuleSet) string {
	how := m.keys.Hint(keymap.CycleMode) + " or /mode"
	if m.screen.plain {
		how = "/mode"
	}
	out := fmt.Sprintf("Mode: %s (%s). %s changes it.", m.mode(), modeName(m.mode()), how)
	if len(r.Dirs) > 0 {
		out += "\nFolders: " + strings.Join(r.Dirs, ", ")
	}
	if r.Unsafe != "" {
		out += "\nNothing is allowed without a question: " + r.Unsafe
	}
	return out
}

// ruleRoom is what a row has beside the rule and its place: border, mark and effect.
const ruleRoom = 14

func (m *Model) ruleChoices(list []ask.Rule) []Choice {
	var all []Choice
	for _, r := range list {
		c := Choice{ID: ruleID(r), Lead: fmt.Sprintf("%-5s ", r.Effect), Name: r.Text, Right: m.short(r.Source), About: r.Doubt}
		if i := strings.LastIndexByte(c.Right, '/'); i > 0 && draw.Width(c.Name)+draw.Width(c.Right)+ruleRoom > m.screen.size.Cols { // the rule is what counts
			c.Right = m.paper().Sign(draw.Ellipsis) + c.Right[i:]
		}
		if r.Scope == policy.Session {
			c.Right = dialog.Kept(op.ForSession)
		}
		all = append(all, c)
	}
	return all
}

// short is a place below the person's home as people write it.
func (m *Model) short(place string) string {
	if rest, below := strings.CutPrefix(place, m.s.Home+"/"); below && m.s.Home != "" {
		return "~/" + rest
	}
	return place
}

// takeRuleBack takes a rule back: at once where it ends with the session, after a
// question where it stands in a file.
func (m *Model) takeRuleBack(r ask.Rule) []effect {
	_, written := writtenIn[r.Scope]
	switch {
	case r.Scope == policy.Session:
		return []effect{submit{op: op.Revoke{Rules: []string{r.Text}, Effect: r.Effect}, then: (*Model).fail}}
	case !written:
		m.say(draw.String(fmt.Sprintf("not taken back here: %s is from %s", r.Text, m.short(r.Source))), draw.Quiet)
	default:
		m.open(m.forgetting(r))
	}
	return nil
}

// writtenIn says whose file a rule stands in.
var writtenIn = map[policy.Scope]string{
	policy.User: "your settings, for all projects", policy.Project: "the project's settings, for everybody", policy.Local: "your settings for this project",
}

// forgetting asks whether a rule is removed from its file.
func (m *Model) forgetting(r ask.Rule) dialog.Dialog {
	all := []Choice{{ID: "yes", Name: "Remove it"}, {ID: "no", Name: "Leave it"}}
	without := "" // what is so then
	switch r.Effect {
	case policy.Deny:
		all[0], all[1] = all[1], all[0] // no Enter too many lifts what is forbidden
		without = "\nWhat it forbids is decided by the other rules and the mode then."
	case policy.Ask:
		without = "\nWhat it asks about may pass without a question then."
	case policy.Allow:
	}
	d := newMenu(m, "Take a rule back?", all, func(m *Model, c Choice) []effect {
		if c.ID != "yes" {
			return m.rulesCommand()
		}
		return []effect{work{func(ctx context.Context) func(*Model) []effect {
			err := m.host.keep(ctx, ask.Forget{Rule: r})
			return func(m *Model) []effect {
				if err != nil {
					return m.fail(err)
				}
				m.note("info", "taken back: "+draw.String(r.Text)+" stood in "+draw.String(m.short(r.Source)), "")
				return m.alsoHere(r)
			}
		}}}
	})
	d.About, d.Fixed = r.Effect.String()+" "+r.Text+"\nIt stands in "+writtenIn[r.Scope]+": "+m.short(r.Source)+without, true
	return d
}

// alsoHere takes back what the session was granted together with a rule that was
// saved.
func (m *Model) alsoHere(r ask.Rule) []effect {
	return []effect{submit{op: op.Revoke{Rules: []string{r.Text}, Effect: r.Effect}, then: func(*Model, error) []effect { return nil }}}
}

// granted says what is not asked about any more, because of an answer.
func (m *Model) granted(b event.Answered) {
	if !b.Allow || len(b.Rules) == 0 {
		return
	}
	m.note("quiet", draw.String(strings.Join(b.Rules, ", "))+" is not asked about any more "+dialog.Kept(b.Keep), "/permissions takes it back")
}
