package skills

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

//go:embed tool.md
var toolText string

// Name is what the tool is called.
const Name = "Skill"

type input struct {
	Skill string `json:"skill" jsonschema:"its name, as it is listed"`
	Args  string `json:"args,omitempty" jsonschema:"what stands behind the name, if anything"`
}

// forModel finds a skill that the model may use.
func (d *Desk) forModel(name string) (skill.Skill, error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "/")
	lib := d.Library()
	s, ok := lib.Find(name)
	switch {
	case !ok:
		var names []string
		for _, s := range lib.Skills() {
			if !s.NoModel {
				names = append(names, s.Name)
			}
		}
		if len(names) == 0 {
			return s, fmt.Errorf("there is no skill %q; there are none", clip.Line(clip.Visible(name), 100))
		}
		return s, fmt.Errorf("there is no skill %q%s; there are: %s", clip.Line(clip.Visible(name), 100), near.Hint(name, names), clip.Line(strings.Join(names, ", "), 2000))
	case s.NoModel:
		return s, fmt.Errorf("the skill %s is for people only: they type /%s", s.Name, s.Name)
	}
	return s, nil
}

func (d *Desk) plan(in input, _ tool.Env) (tool.Plan, error) {
	s, err := d.forModel(in.Skill)
	if err != nil {
		return tool.Plan{}, err
	}
	body, err := s.Body()
	if err != nil {
		return tool.Plan{}, err
	}
	runs := skill.Runs(s.Expand(body, d.values(in.Args)))
	return tool.Plan{
		Actions: []policy.Action{policy.Skill{Name: s.Name, Plain: textOnly(s)}},
		View:    view.Text{S: about(s, runs)},
		Title:   "Skill " + clip.Line(strings.TrimSpace(s.Name+" "+clip.Visible(in.Args)), 100),
	}, nil
}

// textOnly reports whether a skill brings nothing but words when the model uses it: it
// lends no rule, and what it runs is ruled on by itself all the same.
func textOnly(s skill.Skill) bool {
	return s.BuiltIn || len(s.Allowed) == 0 && s.Model == "" && s.Hooks == nil
}

// about is what a person sees of a use before it happens.
func about(s skill.Skill, runs []string) string {
	var b strings.Builder
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", what, clip.Line(clip.Visible(text), 300))
		}
	}
	line("skill", s.Name+" of "+s.From)
	line("about", s.Description)
	line("allows for this turn", strings.Join(s.Allowed, ", "))
	line("denies for this turn", strings.Join(s.Denied, ", "))
	line("model", s.Model)
	line("hooks for this turn", string(s.Hooks))
	for i, r := range runs {
		if i == 10 {
			line("runs", fmt.Sprintf("and %d more", len(runs)-i))
			break
		}
		line("runs", r)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (d *Desk) run(ctx context.Context, in input, env tool.Env) (tool.Result, error) {
	s, err := d.forModel(in.Skill)
	if err != nil {
		return tool.Errorf("%s", err), nil
	}
	u, err := d.use(ctx, s, in.Args, env)
	if err != nil {
		return tool.Errorf("the skill %s could not be used: %v", s.Name, err), nil
	}
	if s.BuiltIn { // a person who types /commit allows what it needs; that the model takes it up allows nothing
		u.brings.Rules = nil
	}
	shown := view.Text{S: "uses the skill " + s.Name}
	if s.Fork && d.conf.Fork != nil {
		text, changed, err := d.fork(ctx, s, u, env)
		if err != nil {
			return with(tool.Errorf("the skill %s: %v", s.Name, err), u.changed.Then(changed)), nil
		}
		return with(tool.Result{Text: clip.Middle(text, maxText, "") + byAgent, View: view.Text{S: "the skill " + s.Name + " was done by an agent of its own"}}, u.changed.Then(changed)), nil
	}
	res := tool.Result{Text: "Follow this now, as far as it is about what was asked.\n\n" + u.text, View: shown, Images: u.images, Effects: []tool.Effect{u.brings}}
	if len(u.saw) > 0 {
		res.Effects = append(res.Effects, effect.Saw{Files: u.saw})
	}
	return with(res, u.changed), nil
}

// with is a result with what was changed on the way to it.
func with(res tool.Result, changed effect.Changed) tool.Result {
	if changed.Any() {
		res.Effects = append(res.Effects, changed)
	}
	return res
}
