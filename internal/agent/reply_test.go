package agent_test

import (
	"context"
	"slices"
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

// What a reply says is told as it comes: what is known of it, when it began, and
// where each piece belongs.
func TestWhatIsToldOfAReplyAsItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := []llm.Limit{{}}
		first, second := do("a", "look", job{}), do("b", "look", job{})
		whole := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{S: "hm, so"}, llm.Text{S: "one two"}, first, second}}
		chunks := []llm.Chunk{
			llm.Progress{ID: "r1", Usage: llm.Usage{In: 9}, Limits: limits},
			llm.ThinkingDelta{S: "hm,"}, llm.ThinkingDelta{S: " so"}, llm.PartDone{Part: whole.Parts[0]},
			llm.TextDelta{S: "one"}, llm.TextDelta{S: " two"}, llm.PartDone{Part: whole.Parts[1]},
			llm.ToolInputDelta{ID: "a", Name: "look", S: "{"}, llm.ToolInputDelta{ID: "a", Name: "look", S: "}"}, llm.PartDone{Part: first},
			llm.ToolInputDelta{ID: "b", Name: "look", S: "{}"}, llm.PartDone{Part: second},
			llm.Finished{Message: whole, Stop: llm.WantTools, Usage: llm.Usage{In: 9, Out: 4}, ID: "r1"},
		}
		said := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
			for _, c := range chunks {
				time.Sleep(time.Second)
				if !yield(c, nil) {
					return
				}
			}
		}
		var j jobs
		r := newRig(t, []tool.Tool{j.tool("look", true, false)}, said, fake.Say("done"))
		r.host.target.Cost = func(u llm.Usage) (float64, bool) { return float64(u.Out) / 4, true }
		out := r.run(t)
		want := []event.Body{
			event.ReplyStarted{Model: "fake/m", First: 2 * time.Second, ID: "r1", Usage: llm.Usage{In: 9}, Limits: limits},
			event.ThinkingDelta{S: "hm,"}, event.ThinkingDelta{At: 3, S: " so"}, event.PartDone{Part: whole.Parts[0]},
			event.TextDelta{S: "one"}, event.TextDelta{At: 3, S: " two"}, event.PartDone{Part: whole.Parts[1]},
			event.ToolInputDelta{Call: "a", Name: "look", S: "{"}, event.ToolInputDelta{Call: "a", Name: "look", At: 1, S: "}"}, event.PartDone{Part: first},
			event.ToolInputDelta{Call: "b", Name: "look", S: "{}"}, event.PartDone{Part: second},
			event.Replied{Message: whole, Stop: llm.WantTools, Usage: llm.Usage{In: 9, Out: 4}, ID: "r1", Model: "fake/m", First: 2 * time.Second, Took: 13 * time.Second, Attempts: 1, Cost: 1, Priced: true},
		}
		var got []event.Body
		for _, b := range r.host.events[3:] {
			switch b.(type) {
			case event.ToolStarted, event.ToolFinished:
			default:
				got = append(got, b)
			}
		}
		if d := diff(want, got[:min(len(want), len(got))]); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		if out.API != 13*time.Second || out.Steps != 2 {
			t.Errorf("%+v", out)
		}
	})
}

// A reply that ends without its end mark is one that broke off; what is known of
// its cost counts.
func TestAReplyWithoutItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		says     bool
		requests int
	}{"in the middle": {true, 4}, "before it began": {false, 11}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, slices.Repeat([]fake.Reply{func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
					if yield(llm.Progress{Usage: llm.Usage{In: 7, Out: 2}}, nil) && c.says {
						yield(llm.TextDelta{S: "half"}, nil)
					}
				}}, 20)...)
				out := r.run(t)
				if out.Reason != agent.ModelError || out.Err == nil || out.Err.Kind != llm.Cut || out.Err.Provider != "fake" || out.Err.Begun != c.says || len(r.model.Requests()) != c.requests {
					t.Errorf("%+v, %+v after %d requests", out, out.Err, len(r.model.Requests()))
				}
				kept := 0
				if k := said[event.Replied](r.host); c.says {
					if kept = 1; len(k) != 1 || k[0].Message.Text() != "half" || k[0].Usage != (llm.Usage{In: 7, Out: 2}) {
						t.Errorf("kept %+v", k)
					}
				}
				if d := said[event.Dropped](r.host); len(d) != c.requests-kept || d[0].Usage != (llm.Usage{In: 7, Out: 2}) {
					t.Errorf("dropped %+v", d)
				}
			})
		})
	}
}

// Where no other reply comes, what one said that broke off stays, and of several that which
// said most. Its calls that ran stay with it.
func TestABrokenReplyIsKept(t *testing.T) {
	cut := llm.Error{Kind: llm.Cut, Provider: "fake", Err: errTest}
	busy := fake.Fail(llm.Error{Kind: llm.BadRequest, Provider: "fake", Err: errTest})
	half, more := fake.Fail(cut, llm.Text{S: "half"}), fake.Fail(cut, llm.Text{S: "more than half"})
	ran := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		if fake.Send(yield, llm.Text{S: "half"}, do("a", "look", job{For: 1})) {
			synctest.Wait()
			yield(nil, &cut)
		}
	}
	for name, c := range map[string]struct {
		replies []fake.Reply
		stop    time.Duration // when a person stops it
		want    string
	}{
		"every try":            {[]fake.Reply{half, half, half, half}, 0, "half"},
		"an earlier said more": {[]fake.Reply{more, half, half, half}, 0, "more than half"},
		"no other began":       {[]fake.Reply{half, busy}, 0, "half"},
		"stopped in between":   {[]fake.Reply{half, fake.Say("whole")}, 100 * time.Millisecond, "half"},
		"a call ran":           {[]fake.Reply{ran, busy}, 0, "half, a ran"},
		"another came":         {[]fake.Reply{more, fake.Say("whole")}, 0, "whole"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j jobs
				r := newRig(t, []tool.Tool{j.tool("look", true, false)}, c.replies...)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.stop > 0 {
					defer time.AfterFunc(c.stop, cancel).Stop()
				}
				if _, err := r.loop.Run(ctx, r.turn); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, m := range r.host.State().Messages() {
					if m.Role != llm.Assistant {
						continue
					}
					got = append(got, m.Text())
					for _, p := range m.Parts {
						if u, ok := p.(llm.ToolUse); ok {
							got = append(got, u.ID+" ran")
						}
					}
				}
				if s := strings.Join(got, ", "); s != c.want {
					t.Errorf("%q, not %q", s, c.want)
				}
			})
		})
	}
}

// What a request has besides the conversation is the loop's and the target's.
func TestWhatARequestHas(t *testing.T) {
	r := newRig(t, []tool.Tool{keep(10)}, fake.Say("done"))
	r.loop.System, r.loop.CacheKey = []string{"be brief"}, "key"
	r.host.target.Cap, r.host.target.Effort, r.host.target.Thinking = 4000, "high", 1000
	r.run(t)
	q := r.last()
	want := llm.Request{Model: "m", System: []string{"be brief"}, Tools: r.host.tools.Specs(), MaxTokens: 4000, Messages: q.Messages, Effort: "high", ThinkingTokens: 1000, CacheKey: "key"}
	if d := diff(want, q); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// What a call prints while it runs is told as its own; it knows which call it is,
// and which tools there are.
func TestWhatACallIsGiven(t *testing.T) {
	var got tool.Env
	r := newRig(t, []tool.Tool{returning(tool.Spec{Name: "look"}, func(env tool.Env) tool.Result {
		env.Progress("half")
		got = env
		return tool.Result{Text: "ok"}
	})}, fake.Use(use("a", "look")), fake.Say("done"))
	r.host.target.Window, r.host.target.ImageEdge = 100_000, 1568
	r.run(t)
	if _, there := got.Tools.Get("look"); !there || got.Call != "a" || got.Mode != policy.Default || got.Dir != "/w" || got.Window != 100_000 || got.ImageEdge != 1568 || !got.Images {
		t.Errorf("%+v", got)
	}
	if out := said[event.ToolOutput](r.host); len(out) != 1 || out[0] != (event.ToolOutput{Call: "a", S: "half"}) {
		t.Errorf("%+v", out)
	}
}

// A call that could not be ruled on does not run, and says why.
func TestACallThatCannotBeRuledOn(t *testing.T) {
	var j jobs
	r := newRig(t, []tool.Tool{j.tool("look", true, false)}, fake.Use(do("a", "look", job{})), fake.Say("done"))
	r.host.broken = errTest
	r.run(t)
	if f := said[event.ToolFinished](r.host); len(f) != 1 || f[0].Text != errTest.Error() || !f[0].IsErr || f[0].Denied || len(j.did) > 0 {
		t.Errorf("%+v, did %v", f, j.did)
	}
}

// Hooks are told how long a call took.
func TestHooksKnowHowLongACallTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j jobs
		r := newRig(t, []tool.Tool{j.tool("look", true, false)}, fake.Use(do("a", "look", job{For: 2})), fake.Say("done"))
		given := r.hooked(nil)
		r.run(t)
		if got := of(*given, hook.PostToolUse); len(got) != 1 || !strings.Contains(got[0], `"duration_ms":2000`) {
			t.Errorf("%q", got)
		}
	})
}
