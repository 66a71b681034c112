package app

import (
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/skill"
)

// What of a definition only the model's target tells: tokens to think, and the window from
// which its conversation is compacted. What it does not say is as the other session has it.
func TestTargetOfAChild(t *testing.T) {
	dir, home := scratch(t)
	defs, bad := skill.ParseAgents([]byte(`{
		"thinker": {"description": "d", "prompt": "p", "effort": 5000, "autoCompactWindow": 20000},
		"wide": {"description": "d", "prompt": "p", "autoCompactWindow": 900000}
	}`), "a test")
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	var mu sync.Mutex // guards what follows
	var all *Process
	had := map[string]agent.Target{}
	m := newMock(t, func(last string) (string, []string) {
		for _, name := range []string{"thinker", "wide"} {
			switch {
			case strings.Contains(last, "Be "+name):
				mu.Lock()
				defer mu.Unlock()
				for _, r := range all.sessions(nil) {
					if c := r.spec.Child; c != nil && c.agent.Type == name {
						had[name] = r.Target()
					}
				}
				return "It is done.", nil
			case strings.Contains(last, "start "+name):
				return "", []string{`{"name":"Agent","input":{"description":"x","prompt":"Be ` + name + `","subagent_type":"` + name + `","run_in_background":false}}`}
			}
		}
		return "Well.", nil
	})
	around := here(dir, home)
	around.Extensions = ext.Flags{Agents: defs}
	opened, at, err := openAt(t, around, m.settings(), Front{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	mu.Lock()
	all = opened
	mu.Unlock()
	r, err := at.Start(t.Context(), Spec{})
	if err != nil {
		t.Fatal(err)
	}
	turn(t, r, "start thinker")
	turn(t, r, "start wide")
	if got := had["thinker"]; got.Thinking != 5000 || got.Effort != "" || got.Window != 20_000 {
		t.Errorf("thinker: effort %q, %d tokens to think, a window of %d", got.Effort, got.Thinking, got.Window)
	}
	if got := had["wide"]; got.Thinking != r.Target().Thinking || got.Window != r.Target().Window {
		t.Errorf("wide: %d tokens to think, a window of %d", got.Thinking, got.Window)
	}
}
