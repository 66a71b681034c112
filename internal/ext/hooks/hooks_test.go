package hooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

func one(t *testing.T, event, command string) []hook.Hook {
	t.Helper()
	list, problems := hook.Parse(event, []byte(`{"hooks":[{"type":"command","command":"`+command+`"}]}`), hook.Place{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return list
}

func names(g *Gate, agent string) (out []string) {
	for _, h := range g.run.Set().Matching(hook.PreToolInput{Call: hook.Call{Tool: "Bash"}}, hook.Scene{Agent: agent}) {
		out = append(out, h.Name())
	}
	return out
}

// What is lent counts beside what the settings have until it is given back, also
// when these change meanwhile, and what is lent to an agent is that agent's.
func TestLend(t *testing.T) {
	g := New(Config{})
	g.Use(hook.NewSet(one(t, "PreToolUse", "own")...))
	back := g.lendAll(one(t, "PreToolUse", "all"))
	other := g.LendTo(Who{ID: "agent-1"}, one(t, "PreToolUse", "agent"))
	if got := names(g, ""); !slices.Equal(got, []string{"own", "all"}) {
		t.Errorf("%q", got)
	}
	if got := names(g, "agent-1"); !slices.Equal(got, []string{"own", "all", "agent"}) {
		t.Errorf("%q", got)
	}
	g.Use(hook.NewSet(one(t, "PreToolUse", "new")...))
	back()
	if got := names(g, "agent-1"); !slices.Equal(got, []string{"new", "agent"}) {
		t.Errorf("%q", got)
	}
	other()
	back() // once more means nothing
	if got := names(g, "agent-1"); !slices.Equal(got, []string{"new"}) {
		t.Errorf("%q", got)
	}
}

func TestGrant(t *testing.T) {
	bash := []hook.UpdateRule{{Tool: "Bash", Spec: "ls:*"}}
	for name, c := range map[string]struct {
		in   hook.Update
		want op.Answer
	}{
		"allow":       {hook.Update{Type: "addRules", Behavior: "allow", Rules: bash}, op.Answer{Rules: []string{"Bash(ls:*)"}}},
		"allow, kept": {hook.Update{Type: "addRules", Behavior: "allow", Rules: bash, Destination: "localSettings"}, op.Answer{Rules: []string{"Bash(ls:*)"}, Keep: op.ForLocal}},
		"deny":        {hook.Update{Type: "addRules", Behavior: "deny", Rules: bash, Destination: "session"}, op.Answer{Changes: []op.RuleChange{{Kind: op.AddRules, Effect: policy.Deny, Rules: []string{"Bash(ls:*)"}}}}},
		"replace":     {hook.Update{Type: "replaceRules", Behavior: "ask", Rules: bash}, op.Answer{Changes: []op.RuleChange{{Kind: op.ReplaceRules, Effect: policy.Ask, Rules: []string{"Bash(ls:*)"}}}}},
		"remove":      {hook.Update{Type: "removeRules", Behavior: "allow", Rules: bash}, op.Answer{Changes: []op.RuleChange{{Kind: op.RemoveRules, Effect: policy.Allow, Rules: []string{"Bash(ls:*)"}}}}},
		"mode":        {hook.Update{Type: "setMode", Mode: "acceptEdits", Destination: "session"}, op.Answer{Mode: policy.AcceptEdits}},
		"folder":      {hook.Update{Type: "addDirectories", Directories: []string{"/d"}, Destination: "userSettings"}, op.Answer{Folders: []op.FolderChange{{Dirs: []string{"/d"}, Keep: op.ForUser}}}},
		"no folder":   {hook.Update{Type: "removeDirectories", Directories: []string{"/d"}}, op.Answer{Folders: []op.FolderChange{{Dirs: []string{"/d"}, Remove: true}}}},
	} {
		a := op.Answer{Allow: true}
		New(Config{}).grant(&a, []hook.Update{c.in})
		c.want.Allow = true
		if !reflect.DeepEqual(a, c.want) {
			t.Errorf("%s: %+v, want %+v", name, a, c.want)
		}
		no := op.Answer{}
		New(Config{}).grant(&no, []hook.Update{c.in})
		if !reflect.DeepEqual(no, op.Answer{}) {
			t.Errorf("%s: a no gives %+v", name, no)
		}
	}
}

func TestAnswered(t *testing.T) {
	values := json.RawMessage(`{"a":1}`)
	for action, want := range map[string]op.Answer{
		"accept": {Allow: true, By: "h", Values: values}, "decline": {By: "h"}, "cancel": {Dismissed: true, By: "h"},
	} {
		if got := answered(action, values, "h"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", action, got)
		}
	}
}

// Files that are not there are no news; broken ones are told, and the rest counts.
func TestOthers(t *testing.T) {
	home := t.TempDir()
	if list, bad := Others(home); len(list)+len(bad) != 0 {
		t.Errorf("%v, %q", list, bad)
	}
	for path, text := range map[string]string{
		".codex/hooks.json":     `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]}}`,
		".codex/config.toml":    "hooks = [",
		".gemini/settings.json": `{"ui":{}}`,
	} {
		file := filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, bad := Others(home)
	path := filepath.Join(home, ".codex/hooks.json")
	if all := extension.Hooks(list...).All(); len(all) != 1 || all[0].Name() != "a" || all[0].From != path || list[0].From != extension.OfPlace(path) {
		t.Errorf("%+v", list)
	}
	if len(bad) != 1 || !strings.Contains(bad[0], "config.toml") {
		t.Errorf("%q", bad)
	}
}

// Hooks of files for other agents are off with all others, and where an administrator
// wants only those of the machine.
func TestOthersAreOffWithTheRest(t *testing.T) {
	others := extension.Contribution{From: extension.OfPlace("others"), Hooks: one(t, "Stop", "a")}
	for want, c := range map[int]*config.Config{
		1: {}, 0: {Extensions: config.Extensions{DisableAllHooks: true}}, -1: {Extensions: config.Extensions{ManagedHooksOnly: true}},
	} {
		if list, problems := Load(c, others); len(extension.Hooks(list...).All()) != max(want, 0) || len(problems) > 0 {
			t.Errorf("%d: %v, %v", want, list, problems)
		}
	}
}

// A question of a hook's is a person's, whatever it was before; what protects files
// keeps its name.
func TestAsks(t *testing.T) {
	for _, c := range []struct {
		was  policy.Verdict
		want policy.Check
	}{
		{policy.Verdict{Effect: policy.Allow, Check: policy.CheckReadOnly}, hook.Check},
		{policy.Verdict{Effect: policy.Ask, Check: policy.CheckAuto}, hook.Check},
		{policy.Verdict{Effect: policy.Ask, Check: policy.CheckNoRule}, hook.Check},
		{policy.Verdict{Effect: policy.Ask, Check: policy.CheckProtected}, policy.CheckProtected},
	} {
		got := asks(c.was, "look")
		if got.Effect != policy.Ask || got.Check != c.want || got.Reason != "look" || liftable(got.Check) || auto.Applies(got) {
			t.Errorf("%+v: %+v", c.was, got)
		}
	}
}
