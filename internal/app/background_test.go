package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// A command goes to the background by an op, says what it writes, is ended by
// an op, and all of it is told by events.
func TestBackgroundByOp(t *testing.T) {
	r := watchSettings(t, nil, func(o *options) {
		o.Flags = append(o.Flags, config.Given{Key: "permissions.defaultMode", Value: string(policy.DontAsk)}, config.Given{Key: "sandbox.enabled", Value: false},
			config.Given{Key: "permissions.allow", Value: []string{"Bash"}})
	})
	r.model.Replies = []fake.Reply{
		fake.Use(llm.ToolUse{ID: "c1", Name: "Bash", Input: []byte(`{"command":"echo one; while [ ! -e go ]; do :; done; echo two; exec sleep 600"}`)}), fake.Say("it runs"),
	}
	if err := r.Submit(t.Context(), op.StopTask{ID: "b1"}); !errors.Is(err, &op.Refusal{Code: op.NoTask}) {
		t.Errorf("a task that is not there: %v", err)
	}
	if err := r.Submit(t.Context(), op.Prompt{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	var started event.TaskStarted
	said := ""
	for e := range r.events {
		switch b := e.Body.(type) {
		case event.ToolOutput:
			if strings.Contains(b.S, "one") {
				if err := r.Submit(t.Context(), op.Background{Call: "c1"}); err != nil {
					t.Fatal(err)
				}
			}
		case event.ToolFinished:
			if !strings.Contains(b.Text, "b1") {
				t.Errorf("the call was told %q", b.Text)
			}
			r.put("go", "")
		case event.TaskStarted:
			started = b
		case event.TaskOutput:
			if said += b.S; strings.Contains(said, "two") {
				if n := len(r.State().Background); n != 1 {
					t.Errorf("%d tasks run", n)
				}
				if err := r.Submit(t.Context(), op.StopTask{ID: b.ID}); err != nil {
					t.Fatal(err)
				}
			}
		case event.TaskEnded:
			if b.ID != "b1" || b.Killed == "" || started.ID != "b1" || started.Call != "c1" || started.Kind != "shell" || !strings.HasPrefix(started.Text, "echo one;") {
				t.Errorf("%+v ended as %+v", started, b)
			}
			if n := len(r.State().Background); n != 0 {
				t.Errorf("%d tasks run", n)
			}
			return
		default:
		}
	}
}
