package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
)

func settingsRule(t *testing.T, text string, effect policy.Effect, scope policy.Scope) policy.Rule {
	t.Helper()
	r, err := policy.ParseRule(text, effect, scope, "settings.json:1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var changed = event.SettingsChanged{Changes: []event.SettingChange{{Key: "permissions.deny", Added: []string{"x"}}}}

func input(s string) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"s": s})
	return b
}

// A new rule counts for the next call of a turn that runs, a new budget
// from the next turn on, and what was granted for the session stays.
func TestSettingsCountFromTheNextDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		began := 0
		apply := func() {
			err := r.Apply(t.Context(), session.Settings{
				Rules: policy.Rules{Dir: "/w", List: []policy.Rule{settingsRule(t, "risk", policy.Deny, policy.User)}}, Loop: r.cfg.Loop, Budget: agent.Budget{Turns: 1},
				Begin: func() { began++ },
			}, changed)
			if err != nil {
				t.Error(err)
			}
		}
		r = start(t, nil, func(c *session.Config) {
			c.Rules = policy.Rules{Dir: "/w", List: []policy.Rule{settingsRule(t, "risk", policy.Allow, policy.User)}}
			c.Budget = agent.Budget{Turns: 9}
		},
			fake.Use(llm.ToolUse{ID: "c1", Name: "risk", Input: input("one")}),
			func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
				apply() // after the first call, before the second
				fake.Use(llm.ToolUse{ID: "c2", Name: "risk", Input: input("two")})(ctx, q, yield)
			}, fake.Say("done"),
			fake.Use(llm.ToolUse{ID: "c3", Name: "look"}), fake.Use(llm.ToolUse{ID: "c4", Name: "look"}), fake.Say("done"))
		r.prompt("go")
		es := r.turns(1, nil)
		res := map[string]bool{}
		for _, f := range all[event.ToolFinished](es) {
			res[f.Call] = f.Denied
		}
		if res["c1"] || !res["c2"] || began != 0 || len(all[event.SettingsChanged](es)) != 1 {
			t.Errorf("denied: %v; began %d times; %v", res, began, kinds(es))
		}
		r.prompt("again") // the new budget lets it make one request
		es = r.turns(2, nil)
		if r.last(es, agent.MaxTurns); began != 1 {
			t.Errorf("began %d times", began)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSettingsKeepWhatWasGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) { c.Rules = policy.Rules{Dir: "/w"} },
			fake.Use(llm.ToolUse{ID: "c1", Name: "risk"}), fake.Say("done"), fake.Use(llm.ToolUse{ID: "c2", Name: "risk"}), fake.Say("done")).attend()
		last := ""
		answer := func(e event.Event) {
			if q, ok := e.Body.(event.Asked); ok && q.Call != last {
				last = q.Call // the events are told from the start again
				if err := r.Submit(t.Context(), op.Answer{Call: q.Call, Allow: true, Rules: []string{"risk"}}); err != nil {
					t.Error(err)
				}
			}
		}
		r.prompt("go")
		r.turns(1, answer)
		if err := r.Apply(t.Context(), session.Settings{Rules: policy.Rules{Dir: "/w"}, Loop: r.cfg.Loop}, changed); err != nil {
			t.Fatal(err)
		}
		r.prompt("again")
		if es := r.turns(2, answer); len(all[event.Asked](es)) != 1 {
			t.Errorf("asked again: %v", kinds(es))
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A mode that settings forbid is left at once and cannot be entered.
func TestSettingsForbidModes(t *testing.T) {
	r := start(t, nil, func(c *session.Config) { c.Mode = policy.Bypass }, fake.Say("done"))
	r.prompt("go")
	r.turns(1, nil)
	err := r.Apply(t.Context(), session.Settings{Loop: r.cfg.Loop, Forbidden: map[policy.Mode]string{policy.Bypass: "the settings forbid it"}}, changed)
	if err != nil {
		t.Fatal(err)
	}
	if m, told := r.Mode(), r.State().Mode; m != policy.Default || told != policy.Default {
		t.Errorf("the mode is %s, the log says %s", m, told)
	}
	if err := r.Submit(t.Context(), op.SetMode{Mode: "bypassPermissions"}); err == nil || !strings.Contains(err.Error(), "the settings forbid it") {
		t.Errorf("got %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// What changes before the first prompt leaves no log behind, and is in it
// once there is one. Readers are told when it happens, and not once more.
func TestSettingsBeforeTheFirstPrompt(t *testing.T) {
	r := start(t, nil, nil, fake.Say("done"))
	if err := r.Apply(t.Context(), session.Settings{Loop: r.cfg.Loop}, changed); err != nil {
		t.Fatal(err)
	}
	for e := range r.log.After(t.Context(), 0) {
		t.Errorf("recorded: %v", e)
	}
	r.prompt("go")
	es := r.turns(1, nil)
	if got := kinds(es); len(got) < 3 || !slices.Equal(got[:3], []string{"SettingsChanged", "SessionStarted", "InputQueued"}) || slices.Contains(got[3:], "SettingsChanged") {
		t.Errorf("told %v", got)
	}
	var logged []event.Event
	for e := range r.log.After(t.Context(), 0) {
		logged = append(logged, e)
	}
	if got := kinds(logged); len(got) < 3 || !slices.Equal(got[:3], []string{"SessionStarted", "SettingsChanged", "InputQueued"}) {
		t.Errorf("recorded %v", got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Of what settings changed before the first prompt the newest is kept, in a number that
// is bounded; a session that is over takes none.
func TestEarlyChangesAreBounded(t *testing.T) {
	const most = 600
	r := start(t, nil, nil, fake.Say("ok"))
	for i := range most + 5 {
		if err := r.Apply(t.Context(), session.Settings{Loop: r.cfg.Loop}, event.SettingsChanged{Problems: []string{fmt.Sprint(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	r.prompt("go")
	r.turns(1, nil)
	if got := recorded[event.SettingsChanged](r); len(got) != most || got[0].Problems[0] != "5" {
		t.Errorf("%d changes, the first is %v", len(got), got[:1])
	}
	r.Close()
	if err := r.Apply(t.Context(), session.Settings{}, changed); !errors.Is(err, session.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// All of changed rules counts, the folders that are worked in as well.
func TestSettingsChangeFolders(t *testing.T) {
	r := start(t, nil, func(c *session.Config) {
		c.Mode, c.Rules = policy.AcceptEdits, policy.Rules{Dir: "/w", Dirs: []string{"/w"}}
	})
	for _, want := range []policy.Effect{policy.Deny, policy.Allow} {
		q := agent.Question{Tool: "Write", Plan: planOf(policy.Write{Path: "/more/a", Asked: "/more/a"})}
		if v, _ := r.Permit(t.Context(), q); v.Effect != want {
			t.Errorf("%+v, want %s", v, want)
		}
		if err := r.Apply(t.Context(), session.Settings{Rules: policy.Rules{Dir: "/w", Dirs: []string{"/w", "/more"}}}, changed); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
}
