package ask_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/view"
)

// every holds one query of each kind with every field set.
var every = []ask.Query{
	ask.Status{Transcript: true}, ask.Open{}, ask.Models{}, ask.Sessions{All: true}, ask.Find{Words: "a b"}, ask.Search{Words: "x", All: true}, ask.Preview{ID: "1"},
	ask.Rename{ID: "1", Title: "a \"title\""}, ask.Diff{}, ask.Context{}, ask.Files{Near: "m", Max: 9}, ask.Resources{Part: "s:", Max: 9},
	ask.Receivers{}, ask.Arguments{Command: "model", Args: "op"}, ask.Memory{}, ask.Remembered{}, ask.Note{File: "/a", Line: "b"}, ask.Rules{},
	ask.Forget{Rule: ask.Rule{Effect: policy.Deny, Text: "Bash(rm *)", Scope: "user", Source: "f:1"}}, ask.Save{Scope: policy.Local, Key: "ui.theme", Value: json.RawMessage(`"dark"`)},
	ask.Servers{Name: "db", Do: ask.Enable}, ask.Offers{Of: ask.Agents}, ask.Definitions{Name: "a", Do: ask.BeginDefinition, Scope: policy.User}, ask.Style{Name: "concise"}, ask.Folders{Add: "../lib", Keep: true},
	ask.Cost{}, ask.Settings{}, ask.Serve{Servers: map[string]json.RawMessage{"a": json.RawMessage(`{}`)}}, ask.Deliver{Server: "a", Message: json.RawMessage(`1`)},
	ask.Reload{}, ask.Call{Tool: "mcp__a__b", Input: json.RawMessage(`{"a":1}`), Strict: true}, ask.Resource{Server: "a", URI: "x:y"},
	ask.Output{Task: "b1", Max: 9}, ask.Tasks{}, ask.Agent{Prompt: "x"}, ask.Read{Path: "/a", Max: 9}, ask.Seen{Path: "/a", At: 1}, ask.Within{Folder: "/a"}, ask.Title{About: "x"},
	ask.Hooks{}, ask.Report{Name: "permissions", Args: "check git status"}, ask.Pick{Name: "login"}, ask.Aside{Question: "why?"}, ask.Trust{}, ask.Decide{Sum: "ab", Trust: true},
}

func TestEveryQuerySurvivesTheWire(t *testing.T) {
	for _, q := range every {
		raw, err := ask.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ask.Unmarshal(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if d := cmp.Diff(q, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", raw, d)
		}
		v := reflect.ValueOf(q)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the example of %s leaves out %s", ask.Name(q), v.Type().Field(i).Name)
			}
		}
	}
	if n := len(ask.AllNames()); n != len(every) {
		t.Errorf("%d queries have a name, and %d examples are here", n, len(every))
	}
}

func TestWhatIsNoQuery(t *testing.T) {
	for raw, code := range map[string]op.Code{
		`{`:                                     op.Malformed,
		`{"v":1,"query":"nosuch"}`:              op.Unsupported,
		`{"v":2,"query":"models"}`:              op.Unsupported,
		`{"v":1,"op":"interrupt"}`:              op.Unsupported,
		`{"v":1,"query":"find","with":[]}`:      op.Malformed,
		`{"v":1,"query":"find","with":{"x":1}}`: op.Malformed,
	} {
		_, err := ask.Unmarshal([]byte(raw))
		var refused *op.Refusal
		if !errors.As(err, &refused) || refused.Code != code {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestReplySurvivesTheWire(t *testing.T) {
	set := ask.RuleSet{List: []ask.Rule{{Effect: policy.Deny, Text: "Bash"}}, Dirs: []string{"/w"}, Mode: "plan"}
	r := ask.Reply{
		Text: "a", Shapes: []view.Block{view.Text{S: "x"}, view.Diff{Path: "f"}}, Choices: []ask.Choice{{ID: "1", Name: "one", Now: true}},
		Names: []string{"f"}, Data: set,
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got ask.Reply
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for _, r := range []ask.Reply{r, got} { // of this process, and of another one
		if back, err := ask.Data[ask.RuleSet](r); err != nil || !cmp.Equal(back, set) {
			t.Errorf("%+v %v", back, err)
		}
		if v, err := ask.Data[int](r); err == nil {
			t.Errorf("rules are read as %d", v)
		}
	}
	r.Data, got.Data = nil, nil
	if d := cmp.Diff(r, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if v, err := ask.Data[ask.RuleSet](r); err != nil || v.Mode != "" {
		t.Errorf("%+v %v", v, err)
	}
}

func TestSlash(t *testing.T) {
	for line, want := range map[string]ask.Query{
		"mcp": ask.Servers{}, "mcp db": ask.Servers{Name: "db"}, "mcp enable db": ask.Servers{Name: "db", Do: ask.Enable}, "mcp enable ": ask.Servers{Name: "enable"},
		"skills": ask.Offers{Of: ask.Skills}, "agents x": ask.Offers{Of: ask.Agents}, "output-style  a ": ask.Style{Name: "a"},
		"add-dir": ask.Folders{}, "add-dir ../a b": ask.Folders{Add: "../a b"}, "add-dir --keep  a": ask.Folders{Add: "a", Keep: true}, "add-dir --keep": ask.Folders{Add: "--keep"},
		"config set a b": ask.Report{Name: "config", Args: "set a b"},
	} {
		name, args, _ := strings.Cut(line, " ")
		if got := ask.Slash(name, args); got != want {
			t.Errorf("/%s is %+v", line, got)
		}
	}
}
