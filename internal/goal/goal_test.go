package goal

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
)

// add adds bodies to evidence, numbered on from what it knows.
func (v *Evidence) addAll(bodies ...event.Body) *Evidence {
	for _, b := range bodies {
		v.Add(event.Event{Seq: v.Seq + 1, Body: b})
	}
	return v
}

func called(id, name, input string) event.Replied {
	return event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "I do it."}, llm.ToolUse{ID: id, Name: name, Input: json.RawMessage(input)}}}}
}

func log(t *testing.T, v *Evidence) string {
	t.Helper()
	text, _, err := Case{Condition: "c", Evidence: v}.document()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Log []json.RawMessage }
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, x := range doc.Log {
		var m any
		_ = json.Unmarshal(x, &m)
		b, _ := json.Marshal(m)
		out = append(out, string(b))
	}
	return strings.Join(out, "\n")
}

// Evidence has what people wrote, calls with what they returned and changed, in order, and
// nothing that nobody typed or that the model says in between.
func TestEvidence(t *testing.T) {
	changed := effect.Changed{Files: []effect.Change{{Path: "/w/a\u202e.go"}}}
	v := (&Evidence{}).addAll(
		event.InputAccepted{Text: "do it\nfrom a pipe", Typed: op.Span{To: 5}}, event.InputAccepted{Text: "a report", Hidden: true},
		called("1", "Edit", `{"file_path": "a.go"}`), event.ToolStarted{Call: "1", Name: "Edit", Input: json.RawMessage(`{"file_path":"a.go"}`)},
		event.ToolFinished{Call: "1", Name: "Edit", Text: "ok", Effects: []effect.Effect{changed}},
		event.ToolStarted{Call: "2", Name: "Read", Fold: "file"}, event.ToolFinished{Call: "2", Name: "Read", Text: "text\x1b[0m"}, called("2", "Read", `{}`),
		called("3", "Bash", `{"command":"false"}`), event.ToolFinished{Call: "3", Name: "Bash", Text: "exit 1", IsErr: true}, event.ToolFinished{Call: "4", Name: "Bash", Text: "no", Denied: true, Input: json.RawMessage(`{"command":"rm"}`)},
		called("5", "Bash", `{"command":"sleep"}`), event.FilesChanged{Changed: changed},
	)
	want := `{"n":1,"person":"do it"}
{"call":"Edit","changed":["/w/a.go"],"input":"{\"file_path\":\"a.go\"}","n":2,"result":"ok"}
{"call":"Read","input":"{}","n":3,"result":"text"}
{"call":"Bash","error":"exit 1","input":"{\"command\":\"false\"}","n":4}
{"call":"Bash","error":"no","input":"{\"command\":\"rm\"}","n":5}
{"call":"Bash","input":"{\"command\":\"sleep\"}","n":6,"result":"[none: it did not end]"}
{"call":"background","changed":["/w/a.go"],"input":"","n":7,"result":""}`
	if got := log(t, v); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for n, shows := range map[int]bool{0: false, 1: false, 2: true, 4: true, 6: false, 7: true, 8: false} {
		if v.shows(n, 1) != shows {
			t.Errorf("entry %d shows something: %v", n, !shows)
		}
	}
}

// What only looks, what fails and what was done before with the same input brings a goal
// no nearer; a changed file does.
func TestActs(t *testing.T) {
	v, n := &Evidence{}, 0
	did := func(name, input string, look, failed bool, effects ...effect.Effect) (acted bool) {
		n++
		id, was := fmt.Sprint(n), v.Acts()
		s := event.ToolStarted{Call: id, Name: name, Input: json.RawMessage(input)}
		if look {
			s.Fold = "file"
		}
		v.addAll(s, event.ToolFinished{Call: id, Name: name, IsErr: failed, Effects: effects}, called(id, name, input))
		return v.Acts() > was
	}
	changed := effect.Changed{Files: []effect.Change{{Path: "/a"}}}
	for i, c := range []struct{ got, want bool }{
		{did("Bash", `{"command":"make"}`, false, false), true}, {did("Bash", `{"command":"make"}`, false, false), false}, {did("Bash", `{"command":"make"}`, false, false, changed), true},
		{did("Bash", `{"command":"x"}`, false, true), false}, {did("Read", `{"file_path":"a"}`, true, false), false}, {did("Bash", `{"command":"x"}`, false, true, changed), true},
	} {
		if c.got != c.want {
			t.Errorf("call %d: acted %v", i+1, c.got)
		}
	}
}

// Of much evidence the newest is shown, with the numbers that it has in all.
func TestMuchEvidence(t *testing.T) {
	v := &Evidence{}
	for i := range 2000 {
		id := fmt.Sprint(i)
		v.addAll(called(id, "Bash", fmt.Sprintf(`{"command":"echo %d"}`, i)), event.ToolFinished{Call: id, Name: "Bash", Text: strings.Repeat("x", i)})
	}
	out, first := v.shown()
	last := out[len(out)-1]
	if last["n"] != 2000 || out[0]["n"] != first || len(v.entries) > 2*maxKept || first < 1900 || !v.shows(2000, first) || v.shows(first-1, first) {
		t.Errorf("entries %d to %v of %d kept", first, last["n"], len(v.entries))
	}
	if text := log(t, v); len(text) > 2*maxShown {
		t.Errorf("%d bytes", len(text))
	}
}

// A model gives an answer of whatever kind; a goal is reached only by an entry that shows
// it.
func FuzzRead(f *testing.F) {
	v := (&Evidence{}).addAll(called("1", "Bash", `{}`), event.ToolFinished{Call: "1", Name: "Bash", Text: "ok"})
	k := Case{Condition: "c", Evidence: v}
	for _, s := range []string{`{"token":"$T","verdict":"reached","proof":"1","reason":"r"}`, `{"token":"$T","verdict":"reached","proof":"last_words","reason":"r"}`, `{"token":"x","verdict":"reached","proof":"1","reason":"r"}`, "no", `{"token":"$T","verdict":"waiting","proof":"","reason":"r"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ReplaceAll(s, "$T", k.token())
		j, err := k.read(s, 1)
		switch {
		case err != nil && j.Verdict == Reached, err == nil && j.Reason == "", err == nil && j.Verdict == Waiting:
			t.Errorf("%q: %+v, %v", s, j, err)
		case j.Verdict == Reached && !strings.Contains(s, k.token()):
			t.Errorf("%q reached a goal", s)
		}
	})
}
