package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

// texts are the results of calls, by their IDs.
func texts(h *host) map[string]string {
	out := map[string]string{}
	for _, f := range said[event.ToolFinished](h) {
		out[f.Call] = f.Text
	}
	return out
}

// A call that acts lets those before it go first while they are ruled on, and
// goes ahead of those that somebody is asked about.
func TestWhoGoesFirst(t *testing.T) {
	for name, c := range map[string]struct {
		rule func(q agent.Question) agent.Verdict // of the first call, which only looks
		did  string
	}{
		"ruled on without anybody": {func(agent.Question) agent.Verdict { time.Sleep(2 * time.Second); return allow() }, "+a-a+w-w"},
		"somebody is asked":        {func(q agent.Question) agent.Verdict { q.Waits(); time.Sleep(2 * time.Second); return allow() }, "+w-w+a-a"},
		"somebody was asked, and wrote other arguments": {func(q agent.Question) agent.Verdict {
			if q.Rewritten != nil {
				time.Sleep(2 * time.Second)
				return allow()
			}
			q.Waits()
			time.Sleep(time.Second / 2)
			v := allow()
			v.Answer, v.By = &tool.Answer{Input: json.RawMessage(`{"for":0}`)}, event.Client("tui")
			return v
		}, "+a-a+w-w"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j jobs
				r := newRig(t, []tool.Tool{j.tool("look", true, false), j.tool("act", false, false)}, fake.Use(do("a", "look", job{}), do("w", "act", job{})), fake.Say("done"))
				r.host.rule = func(q agent.Question) agent.Verdict {
					if q.Call.ID == "a" {
						return c.rule(q)
					}
					time.Sleep(time.Second)
					return allow()
				}
				r.run(t)
				if did := strings.Join(j.did, ""); did != c.did {
					t.Errorf("%s, want %s", did, c.did)
				}
			})
		})
	}
}

// A call that arrives when a command of its reply has failed does not run.
func TestACallAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j jobs
		calls := []llm.Part{do("a", "shell", job{Fail: true}), do("b", "shell", job{})}
		slow := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
			for _, c := range calls {
				if !fake.Send(yield, c) {
					return
				}
				time.Sleep(time.Second)
			}
			yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: calls}, Stop: llm.WantTools, Usage: llm.Usage{In: 1, Out: 1}}, nil)
		}
		r := newRig(t, []tool.Tool{j.tool("shell", true, true)}, slow, fake.Say("done"))
		r.run(t)
		if got := texts(r.host); !strings.HasPrefix(got["b"], "This call was not run, because another command") || strings.Join(j.did, "") != "+a-a" {
			t.Errorf("%q, did %v", got, j.did)
		}
	})
}

// A ruling may end the turn behind the reply; what it allowed runs before that.
func TestARulingThatEndsTheTurn(t *testing.T) {
	for name, effect := range map[string]policy.Effect{"denied": policy.Deny, "allowed": policy.Allow} {
		var j jobs
		r := newRig(t, []tool.Tool{j.tool("look", true, false)}, fake.Use(do("a", "look", job{})), fake.Say("not asked"))
		r.host.rule = func(agent.Question) agent.Verdict {
			return agent.Verdict{Verdict: policy.Verdict{Effect: effect, Reason: "because"}, Ends: "enough"}
		}
		out := r.run(t)
		if out.Reason != agent.HookStopped || out.Text != "a hook ended the turn: enough" || len(r.model.Requests()) != 1 || (len(j.did) > 0) != (name == "allowed") {
			t.Errorf("%s: %+v, did %v", name, out, j.did)
		}
	}
}

// What a tool fails with is its result.
func TestAToolThatFails(t *testing.T) {
	bad := tool.New(tool.Spec{Name: "bad"},
		func(struct{}, tool.Env) (tool.Plan, error) {
			return tool.Plan{Actions: []policy.Action{policy.None{}}}, nil
		},
		func(context.Context, struct{}, tool.Env) (tool.Result, error) { return tool.Result{}, errTest })
	r := newRig(t, []tool.Tool{bad}, fake.Use(use("a", "bad")), fake.Say("done"))
	r.run(t)
	if f := said[event.ToolFinished](r.host); len(f) != 1 || !f[0].IsErr || f[0].Text != errTest.Error() {
		t.Errorf("%+v", f)
	}
}

// A name may stand for another tool, also where there is one of that name; one
// that stands for nothing says so, and so does a loaded tool that is gone.
func TestNamesThatStandForOthers(t *testing.T) {
	var j jobs
	r := newRig(t, []tool.Tool{j.tool("look", true, false), read(10)},
		fake.Use(use("load", "zoom")), fake.Use(do("a", "read", job{}), do("b", "peek", job{}), do("c", "gone", job{}), use("d", "zoom"), use("e", "told")), fake.Say("done"))
	r.loop.Redirects = map[string]string{"read": "look", "peek": "look", "gone": "nosuch"}
	_ = r.host.Emit(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{use("l", "load")}}})
	_ = r.host.Emit(event.ToolFinished{Call: "l", Text: "ok", Effects: []tool.Effect{effect.Loaded{Tools: []llm.Spec{{Name: "zoom"}}}}})
	_ = r.host.Emit(event.ToolsChanged{Named: []string{"told"}, Text: "there is the tool told"})
	r.run(t)
	want := map[string]string{
		"e": "the tool told is not there any more; the tools are look, read",
		"l": "ok", "load": "the tool zoom is not there any more; the tools are look, read", "a": "did a", "b": "did b",
		"c": "gone stands for the tool nosuch here, which is not there", "d": "the tool zoom is not there any more; the tools are look, read",
	}
	if d := diff(want, texts(r.host)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A result that is too long is cut where it cannot be kept.
func TestALongResultThatCannotBeKept(t *testing.T) {
	for name, spill := range map[string]func(string, string) (string, error){"nowhere": nil, "no room": func(string, string) (string, error) { return "/half", errTest }} {
		long := returning(tool.Spec{Name: "long", Limit: 1000}, func(tool.Env) tool.Result { return tool.Result{Text: strings.Repeat("x", 5000)} })
		r := newRig(t, []tool.Tool{long}, fake.Use(use("a", "long")), fake.Say("done"))
		r.loop.Spill = spill
		r.run(t)
		f := said[event.ToolFinished](r.host)
		if len(f) != 1 || len(f[0].Text) > 1000 || len(f[0].Text) < 500 || !strings.Contains(f[0].Text, "ask for less at a time") || strings.Contains(f[0].Text, "/half") || f[0].Spill != "" {
			t.Errorf("%s: %.300v", name, f)
		}
	}
}

// An interrupt while a provider is waited for ends the turn, or the compaction.
func TestAnInterruptWhileWaiting(t *testing.T) {
	for name, run := range map[string]func(context.Context, *rig) (agent.Outcome, error){
		"interrupted_streaming": func(ctx context.Context, r *rig) (agent.Outcome, error) { return r.loop.Run(ctx, r.turn) },
		"interrupted_summary":   func(ctx context.Context, r *rig) (agent.Outcome, error) { return r.loop.Compact(ctx, r.turn, asked) },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := talked(t, 3, 8000, overloaded(), fake.Say("not asked"))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/4)
			defer cancel()
			out, err := run(ctx, r)
			if err != nil || string(out.Reason) != name && !(name == "interrupted_summary" && out.Reason == agent.InterruptedSummary) || len(r.model.Requests()) != 1 || len(said[event.CompactFailed](r.host)) > 0 {
				t.Errorf("%s: %+v %v", name, out, err)
			}
		})
	}
}

// Each event counts, too, where hooks have a turn go on, and where a reply was
// declined while its call ran.
func TestEventsOfTurnsThatEndOtherwise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		everyEventCounts(t, func() *rig {
			r := newRig(t, nil, fake.Say("so"), fake.Say("done"))
			blocked := false
			r.host.hook = func(in hook.Input) hook.Answer {
				if in.Event() != hook.Stop || blocked {
					return hook.Answer{}
				}
				blocked = true
				return hook.Answer{Block: true, Reason: "more", By: "a.sh"}
			}
			return r
		})
		declined := func() *rig {
			var j jobs
			return newRig(t, []tool.Tool{j.tool("look", true, false)}, func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
				parts := []llm.Part{do("a", "look", job{For: 2}), do("b", "act", job{})}
				if !fake.Send(yield, parts[0]) {
					return
				}
				time.Sleep(time.Second)
				yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: parts[:1]}, Stop: llm.Refused, Usage: llm.Usage{In: 1, Out: 1}}, nil)
			})
		}
		everyEventCounts(t, declined)
		r := declined()
		if out := r.run(t); out.Reason != agent.Refused || texts(r.host)["a"] != "did a" {
			t.Errorf("%+v, %v", out, texts(r.host))
		}
	})
}

// A person who does not want the turn to go on is heard before each request.
func TestATurnThatMayNotGoOn(t *testing.T) {
	r := newRig(t, nil, fake.Say("not asked"))
	r.host.proceed = func(context.Context) error { return errTest }
	if _, err := r.loop.Run(t.Context(), r.turn); !errors.Is(err, errTest) || len(r.model.Requests()) > 0 {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r = newRig(t, nil, fake.Say("not asked"))
	r.host.proceed = func(context.Context) error { cancel(); return nil }
	if out, err := r.loop.Run(ctx, r.turn); err != nil || out.Reason != agent.InterruptedStreaming || len(r.model.Requests()) > 0 {
		t.Errorf("%+v %v", out, err)
	}
}

// A call of a tool that was not loaded, with arguments that do not fit, costs no
// further step: its error says how it is called.
func TestAGuessedCallReadsTheSchema(t *testing.T) {
	loader := returning(tool.Spec{Name: "load", Loads: true}, func(tool.Env) tool.Result { return tool.Result{Text: "ok"} })
	later := tool.New(tool.Spec{Name: "later", Description: strings.Repeat("does much ", 100), Deferrable: true},
		func(job, tool.Env) (tool.Plan, error) { return tool.Plan{}, errTest },
		func(context.Context, job, tool.Env) (tool.Result, error) { return tool.Result{}, nil })
	set, err := tool.NewSet(loader, later)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		set  tool.Set
		says bool
	}{"told of by name": {set.Defer(1, false), true}, "told of whole": {set, false}} {
		r := newRig(t, nil, fake.Use(use("a", "later")), fake.Say("done"))
		r.host.tools = c.set
		r.run(t)
		got := texts(r.host)["a"]
		if !strings.HasPrefix(got, "later: "+errTest.Error()) || strings.Contains(got, "without having loaded it. Its arguments are described by: {") != c.says || strings.Contains(got, `"deaf"`) != c.says {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A call that is a question again when its turn comes is ruled on anew, as it was
// rewritten by then, and not for ever.
func TestAQuestionWhenItsTurnComes(t *testing.T) {
	for name, c := range map[string]struct {
		asks          int // how often it is a question again
		rulings, runs int
	}{"not at all": {0, 2, 1}, "once": {1, 3, 1}, "always": {100, 6, 0}} {
		t.Run(name, func(t *testing.T) {
			var j jobs
			r := newRig(t, []tool.Tool{j.tool("act", false, false)}, fake.Use(do("a", "act", job{})), fake.Say("done"))
			rulings, written := 0, 0
			r.host.rule = func(q agent.Question) agent.Verdict {
				v := allow()
				if rulings++; q.Rewritten == nil {
					v.Answer, v.By = &tool.Answer{Input: json.RawMessage(`{"for":0}`), Comment: "mind"}, event.Client("tui")
				} else {
					written++
				}
				return v
			}
			asks := c.asks
			r.host.still = func(_ agent.Question, v agent.Verdict) agent.Verdict {
				if asks--; asks >= 0 {
					v.Effect, v.Reason = policy.Ask, "who says so?"
				}
				return v
			}
			r.run(t)
			if rulings != c.rulings || written != c.rulings-1 || len(said[event.ToolStarted](r.host)) != c.runs {
				t.Errorf("%d rulings, %d as rewritten, %d starts", rulings, written, len(said[event.ToolStarted](r.host)))
			}
			want := "changed the arguments"
			if c.runs == 0 {
				want = "This call was refused: who says so?"
			}
			if got := texts(r.host)["a"]; !strings.Contains(got, want) {
				t.Errorf("%q", got)
			}
		})
	}
}
