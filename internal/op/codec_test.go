package op_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// every holds one op of each kind with every field set.
var every = []op.Op{
	op.Prompt{Typed: op.Span{From: 1, To: 2}, From: &op.Sender{ID: "a1", Name: "n", N: 1, As: "the agent n", End: true, Task: true, Mode: policy.Default, Status: "completed", Why: "a1 has ended"}, ID: "p1", Text: "line\nline \"two\" <b>", Images: []op.Image{{Media: "image/png", Data: []byte{0, 1, 255}}}, ImagesAt: []int{3}, Tokens: 500_000, Later: true, Command: true, Verbatim: true, With: []op.Text{{Name: "a.pdf", Text: "words"}}, Quiet: true, Rests: true},
	op.Notify{Text: "the build is over", Wake: "the build ended"},
	op.Shell{ID: "s1", Command: "ls"},
	op.Unqueue{ID: "p1"},
	op.Interrupt{},
	op.Attach{Client: "web"},
	op.Detach{Client: "web"},
	op.Answer{
		Changes: []op.RuleChange{{Kind: op.RemoveRules, Effect: policy.Deny, Rules: []string{"Bash"}}},
		Folders: []op.FolderChange{{Dirs: []string{"/d"}, Remove: true, Keep: op.ForUser}},
		Call:    "c1", Allow: true, By: "web", Comment: "mind the gap", Exact: true, Rules: []string{"Bash(go test:*)"}, Keep: op.ForLocal,
		Input: []byte(`{"command":"ls"}`), Mode: "acceptEdits", Choices: [][]string{{"a", "b"}, {}}, Values: []byte(`{"n":1}`), Dismissed: true, Stop: true,
	},
	op.SetModel{Name: "anthropic/x"},
	op.SetEffort{Level: "high", Tokens: 2000},
	op.SetMode{Mode: "plan"},
	op.Background{Call: "c1"},
	op.StopTask{ID: "b1"},
	op.Goal{Do: op.ResumeGoal, Condition: "go test ./... passes", Typed: true, Turns: 9, Tokens: 500_000, USD: 2.5},
	op.Rename{Title: "a title"},
	op.Revoke{Rules: []string{"Bash(ls *)"}, Effect: policy.Deny},
}

func TestEveryOpSurvivesTheWire(t *testing.T) {
	for _, o := range every {
		for _, x := range []op.Op{o, reflect.Zero(reflect.TypeOf(o)).Interface().(op.Op)} {
			raw, err := op.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsRune(string(raw), '\n') {
				t.Errorf("%s takes more than a line", raw)
			}
			got, err := op.Unmarshal(raw)
			if err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			if d := cmp.Diff(x, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", raw, d)
			}
		}
		v := reflect.ValueOf(o)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the example of %s leaves out %s", op.Name(o), v.Type().Field(i).Name)
			}
		}
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for in, want := range map[string]struct {
		code op.Code
		says string
	}{
		`{"v":1,"op":"detonate"}`:                                {op.Unsupported, `"detonate"`},
		`{"v":2,"op":"interrupt"}`:                               {op.Unsupported, "version 2"},
		`{"op":"interrupt"}`:                                     {op.Unsupported, "version 0"},
		`{"v":1,"op":"rename","with":{"title":"x","to":"y"}}`:    {op.Malformed, "rename"},
		`{"v":1,"op":"rename","with":{"Title":"x"}}`:             {op.Malformed, "rename"},
		`{"v":1,"op":"rename","with":{"title":"x","title":"y"}}`: {op.Malformed, ""},
		`{"v":1,"op":"interrupt","op":"rename"}`:                 {op.Malformed, ""},
		`{"v":1,"op":"interrupt","also":1}`:                      {op.Malformed, ""},
		`{"v":1,"op":"interrupt"} {}`:                            {op.Malformed, ""},
		`interrupt`:                                              {op.Malformed, ""},
		``:                                                       {op.Malformed, ""},
	} {
		o, err := op.Unmarshal([]byte(in))
		r, ok := errors.AsType[*op.Refusal](err)
		if !ok || r.Code != want.code || !strings.Contains(r.Text, want.says) || o != nil {
			t.Errorf("%s: %v, %v", in, o, err)
		}
	}
}

func TestMarshalRefusesNothing(t *testing.T) {
	if raw, err := op.Marshal(nil); err == nil {
		t.Errorf("nil became %s", raw)
	}
}

func TestRefusalsAreToldApartByCode(t *testing.T) {
	err := error(&op.Refusal{Code: op.Idle, Text: "in other words"})
	if !errors.Is(err, &op.Refusal{Code: op.Idle}) || errors.Is(err, &op.Refusal{Code: op.Closed}) {
		t.Error("the code does not decide")
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, o := range every {
		raw, err := op.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := op.Unmarshal(raw)
		if err != nil {
			if _, ok := errors.AsType[*op.Refusal](err); !ok || o != nil {
				t.Fatalf("%v, %v", o, err)
			}
			return
		}
		again, err := op.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := op.Unmarshal(again); err != nil || !cmp.Equal(o, same) {
			t.Fatalf("%s became %s: %v", raw, again, err)
		}
	})
}
