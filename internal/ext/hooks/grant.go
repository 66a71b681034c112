package hooks

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
)

// suggestions are the rules that "always" would save, as hooks read them.
func suggestions(rules []string) []hook.Update {
	if len(rules) == 0 {
		return []hook.Update{}
	}
	u := hook.Update{Type: "addRules", Behavior: "allow", Destination: "localSettings"}
	for _, text := range rules {
		tool, spec, _ := strings.Cut(text, "(")
		u.Rules = append(u.Rules, hook.UpdateRule{Tool: tool, Spec: strings.TrimSuffix(spec, ")")})
	}
	return []hook.Update{u}
}

// grant puts what a hook changes of the permissions into its answer. In settings
// files it adds what is allowed, and nothing else: what a person wrote there to
// refuse or to ask is not a hook's to change.
func (g *Gate) grant(a *op.Answer, updates []hook.Update) {
	for _, u := range updates {
		keep, known := op.KeepOf(u.Destination)
		change, rules, dead := op.ChangeOf(u.Type, u.Behavior, texts(u.Rules))
		folders, dirs, bad := op.FoldersOf(u.Type, u.Destination, u.Directories)
		switch {
		case !a.Allow:
		case cmp.Or(bad, dead) != nil:
			g.once(fmt.Sprintf("the hook %s wants the permission update %s, which was left out: %v", clip.Line(a.By, 80), u.Type, cmp.Or(bad, dead)))
		case dirs:
			a.Folders = append(a.Folders, folders)
		case u.Type == "setMode" && known && keep == op.ForSession:
			a.Mode = policy.Mode(u.Mode)
		case u.Type == "addRules" && u.Behavior == "allow" && known && (len(a.Rules) == 0 || a.Keep == keep):
			a.Keep = keep
			a.Rules = append(a.Rules, change.Rules...)
		case rules && known && keep == op.ForSession:
			a.Changes = append(a.Changes, change)
		default:
			g.once(fmt.Sprintf("the hook %s wants the permission update %s %s to %q, which is not supported and was left out", clip.Line(a.By, 80), u.Type, u.Behavior, u.Destination))
		}
	}
}

// texts are rules as settings write them.
func texts(rules []hook.UpdateRule) (out []string) {
	for _, r := range rules {
		text := r.Tool
		if r.Spec != "" {
			text += "(" + r.Spec + ")"
		}
		out = append(out, text)
	}
	return out
}
