package session_test

import (
	"context"
	"errors"
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
	"github.com/adze-agent/adze/internal/store/mem"
)

// What is told of a request that failed is what the provider said, and what
// helps.
func TestWhyARequestFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Fail(llm.Error{Kind: llm.BadRequest, Provider: "fake", Status: 400, Err: errors.New("as asked"), Fix: "try another"}))
		r.prompt("go")
		if e := r.last(r.turns(1, nil), agent.ModelError); !strings.Contains(e.Err, "as asked") || e.Hint != "try another" || e.Status != 400 || e.How != event.Failed {
			t.Errorf("%+v", e)
		}
		r.Close()
	})
}

// Rules that cannot be saved hold for the session, and the person is told.
func TestRulesThatCannotBeSaved(t *testing.T) {
	for keep, want := range map[op.Keep]string{op.ForUser: "the rule holds for this session only: the disk is gone", op.ForSession: "the rule holds until the session is closed: the disk is gone"} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, nil, func(cfg *session.Config) {
				cfg.Keep = func(context.Context, string, op.Keep, []string) error { return errDisk }
			}, fake.Use(call("c1", "risk", "", 0)), fake.Use(call("c2", "risk", "", 0)), fake.Say("ok")).attend()
			r.prompt("go")
			es := r.turns(1, func(e event.Event) {
				if a, ok := e.Body.(event.Asked); ok {
					if err := r.Submit(t.Context(), op.Answer{Call: a.Call, Allow: true, By: "one", Rules: []string{"risk"}, Keep: keep}); err != nil {
						t.Error(err)
					}
				}
			})
			if n := all[event.Noted](es); len(n) != 1 || n[0] != (event.Noted{Level: "warning", Text: want}) {
				t.Errorf("%+v", n)
			}
			if n := len(all[event.Asked](es)); n != 1 {
				t.Errorf("asked %d times", n)
			}
			r.Close()
		})
	}
}

// Tools are those of the start, until others are wanted.
func TestToolsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil)
		if a, b := r.Tools().Specs(), r.cfg.Tools.Specs(); len(a) == 0 || len(a) != len(b) {
			t.Errorf("%d tools of %d", len(a), len(b))
		}
		r.Close()
	})
}

// A snapshot that the last process had no time for is made at the start.
func TestSnapshotAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("one"))
		r.prompt("go")
		r.turns(1, nil)
		r.Close()
		k := &keeper{Log: again(t, r.log)}
		n := start(t, nil, func(c *session.Config) { c.Log, c.Keeper = k, k })
		synctest.Wait()
		k.mu.Lock()
		if len(k.kept) != 1 {
			t.Errorf("snapshots at %v", k.kept)
		}
		k.mu.Unlock()
		n.Close()
	})
}

// Settings files that are not trusted are told of, whatever else changed.
func TestSettingsTellOfEachKind(t *testing.T) {
	for _, what := range []event.SettingsChanged{
		{Untrusted: []string{"/w/.adze/settings.json"}}, {Problems: []string{"oops"}}, changed,
		{Changes: changed.Changes, Untrusted: slices.Repeat([]string{"/w/.adze/settings.json"}, len(changed.Changes))},
		{Changes: changed.Changes, Problems: slices.Repeat([]string{"oops"}, len(changed.Changes))},
		{},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, nil, nil, fake.Say("ok"))
			if err := r.Apply(t.Context(), session.Settings{Loop: r.cfg.Loop}, what); err != nil {
				t.Error(err)
			}
			r.prompt("go")
			n := all[event.SettingsChanged](r.turns(1, nil))
			if some := len(what.Changes)+len(what.Untrusted)+len(what.Problems) > 0; some != (len(n) == 1) {
				t.Errorf("told %v of %v", n, what)
			}
			r.Close()
		})
	}
}

// deaf is a log that does not record what the model is told before a prompt.
type deaf struct{ *mem.Log }

func (d deaf) Append(ctx context.Context, e event.Event) error {
	if in, ok := e.Body.(event.InputAccepted); ok && in.Hidden {
		return errDisk
	}
	return d.Log.Append(ctx, e)
}

// A turn does not begin without what the model has to know first.
func TestNoTurnWithoutItsNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) {
			c.Log, c.Mode = deaf{c.Log.(*mem.Log)}, policy.PlanMode
			c.Remind = func(_, now policy.Mode) string { return "the mode is " + string(now) }
		}, fake.Say("ok"))
		r.prompt("go")
		for e := range r.watch {
			if end, ok := e.Body.(event.TurnEnded); ok {
				if end.Kind != "storage" || len(r.model.Requests()) != 0 {
					t.Errorf("%+v, %d requests", end, len(r.model.Requests()))
				}
				break
			}
		}
		r.Close()
	})
}
