package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/settings"
)

// Two sessions live in one place at the same time: a child is one with fewer
// tools and another model. Changed settings count in both; each ends alone, and
// the process ends what is left, with what they ran.
func TestTwoSessionsInOnePlace(t *testing.T) {
	before := goleak.IgnoreCurrent()
	dir, home := scratch(t)
	file := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Join(home, ".adze"), 0o700), os.WriteFile(filepath.Join(home, ".adze", "settings.json"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	file(`{` + unconfined + `,"permissions":{"allow":["Bash"]}}`)
	all, w, err := openAt(t, here(dir, home), settings.Sources{}, Front{})
	if err != nil {
		t.Fatal(err)
	}
	start := func(name string, tools []string) (*Running, *fake.Model) {
		t.Helper()
		m := &fake.Model{}
		r, err := w.Start(t.Context(), Spec{Tools: tools, Target: &agent.Target{Model: m, Provider: "fake", Name: name}})
		if err != nil {
			t.Fatal(err)
		}
		return r, m
	}
	var parent, child *Running
	var parentModel, childModel *fake.Model
	var both sync.WaitGroup
	both.Go(func() { parent, parentModel = start("large", nil) })
	both.Go(func() { child, childModel = start("small", []string{"Bash", "Read"}) })
	both.Wait()
	if t.Failed() {
		t.FailNow()
	}
	if got := child.Tools().Names(); !slices.Equal(got, []string{"Bash", "Read"}) {
		t.Errorf("the child has %q", got)
	}
	if n := len(parent.Tools().Names()); n < 7 {
		t.Errorf("the parent has %q", parent.Tools().Names())
	}
	if child.ID == parent.ID || child.Stored() == parent.Stored() || child.Target().ID() != "fake/small" || parent.Target().ID() != "fake/large" {
		t.Errorf("%s %s %s %s", child.Stored(), parent.Stored(), child.Target().ID(), parent.Target().ID())
	}

	bash := func(r *Running, m *fake.Model, command string) event.ToolFinished {
		t.Helper()
		in, err := json.Marshal(map[string]any{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		m.Replies = append(m.Replies, fake.Use(llm.ToolUse{ID: "c" + command, Name: "Bash", Input: in}), fake.Say("done"))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		follow := r.Follow(ctx, r.State().Seq, event.Durable)
		if err := r.Submit(t.Context(), op.Prompt{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		var f event.ToolFinished
		for e, err := range follow {
			if err != nil {
				t.Fatal(err)
			}
			switch b := e.Body.(type) {
			case event.ToolFinished:
				f = b
			case event.TurnEnded:
				return f
			default:
			}
		}
		t.Fatal("the session ended")
		return f
	}
	both.Go(func() { bash(parent, parentModel, "echo $PPID; sleep 600 & echo parent >>parent") })
	both.Go(func() { bash(child, childModel, "export MINE=1; echo child >>child") })
	both.Wait()
	if text := bash(parent, parentModel, `echo "mine: $MINE"`).Text; !strings.Contains(text, "mine: \n") && strings.TrimSpace(text) != "mine:" {
		t.Errorf("what the child exported reaches its parent: %q", text)
	}

	file(`{` + unconfined + `,"permissions":{"allow":["Bash"],"deny":["Bash(touch *)"]}}`)
	w.live.Start()
	waitFor(t, "told of the new rule", func() (is bool) { // a watch that had begun by itself tells of it later
		w.live.Hold(func() { is = len(w.live.Config().Permissions.Deny) == 1 })
		return is
	})
	for _, r := range []struct {
		*Running
		*fake.Model
	}{{parent, parentModel}, {child, childModel}} {
		if f := bash(r.Running, r.Model, "touch x"); !f.Denied {
			t.Errorf("%s: a new rule does not count: %s", r.Target().ID(), f.Text)
		}
	}

	if err := child.Close(); err != nil {
		t.Error(err)
	}
	if err := child.Submit(t.Context(), op.Prompt{Text: "x"}); !errors.Is(err, session.ErrClosed) {
		t.Errorf("the child lives: %v", err)
	}
	if f := bash(parent, parentModel, "echo still here"); !strings.Contains(f.Text, "still here") {
		t.Errorf("the parent ended with its child: %+v", f)
	}
	third, _ := start("third", []string{"Read"})
	temp := all.temp.all
	if err := all.Close(); err != nil {
		t.Error(err)
	}
	for _, r := range []*Running{parent, third} {
		if err := r.Submit(t.Context(), op.Prompt{Text: "x"}); !errors.Is(err, session.ErrClosed) {
			t.Errorf("%s lives: %v", r.Target().ID(), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(temp); err == nil {
		t.Error("temporary files are left")
	}
	goleak.VerifyNone(t, before)
}
