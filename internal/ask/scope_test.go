package ask_test

import (
	"encoding/json"
	"testing"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// What changes anything needs more than to watch.
func TestNeeds(t *testing.T) {
	for _, q := range append([]ask.Query{ask.Status{}, ask.Servers{Name: "db"}, ask.Folders{}}, every...) {
		want := ask.Watch
		switch q := q.(type) {
		case ask.Status:
			if q.Transcript {
				want = ask.Prompt
			}
		case ask.Aside, ask.Rename, ask.Title, ask.Agent:
			want = ask.Prompt
		case ask.Servers:
			if q.Do != "" {
				want = ask.Admin
			}
		case ask.Definitions:
			if q.Do != "" {
				want = ask.Admin
			}
		case ask.Folders:
			if q.Add != "" {
				want = ask.Admin
			}
		case ask.Note, ask.Forget, ask.Save, ask.Style, ask.Report, ask.Decide, ask.Serve, ask.Deliver, ask.Reload, ask.Call, ask.Resource, ask.Read, ask.Seen, ask.Settings, ask.Within:
			want = ask.Admin
		}
		if got := ask.Needs(q); got != want {
			t.Errorf("%s needs %s, not %s", ask.Name(q), got, want)
		}
	}
}

// No op is for who only watches, and none that widens what may run for who only answers or
// prompts.
func TestOpNeeds(t *testing.T) {
	for _, c := range []struct {
		want ask.Scope
		ops  []op.Op
	}{
		{ask.Answer, []op.Op{
			op.Attach{}, op.Detach{}, op.Answer{Call: "c", Allow: true, Comment: "x", Choices: [][]string{{"a"}}, Values: json.RawMessage(`{}`)}, op.Answer{Call: "c", Stop: true},
		}},
		{ask.Prompt, []op.Op{
			op.Prompt{}, op.Notify{}, op.Unqueue{}, op.Interrupt{}, op.SetModel{}, op.SetEffort{}, op.Background{}, op.StopTask{}, op.Rewind{}, op.Compact{}, op.Rename{},
		}},
		{ask.Admin, []op.Op{
			op.Shell{}, op.SetMode{}, op.Revoke{}, nil, op.Answer{Rules: []string{"Bash"}}, op.Answer{Keep: op.ForUser}, op.Answer{Changes: []op.RuleChange{{}}},
			op.Answer{Folders: []op.FolderChange{{}}}, op.Answer{Input: json.RawMessage(`{}`)}, op.Answer{Mode: policy.AcceptEdits},
		}},
	} {
		for _, o := range c.ops {
			if got := ask.OpNeeds(o); got != c.want {
				t.Errorf("%T %+v needs %s, not %s", o, o, got, c.want)
			}
		}
	}
}

func TestScopeSurvivesTheWire(t *testing.T) {
	for s := ask.Watch; s <= ask.Admin; s++ {
		raw, err := json.Marshal(s)
		var got ask.Scope
		if err == nil {
			err = json.Unmarshal(raw, &got)
		}
		if err != nil || got != s {
			t.Errorf("%s: %s, %v", raw, got, err)
		}
	}
	if err := json.Unmarshal([]byte(`"root"`), new(ask.Scope)); err == nil {
		t.Error("any word is a scope")
	}
}
