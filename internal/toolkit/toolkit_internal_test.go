package toolkit

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/confine"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/bash"
	"github.com/adze-agent/adze/internal/tool/spawn"
	"github.com/adze-agent/adze/internal/view"
)

func made(t *testing.T, c Config) Kit {
	t.Helper()
	c.Dir, c.Hide, c.Sandboxes = t.TempDir(), secret.New(), &confine.Set{}
	k, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// nobody is a Crew without agents.
type nobody struct{ Crew }

func (nobody) Types() []spawn.Type { return nil }

// What the classifier does not see of built-in tools is what the model says beside
// what runs, also of tools that this run does not have. Who adds a field to one of
// these decides which of the two it is.
func TestFacts(t *testing.T) {
	k, all := made(t, Config{Crew: nobody{}}), made(t, Config{Crew: nobody{}, Person: true}).All
	words := map[string][]string{}
	for name, facts := range k.Facts {
		use, ok := all.Get(name)
		if !ok {
			t.Errorf("there is no tool %s", name)
			continue
		}
		var schema struct {
			Properties map[string]any `json:"properties"`
		}
		if err := json.Unmarshal(use.Spec().Schema, &schema); err != nil {
			t.Error(err)
		}
		for _, f := range facts {
			if schema.Properties[f] == nil {
				t.Errorf("%s has no field %s", name, f)
			}
			delete(schema.Properties, f)
		}
		words[name] = slices.Sorted(maps.Keys(schema.Properties))
	}
	want := map[string][]string{
		"Bash": {"description"}, "TodoWrite": {"todos"}, "AskUserQuestion": {"questions"}, "ExitPlanMode": {"plan"}, "Agent": {"description", "effort", "name", "run_in_background", "schema", "team_name"}, "TeamCreate": {"agent_type", "description", "team_name"}, "TeamDelete": nil, "Monitor": {"description", "timeout_ms"},
		"TaskCreate": {"activeForm", "description", "metadata", "subject"}, "TaskGet": {"taskId"}, "TaskList": nil,
		"SendMessage": {"notify_when_idle", "summary"}, "ListAgents": nil, "ProposeGoal": {"ask_user", "condition"},
		"TaskUpdate": {"activeForm", "addBlockedBy", "addBlocks", "description", "metadata", "owner", "status", "subject", "taskId"},
	}
	if !maps.EqualFunc(words, want, slices.Equal) {
		t.Errorf("%v", words)
	}
	if _, ok := k.All.Get("AskUserQuestion"); ok {
		t.Error("nobody is there who could answer a question")
	}
}

// Which tools a run has depends on who is there and on the mode that it begins in; to
// name one that others have is no mistake.
func TestHere(t *testing.T) {
	for _, c := range []struct {
		conf Config
		want []string
	}{
		{Config{}, nil},
		{Config{Mode: policy.PlanMode}, []string{"ExitPlanMode"}},
		{Config{Person: true}, []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}},
	} {
		k := made(t, c.conf)
		got := slices.DeleteFunc(k.All.Names(), func(n string) bool {
			return !slices.Contains([]string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}, n)
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c.conf, got)
		}
		for name, ok := range map[string]bool{"AskUserQuestion": true, "ExitPlanMode": true, "ToolSearch": true, "Reed": false} {
			if _, err := k.narrow(k.All, config.Tools{Disallowed: []string{name}}); (err == nil) != ok {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A model that cannot read, make and change files is not told to keep notes.
func TestKeepsFiles(t *testing.T) {
	all := made(t, Config{}).All
	for without, want := range map[string]bool{"": true, "Bash": true, "Read": false, "Write": false, "Edit": true} {
		set := all.Only(func(name string) bool { return name != without })
		if got := set.Files() == tool.KeepsFiles; got != want {
			t.Errorf("without %s: %t", without, got)
		}
	}
	if all.Only(func(name string) bool { return name != "Edit" && name != "MultiEdit" }).Files() != tool.ReadsFile|tool.MakesFile {
		t.Error("nothing changes a part of a file")
	}
	next, _, _ := all.Then(all.Only(func(name string) bool { return name != "Write" }), 0)
	if next.Files() == tool.KeepsFiles {
		t.Error("a tool that is gone counts")
	}
}

// Where the sandbox made a command of the person's own fail, the note says where it runs.
func TestWhereOwnCommandsRun(t *testing.T) {
	for note, told := range map[string]bool{bash.Blocked + "writing /x": true, "exit code 7": false, "": false} {
		got, ok := outside(view.Terminal{Command: "touch /x", Exit: 1, Note: note}).(view.Terminal)
		if !ok || !strings.HasPrefix(got.Note, note) || strings.Contains(got.Note, "in a terminal of your own") != told {
			t.Errorf("%q: %+v", note, got)
		}
	}
}
