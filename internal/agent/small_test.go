package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

// A reply that was cut off is asked for again only when no call of it has done
// more than look; else it stays, and the next one may be larger.
func TestCutReplyWithOtherCalls(t *testing.T) {
	cut := llm.ToolUse{ID: "cut", Name: "act", Input: json.RawMessage(`"{"`), Bad: llm.CutCall}
	for name, c := range map[string]struct {
		first   llm.ToolUse
		dropped int
		did     string
	}{
		"one acts":  {do("a", "act", job{For: 1}), 0, "+a-a"},
		"one looks": {do("a", "look", job{For: 1}), 1, "+a-a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j jobs
				later := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
					if !fake.Send(yield, c.first) {
						return
					}
					synctest.Wait() // until it has started
					if fake.Send(yield, cut) {
						yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{c.first, cut}}, Stop: llm.MaxTokens, Usage: llm.Usage{In: 1, Out: 1}}, nil)
					}
				}
				r := newRig(t, []tool.Tool{j.tool("look", true, false), j.tool("act", false, false)}, later, fake.Say("done"))
				r.host.target.Cap, r.host.target.LargerCap = 8000, 64_000
				r.host.target.Cost = func(llm.Usage) (float64, bool) { return 0.25, true }
				out := r.run(t)
				for _, d := range said[event.Dropped](r.host) {
					if d.Cost != 0.25 || !d.Priced {
						t.Errorf("what was dropped cost %v", d.Cost)
					}
				}
				if out.Reason != agent.Completed || r.last().MaxTokens != 64_000 || len(said[event.Dropped](r.host)) != c.dropped || strings.Join(j.did, "") != c.did {
					t.Errorf("%q, at most %d, dropped %d, did %v", out.Reason, r.last().MaxTokens, len(said[event.Dropped](r.host)), j.did)
				}
			})
		})
	}
}

// Once the limit was raised, a call that it cuts off again holds back no other call of
// its reply, which is not asked for again.
func TestCutReplyAfterTheLimitWasRaised(t *testing.T) {
	cut := llm.ToolUse{ID: "cut", Name: "read", Input: json.RawMessage(`"{"`), Bad: llm.CutCall}
	again := cut
	again.ID = "again"
	r := newRig(t, []tool.Tool{read(10)}, fake.Parts(llm.MaxTokens, cut), fake.Parts(llm.MaxTokens, use("whole", "read"), again), fake.Say("done"))
	r.host.target.Cap, r.host.target.LargerCap = 8000, 64_000
	if out := r.run(t); out.Reason != agent.Completed || len(r.model.Requests()) != 3 {
		t.Errorf("%+v after %d requests", out, len(r.model.Requests()))
	}
	if got := texts(r.host); !strings.HasPrefix(got["whole"], "whole x") || !strings.Contains(got["again"], "its arguments were cut off by the output limit of 64,000 tokens") {
		t.Errorf("%q", got)
	}
}

// Of a reply that broke off, what runs is finished and what waits never
// starts.
func TestBrokenReplyStartsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j jobs
		broken := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
			if !fake.Send(yield, do("a", "act", job{For: 2})) {
				return
			}
			synctest.Wait()
			if fake.Send(yield, do("b", "act", job{For: 1})) {
				synctest.Wait()
				yield(nil, &llm.Error{Kind: llm.Overloaded, Status: 529, Err: errTest})
			}
		}
		r := newRig(t, []tool.Tool{j.tool("act", false, false)}, broken, fake.Say("done"))
		if out := r.run(t); out.Reason != agent.Completed || strings.Join(j.did, "") != "+a-a" {
			t.Errorf("%q, did %v", out.Reason, j.did)
		}
		if f := said[event.ToolFinished](r.host); len(f) != 1 || f[0].Call != "a" || f[0].Text != "did a" {
			t.Errorf("recorded: %+v", f)
		}
	})
}

// Prompts that wait join the turn between its steps: after calls that are no
// answer, and only then.
func TestSteerBetweenSteps(t *testing.T) {
	answer := returning(tool.Spec{Name: "answer"}, func(tool.Env) tool.Result {
		return tool.Result{Text: "taken", Effects: []tool.Effect{effect.Answer{JSON: json.RawMessage(`{"n":1}`)}}}
	})
	for name, c := range map[string]struct {
		replies []fake.Reply
		want    int
	}{
		"no calls":  {[]fake.Reply{fake.Say("done")}, 0},
		"calls":     {[]fake.Reply{fake.Use(use("a", "keep")), fake.Use(use("b", "keep")), fake.Say("done")}, 2},
		"an answer": {[]fake.Reply{fake.Use(use("a", "answer"))}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []tool.Tool{keep(10), answer}, c.replies...)
			if name == "an answer" {
				r.loop.Structured = "answer"
			}
			if r.run(t); r.host.steered != c.want {
				t.Errorf("%d times", r.host.steered)
			}
		})
	}
}

// An interrupt when the whole reply was there is one of the reply, or of its
// calls when it has some.
func TestInterruptedAtTheEndOfAReply(t *testing.T) {
	for want, reply := range map[agent.End]fake.Reply{agent.InterruptedStreaming: fake.Say("done"), agent.InterruptedTools: fake.Use(use("a", "keep"))} {
		r := newRig(t, []tool.Tool{keep(10)}, reply)
		ctx, cancel := context.WithCancel(t.Context())
		r.host.refuse = func(b event.Body) error {
			if _, ok := b.(event.Replied); ok {
				cancel()
			}
			return nil
		}
		if out, err := r.loop.Run(ctx, r.turn); err != nil || out.Reason != want {
			t.Errorf("%q, %v; want %q", out.Reason, err, want)
		}
		cancel()
	}
}

// What cannot be kept of files before a call is told, once a call. Of a call that only reads
// nothing is said to change.
func TestRecordSaysWhatItCannotKeep(t *testing.T) {
	for _, note := range []string{"", "the folder is too large"} {
		var j jobs
		r := newRig(t, []tool.Tool{j.tool("act", false, false), j.tool("look", true, false)}, fake.Use(do("a", "act", job{}), do("b", "look", job{})), fake.Say("done"))
		asked := 0
		r.loop.Record = func(_ context.Context, actions []policy.Action) (func(context.Context) effect.Changed, string) {
			if asked++; asked == 2 {
				if actions != nil {
					t.Errorf("a call that only reads changes %v", actions)
				}
				return nil, ""
			}
			return nil, note
		}
		r.run(t)
		n := said[event.Noted](r.host)
		if asked != 2 || (note == "") != (len(n) == 0) || note != "" && n[0] != (event.Noted{Level: "warning", Text: note}) {
			t.Errorf("asked %d times, told %v", asked, n)
		}
	}
}

// A picture that a tool returned is media of the request, too: without it the
// turn goes on when a provider finds it too large.
func TestPictureOfAToolIsTooLarge(t *testing.T) {
	shot := returning(tool.Spec{Name: "shot"}, func(tool.Env) tool.Result {
		return tool.Result{Text: "see", Images: []llm.Image{{Media: "image/png", Data: []byte("x")}}}
	})
	r := newRig(t, []tool.Tool{shot}, fake.Use(use("a", "shot")), fails(llm.MediaTooBig), fake.Say("done"))
	if out := r.run(t); out.Reason != agent.Completed || len(said[event.Stripped](r.host)) == 0 {
		t.Errorf("%q, stripped %v", out.Reason, said[event.Stripped](r.host))
	}
}

// What a call changed goes with its result, also when all that is known is
// what was not looked at.
func TestResultsSayWhatChanged(t *testing.T) {
	for name, c := range map[string]struct {
		changed effect.Changed
		some    bool
	}{
		"nothing": {effect.Changed{}, false},
		"a file":  {effect.Changed{Files: []effect.Change{{Path: "/w/a"}}}, true},
		"missed":  {effect.Changed{Missed: []string{"/w/b"}}, true},
	} {
		var j jobs
		r := newRig(t, []tool.Tool{j.tool("act", false, false)}, fake.Use(do("a", "act", job{})), fake.Say("done"))
		r.loop.Record = func(context.Context, []policy.Action) (func(context.Context) effect.Changed, string) {
			return func(context.Context) effect.Changed { return c.changed }, ""
		}
		r.run(t)
		f := said[event.ToolFinished](r.host)
		if len(f) != 1 || (len(f[0].Effects) == 1) != c.some {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// What a tool changed before it panicked goes with its result, and the look
// that began before the call is ended once.
func TestAPanicLeavesItsChanges(t *testing.T) {
	bad := tool.New(tool.Spec{Name: "bad"},
		func(struct{}, tool.Env) (tool.Plan, error) {
			return tool.Plan{Actions: []policy.Action{policy.None{}}}, nil
		},
		func(context.Context, struct{}, tool.Env) (tool.Result, error) { panic("oh") })
	r := newRig(t, []tool.Tool{bad}, fake.Use(use("a", "bad")), fake.Say("done"))
	ended := 0
	r.loop.Record = func(context.Context, []policy.Action) (func(context.Context) effect.Changed, string) {
		return func(context.Context) effect.Changed {
			ended++
			return effect.Changed{Files: []effect.Change{{Path: "/w/a"}}}
		}, ""
	}
	r.run(t)
	f := said[event.ToolFinished](r.host)
	if len(f) != 1 || !f[0].IsErr || !strings.Contains(f[0].Text, "oh") {
		t.Fatalf("%+v", f)
	}
	if c, ok := effect.Of[effect.Changed](f[0].Effects); !ok || len(c.Files) != 1 || c.Files[0].Path != "/w/a" || ended != 1 {
		t.Errorf("%+v, ended %d times", f[0].Effects, ended)
	}
}
