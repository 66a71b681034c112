package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

func allow() agent.Verdict {
	return agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow}}
}

// putOff is a turn that goes on with a call that the turn before it put off.
func putOff(t *testing.T, j *jobs) *rig {
	t.Helper()
	r := newRig(t, []tool.Tool{j.tool("act", false, false)}, fake.Use(do("a", "act", job{For: 1})), fake.Say("done"))
	r.host.rule = func(agent.Question) agent.Verdict { return agent.Verdict{Defers: true} }
	given := r.hooked(nil)
	out, err := r.loop.Run(t.Context(), r.turn)
	if err != nil || out.Reason != agent.ToolDeferred {
		t.Fatalf("%+v %v", out, err)
	}
	if n := len(said[event.ToolStarted](r.host)) + len(said[event.ToolFinished](r.host)); n > 0 || len(r.model.Requests()) != 1 || r.host.steered > 0 || len(of(*given, hook.PostToolBatch)) > 0 {
		t.Errorf("%d events of the call, %d requests, prompts joined %d times, hooks were given %q", n, len(r.model.Requests()), r.host.steered, *given)
	}
	for _, b := range []event.Body{event.TurnEnded{Reason: event.ToolDeferred}, event.TurnStarted{ID: "t2", Model: "fake/m", Mode: policy.Default}} {
		if err := r.host.Emit(b); err != nil {
			t.Fatal(err)
		}
	}
	open := r.host.State().Open()
	if len(open) != 1 || open[0].ID != "a" {
		t.Fatalf("open are %v", open)
	}
	r.host.rule, r.host.hook = nil, nil
	r.turn = agent.Turn{ID: "t2", Host: r.host, Deferred: &open[0]}
	return r
}

// A call that is put off stays open, and its turn ends. The turn that goes on
// with it begins with its result; nothing is asked before that.
func TestACallThatIsPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j jobs
		everyEventCounts(t, func() *rig { return putOff(t, &jobs{}) })
		r := putOff(t, &j)
		if out := r.run(t); out.Reason != agent.Completed || out.Steps != 2 {
			t.Errorf("%+v", out)
		}
		if got := results(r.last()); len(r.model.Requests()) != 2 || got["a"] != "did a" || r.host.steered != 1 || strings.Join(j.did, "") != "+a-a" {
			t.Errorf("%d requests, the last with %v; prompts joined %d times; did %v", len(r.model.Requests()), got, r.host.steered, j.did)
		}
	})
	t.Run("once more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := putOff(t, &jobs{})
			r.host.rule = func(q agent.Question) agent.Verdict { return agent.Verdict{Defers: q.Alone()} }
			if out, err := r.loop.Run(t.Context(), r.turn); err != nil || out.Reason != agent.ToolDeferred || len(r.host.State().Open()) != 1 || len(r.model.Requests()) != 1 {
				t.Errorf("%+v %v", out, err)
			}
		})
	})
	t.Run("interrupted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := putOff(t, &jobs{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			out, err := r.loop.Run(ctx, r.turn)
			f := said[event.ToolFinished](r.host)
			if err != nil || out.Reason != agent.InterruptedTools || len(f) != 1 || !f[0].IsErr {
				t.Errorf("%+v %v; %+v", out, err, f)
			}
		})
	})
}

// Whether a call is the only one of its reply is known when the reply has ended.
func TestACallIsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		second []llm.Part
		alone  bool
	}{"the only call": {nil, true}, "words behind it": {[]llm.Part{llm.Text{S: "so"}}, true}, "one of two": {[]llm.Part{use("b", "look")}, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j jobs
				slow := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
					parts := append([]llm.Part{use("a", "look")}, c.second...)
					if !fake.Send(yield, parts[0]) {
						return
					}
					time.Sleep(time.Second)
					if fake.Send(yield, parts[1:]...) {
						time.Sleep(time.Second)
						yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: parts}, Stop: llm.WantTools, Usage: llm.Usage{In: 1, Out: 1}}, nil)
					}
				}
				r := newRig(t, []tool.Tool{j.tool("look", true, false)}, slow, fake.Say("done"))
				began := time.Now()
				r.host.rule = func(q agent.Question) agent.Verdict {
					if q.Call.ID == "a" {
						if alone := q.Alone(); alone != c.alone || time.Since(began) != 2*time.Second {
							t.Errorf("%t after %v", alone, time.Since(began))
						}
					}
					return allow()
				}
				if out := r.run(t); out.Reason != agent.Completed || len(said[event.ToolFinished](r.host)) != len(said[event.ToolStarted](r.host)) {
					t.Errorf("%+v", out)
				}
			})
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var j jobs
			r := newRig(t, []tool.Tool{j.tool("look", true, false)}, fake.Hang(use("a", "look")))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			r.host.rule = func(q agent.Question) agent.Verdict { return agent.Verdict{Defers: q.Alone()} }
			out, err := r.loop.Run(ctx, r.turn)
			if f := said[event.ToolFinished](r.host); err != nil || out.Reason != agent.InterruptedStreaming || len(f) != 1 || !strings.HasPrefix(f[0].Text, "This call was not run: the person interrupted") {
				t.Errorf("%+v %v; %+v", out, err, f)
			}
		})
	})
}

// A result that is being recorded when the turn is interrupted is waited for: a
// call has one.
func TestAnInterruptWhileAResultIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j jobs
		r := newRig(t, []tool.Tool{j.tool("look", true, false)}, fake.Use(do("a", "look", job{For: 1})))
		r.host.hook = func(in hook.Input) hook.Answer {
			if in.Event() == hook.PostToolUse {
				time.Sleep(time.Second)
			}
			return hook.Answer{}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1100*time.Millisecond)
		defer cancel()
		out, err := r.loop.Run(ctx, r.turn)
		if f := said[event.ToolFinished](r.host); err != nil || out.Reason != agent.InterruptedTools || len(f) != 1 || f[0].Text != "did a" || r.host.left != 0 {
			t.Errorf("%+v %v; %+v, left %d", out, err, f, r.host.left)
		}
	})
}

// What an interrupt leaves and cannot be recorded is an error.
func TestInterruptsThatCannotBeRecorded(t *testing.T) {
	hang := func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		yield(llm.Progress{Usage: llm.Usage{In: 7}}, nil)
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
	for name, reply := range map[string]fake.Reply{"words": fake.Hang(llm.Text{S: "half"}), "a call": fake.Hang(llm.Text{S: "half"}, do("a", "look", job{For: 9})), "what it cost": hang} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for lost := 0; ; lost++ {
					var j jobs
					r := newRig(t, []tool.Tool{j.tool("look", true, false)}, reply)
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					n := 0
					r.host.refuse = func(event.Body) error {
						if ctx.Err() == nil {
							return nil
						}
						if n++; n == lost+1 {
							return errTest
						}
						return nil
					}
					_, err := r.loop.Run(ctx, r.turn)
					cancel()
					r.host.mu.Lock()
					met := n // a call that did not stop may still record what it came to
					r.host.mu.Unlock()
					if met <= lost && lost > 0 {
						return
					}
					if !errors.Is(err, errTest) {
						t.Errorf("event %d after the interrupt was lost: %v", lost+1, err)
					}
					if met == 0 {
						t.Fatal("nothing was recorded")
					}
				}
			})
		})
	}
}
