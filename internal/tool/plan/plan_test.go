package plan

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

const text = "# Sort the list\n\n1. Change a.go\n"

func input(plan string) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"plan": plan})
	return raw
}

func scratch(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEnter(t *testing.T) {
	p, err := Enter("").Plan(json.RawMessage(`{}`), tool.Env{Mode: policy.Default})
	if err != nil || policy.Decide(policy.Rules{}, policy.Default, policy.Request{Tool: "EnterPlanMode", Actions: p.Actions}).Effect != policy.Allow {
		t.Errorf("it asks: %+v %v", p, err)
	}
	r, err := Enter("").Run(t.Context(), json.RawMessage(`{}`), tool.Env{})
	if err != nil || modeOf(r) != policy.PlanMode || r.IsErr || !strings.Contains(r.Text, "ExitPlanMode") {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := Enter("").Plan(json.RawMessage(`{}`), tool.Env{Mode: policy.PlanMode}); err == nil {
		t.Error("plan mode was entered twice")
	}
	if _, err := Enter("").Plan(json.RawMessage(`{"x":1}`), tool.Env{}); err == nil {
		t.Error("it takes input")
	}
}

func TestExitPlan(t *testing.T) {
	dir := scratch(t)
	p, err := Exit().Plan(input(text), tool.Env{Scratch: dir, Mode: policy.PlanMode})
	if err != nil {
		t.Fatal(err)
	}
	if p.Title != "Plan: Sort the list" || p.Parallel {
		t.Errorf("%+v", p)
	}
	g := p.View.(view.Group)
	q := g.Blocks[1].(view.Questions).Items[0]
	if d := cmp.Diff(g.Blocks[0], view.Block(view.Text{S: text, Prose: true, File: filepath.Join(dir, File)})); d != "" || len(q.Options) != 4 || q.Options[1].Label != AskEdits {
		t.Errorf("%s %+v", d, q)
	}
	// every mode that can ask, asks; bypass does too
	for _, m := range []policy.Mode{policy.PlanMode, policy.Default, policy.Auto, policy.Bypass, policy.AcceptEdits} {
		v := policy.Decide(policy.Rules{List: []policy.Rule{{Tool: "ExitPlanMode", Effect: policy.Allow}}}, m, policy.Request{Tool: "ExitPlanMode", Actions: p.Actions})
		if v.Effect != policy.Ask || v.Check != "person" {
			t.Errorf("%s: %+v", m, v)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, File)); err != nil || string(b) != text {
		t.Errorf("%q %v", b, err)
	}
	if info, _ := os.Stat(filepath.Join(dir, File)); info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v", info.Mode())
	}
}

func TestExitRefuses(t *testing.T) {
	for _, c := range []struct {
		in   string
		mode policy.Mode
		want string
	}{
		{" \n", policy.PlanMode, `field "plan" is empty`},
		{strings.Repeat("x", maxPlan+1), policy.PlanMode, `field "plan" has 100001 bytes; at most 100000`},
		{text, policy.Default, errNotPlanning.Error()},
	} {
		env := tool.Env{Mode: c.mode, Answer: &tool.Answer{}}
		if _, err := Exit().Plan(input(c.in), env); fmt.Sprint(err) != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
		if r, err := Exit().Run(t.Context(), input(c.in), env); err != nil || !r.IsErr || r.Text != c.want || modeOf(r) != "" {
			t.Errorf("%+v %v", r, err)
		}
	}
}

func TestApproved(t *testing.T) {
	for _, c := range []struct {
		answer tool.Answer
		mode   policy.Mode
		fresh  bool
		want   []string
		not    string
	}{
		{tool.Answer{Choices: [][]string{{AcceptEdits}}}, policy.AcceptEdits, false, []string{"approved", "without a question", File}, text},
		{tool.Answer{Choices: [][]string{{AskEdits}}}, policy.Default, false, []string{"asked about each edit"}, text},
		{tool.Answer{Choices: [][]string{{FreshAcceptEdits}}}, policy.AcceptEdits, true, []string{text}, "edited"},
		{tool.Answer{Choices: [][]string{{FreshAskEdits}}}, policy.Default, true, []string{text}, "edited"},
		{tool.Answer{}, policy.Default, false, nil, text},
		{tool.Answer{Input: []byte(`{"plan":"x"}`), Mode: policy.AcceptEdits}, policy.AcceptEdits, false, []string{"was edited before it was approved. This text is what counts:\n\n" + text}, "each edit"}, // it was written anew by then
		{tool.Answer{Choices: [][]string{{"bypassPermissions"}}}, policy.Default, false, nil, text},
	} {
		env := tool.Env{Scratch: scratch(t), Mode: policy.PlanMode}
		if _, err := Exit().Plan(input(text), env); err != nil {
			t.Fatal(err)
		}
		env.Answer = &c.answer
		r, err := Exit().Run(t.Context(), input(text), env)
		if err != nil || r.IsErr || modeOf(r) != c.mode || freshOf(r) != c.fresh || finalOf(r) != "" || strings.Contains(r.Text, c.not) {
			t.Errorf("%+v: %+v %v", c.answer, r, err)
		}
		for _, w := range c.want {
			if !strings.Contains(r.Text, w) {
				t.Errorf("%+v: %q lacks %q", c.answer, r.Text, w)
			}
		}
	}
}

func TestEdited(t *testing.T) {
	env := tool.Env{Scratch: scratch(t), Answer: &tool.Answer{Choices: [][]string{{AcceptEdits}}}}
	if _, err := Exit().Plan(input(text), env); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(env.Scratch, File)
	if err := os.WriteFile(file, []byte("only a.go\r\n\x1b[31mplease"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Exit().Run(t.Context(), input(text), env)
	if err != nil || !strings.HasSuffix(r.Text, "This text is what counts:\n\nonly a.go\nplease") || r.View != (view.Text{S: "only a.go\nplease", Prose: true}) {
		t.Errorf("%+v %v", r, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	r, err = Exit().Run(t.Context(), input(text), env)
	if b, _ := os.ReadFile(file); err != nil || modeOf(r) != policy.AcceptEdits || string(b) != text {
		t.Errorf("%+v %v", r, err)
	}
}

// TestPlanted has a link where the plan goes: it is replaced when the plan is
// written, and refused when it comes later.
func TestPlanted(t *testing.T) {
	env := tool.Env{Scratch: scratch(t), Answer: &tool.Answer{}}
	outside := filepath.Join(scratch(t), "outside")
	if err := os.WriteFile(outside, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(env.Scratch, File)
	if err := os.Symlink(outside, file); err != nil {
		t.Skip("no links here")
	}
	if _, err := Exit().Plan(input(text), env); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(outside); string(b) != "precious" {
		t.Errorf("the link was followed: %q", b)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, file); err != nil {
		t.Fatal(err)
	}
	if r, err := Exit().Run(t.Context(), input(text), env); err != nil || !r.IsErr || modeOf(r) != "" || strings.Contains(r.Text, "precious") {
		t.Errorf("%+v %v", r, err)
	}
	for _, content := range []string{"a\x00b", strings.Repeat("x", maxPlan+1)} {
		_ = os.Remove(file)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := Exit().Run(t.Context(), input(text), env); err != nil || !r.IsErr || modeOf(r) != "" {
			t.Errorf("%+v %v", r, err)
		}
	}
	list, err := os.ReadDir(env.Scratch)
	if err != nil || len(list) != 1 {
		t.Errorf("left behind: %v %v", list, err)
	}
}

// TestNobody is print mode: the plan is the answer and the mode stays.
func TestNobody(t *testing.T) {
	r, err := Exit().Run(t.Context(), input(text), tool.Env{Mode: policy.PlanMode})
	if err != nil || r.IsErr || modeOf(r) != "" || !strings.HasPrefix(finalOf(r), "# Sort the list") || !strings.Contains(finalOf(r), "Nobody could be asked to approve") {
		t.Errorf("%+v %v", r, err)
	}
}

func TestSpecs(t *testing.T) {
	for _, x := range []tool.Tool{Enter(""), Exit()} {
		s := x.Spec()
		if len(s.Description) > 600 || !json.Valid(s.Schema) {
			t.Errorf("%s: %d bytes of description, %s", s.Name, len(s.Description), s.Schema)
		}
	}
}

func modeOf(r tool.Result) policy.Mode {
	m, _ := effect.Of[effect.Mode](r.Effects)
	return m.To
}

func freshOf(r tool.Result) bool {
	_, ok := effect.Of[effect.Fresh](r.Effects)
	return ok
}

func finalOf(r tool.Result) string {
	f, _ := effect.Of[effect.Final](r.Effects)
	return f.Text
}
