package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

func fails(k llm.Kind) fake.Reply {
	return fake.Fail(llm.Error{Kind: k, Provider: "fake", Err: errTest})
}

// used answers with calls of a tool, and says that the request had so many tokens.
func used(tokens int, calls ...llm.ToolUse) fake.Reply {
	return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		m := llm.Message{Role: llm.Assistant}
		for _, c := range calls {
			m.Parts = append(m.Parts, c)
		}
		if fake.Send(yield, m.Parts...) {
			yield(llm.Finished{Message: m, Stop: llm.WantTools, Usage: llm.Usage{In: tokens, Out: 10}}, nil)
		}
	}
}

// read is a tool whose results, of so many characters, can be had again; keep
// is one whose cannot.
func read(n int) tool.Tool {
	return returning(tool.Spec{Name: "read", Again: true, Limit: tool.NoLimit}, func(env tool.Env) tool.Result {
		return tool.Result{Text: env.Call + " " + strings.Repeat("x", n-len(env.Call)-1)}
	})
}

func keep(n int) tool.Tool {
	return returning(tool.Spec{Name: "keep", Limit: tool.NoLimit}, func(tool.Env) tool.Result { return tool.Result{Text: strings.Repeat("y", n)} })
}

// reads are so many replies, with a call of read each.
func reads(n int) []fake.Reply { return measured(n, 0, 0) }

// measured are reads whose requests had so many tokens, each more by grows than
// the one before.
func measured(n, tokens, grows int) (out []fake.Reply) {
	for i := range n {
		out = append(out, used(max(10, tokens+i*grows), use(fmt.Sprint("r", i), "read")))
	}
	return out
}

// cleared are the calls of each event, joined.
func cleared(h *host) (out []string) {
	for _, c := range said[event.Cleared](h) {
		out = append(out, strings.Join(c.Calls, " "))
	}
	return out
}

// Every row of the recovery table (loop.md), and what keeps a window from
// filling up, as a turn goes through them: what it ends with, what it asked
// for, and what it recorded.
func TestRecovery(t *testing.T) {
	capped := fake.Parts(llm.MaxTokens, llm.Text{S: "cut"})
	full := fake.Parts(llm.WindowFull, llm.Text{S: "cut"})
	larger := func(r *rig) { r.host.target.Cap, r.host.target.LargerCap = 8000, 64_000 }
	picture := func(r *rig) {
		_ = r.host.Emit(event.InputAccepted{ID: "p2", Text: "see", Images: []llm.Image{{Media: "image/png", Data: []byte("x")}}})
	}
	schema := func(r *rig) { r.loop.Structured = "answer" }
	// stuck makes no summary any more, in a window of so many tokens.
	stuck := func(window int) func(*rig) {
		return func(r *rig) {
			r.host.target.Window = window
			r.cannotCompact()
		}
	}
	answer := returning(tool.Spec{Name: "answer"}, func(env tool.Env) tool.Result {
		if env.Call != "fits" {
			return tool.Errorf("it does not fit")
		}
		return tool.Result{Text: "taken", Effects: []tool.Effect{effect.Answer{JSON: json.RawMessage(`{"n":1}`)}}}
	})
	second := time.Second
	for _, c := range []struct {
		name     string
		tools    []tool.Tool
		change   func(*rig)
		replies  []fake.Reply
		end      agent.End
		requests int // of the first model
		clear    []string
		waits    []time.Duration
		check    func(*testing.T, *rig, agent.Outcome)
	}{
		{name: "too long: old results first, and the newest five stay", tools: []tool.Tool{read(40_000)}, change: func(r *rig) { r.host.target.Window = 400_000 },
			replies: append(reads(8), fails(llm.TooLong), fake.Say("done")), end: agent.Completed, requests: 10, clear: []string{"r0 r1 r2"}},
		{name: "too long again: then all that can go", tools: []tool.Tool{read(40_000)}, change: func(r *rig) { r.host.target.Window = 400_000 },
			replies: append(reads(8), fails(llm.TooLong), fails(llm.TooLong), fake.Say("done")), end: agent.Completed, requests: 11, clear: []string{"r0 r1 r2", "r3 r4 r5 r6"}},
		{name: "too long for good", tools: []tool.Tool{read(40_000)}, change: stuck(400000),
			replies: append(reads(8), slices.Repeat([]fake.Reply{fails(llm.TooLong)}, 20)...), end: agent.PromptTooLong, requests: 15, clear: []string{"r0 r1 r2", "r3 r4 r5 r6"},
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				var sizes []int
				for _, q := range r.model.Requests()[10:] {
					sizes = append(sizes, len(results(q)["r7"]))
				}
				if !slices.IsSortedFunc(sizes, func(a, b int) int { return b - a }) || sizes[0] < 40_000 || sizes[4] > 20_000 {
					t.Errorf("the newest result had %v bytes", sizes)
				}
			}},
		{name: "too long, little is old: all that can go at once", tools: []tool.Tool{read(1000)},
			replies: append(reads(2), fails(llm.TooLong), fake.Say("done")), end: agent.Completed, requests: 4, clear: []string{"r0"}},
		{name: "too long: the instructions are, and there are shorter ones", change: func(r *rig) {
			r.loop.System = []string{strings.Repeat("s", 16_000)}
			r.loop.Light = &agent.Light{System: func() []string { return []string{"brief"} }, Tools: func(s tool.Set) tool.Set { return s }}
		}, replies: []fake.Reply{fails(llm.TooLong), fake.Say("done")}, end: agent.Completed, requests: 2,
			check: func(t *testing.T, r *rig, out agent.Outcome) {
				if notes := said[event.Noted](r.host); len(notes) != 1 || !strings.Contains(notes[0].Text, "profile small") || r.last().System[0] != "brief" {
					t.Errorf("%v, %q", notes, r.last().System)
				}
			}},
		{name: "too long: the instructions are, and a person chose them", change: func(r *rig) {
			r.loop.System, r.loop.Full = []string{strings.Repeat("s", 16_000)}, true
		}, replies: []fake.Reply{fails(llm.TooLong)}, end: agent.InstructionsTooLong, requests: 1,
			check: func(t *testing.T, r *rig, out agent.Outcome) {
				if !strings.Contains(out.Hint, "the setting profile: small") || strings.Contains(out.Hint, "new session") {
					t.Errorf("%q", out.Hint)
				}
			}},
		{name: "too long, and nothing can go", tools: []tool.Tool{keep(100)}, change: stuck(0), replies: []fake.Reply{fake.Use(use("k", "keep")), fails(llm.TooLong)}, end: agent.PromptTooLong, requests: 2,
			check: func(t *testing.T, r *rig, out agent.Outcome) {
				if out.Text == "" || !strings.Contains(out.Hint, "--model") || out.Err == nil {
					t.Errorf("%+v", out)
				}
			}},
		{name: "the window is full in the middle of a reply", tools: []tool.Tool{read(1000)}, replies: append(reads(2), full, fake.Say("done")), end: agent.Completed, requests: 4, clear: []string{"r0 r1"},
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if !strings.Contains(words(r.last()), "Continue exactly where it stopped") {
					t.Error("it was not told to go on")
				}
			}},

		{name: "the window is full in the middle of a call", tools: []tool.Tool{read(1000)}, replies: append(reads(2), fake.Parts(llm.WindowFull, llm.Text{S: "cut"}, llm.ToolUse{ID: "cut", Name: "read", Input: json.RawMessage(`"{"`), Bad: llm.CutCall}), fake.Say("done")), end: agent.Completed, requests: 4, clear: []string{"r0 r1"},
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if s := words(r.last()); strings.Contains(s, "Continue exactly where it stopped") || !strings.Contains(s, "cut off by") {
					t.Errorf("sent %q", s)
				}
			}},
		{name: "old results leave before the window is full", tools: []tool.Tool{read(40_000)}, change: func(r *rig) { r.host.target.Window = 80_000 },
			replies: append(measured(7, 0, 10_000), fake.Say("done")), end: agent.Completed, requests: 8, clear: []string{"r0 r1"},
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if s := words(r.last()); strings.Contains(s, "r0 x") || strings.Contains(s, "r1 x") || !strings.Contains(s, "r2 x") || !strings.Contains(s, "was cleared") {
					t.Errorf("sent %.300s", s)
				}
			}},
		{name: "of what can be had again only", tools: []tool.Tool{read(40_000), keep(40_000)}, change: func(r *rig) { r.host.target.Window = 90_000 },
			replies: append([]fake.Reply{fake.Use(use("k", "keep"))}, append(measured(7, 10_000, 10_000), fake.Say("done"))...), end: agent.Completed, requests: 9, clear: []string{"r0 r1"}},
		{name: "a window that is not known never is full", tools: []tool.Tool{read(150_000)}, replies: append(reads(9), fake.Say("done")), end: agent.Completed, requests: 10},
		{name: "blocked: all that can go, then on", tools: []tool.Tool{read(8000)}, change: stuck(10000),
			replies: append(measured(5, 0, 2000), fake.Say("done")), end: agent.Completed, requests: 6, clear: []string{"r0 r1 r2 r3"}},
		{name: "one result that does not fit is shortened to what does", tools: []tool.Tool{keep(36_000)}, change: stuck(10000),
			replies: []fake.Reply{used(6000, use("k", "keep")), fake.Say("done")}, end: agent.Completed, requests: 2,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				text := results(r.last())["k"]
				if len(text) > 10_000 || !strings.Contains(text, "Read result:k has all of it") {
					t.Errorf("%d bytes were sent: %s", len(text), lineWith(text, "left out"))
				}
			}},
		{name: "what a provider counted blocks, not what it looks like", tools: []tool.Tool{keep(10)}, change: stuck(10000),
			replies: []fake.Reply{used(9500, use("k", "keep"))}, end: agent.BlockingLimit, requests: 1},

		{name: "output cap: the same request with the larger cap", change: larger, replies: []fake.Reply{capped, fake.Say("whole")}, end: agent.Completed, requests: 2,
			check: func(t *testing.T, r *rig, out agent.Outcome) {
				q := r.model.Requests()
				if q[0].MaxTokens != 8000 || q[1].MaxTokens != 64_000 || words(q[0]) != words(q[1]) || out.Steps != 1 {
					t.Errorf("%d, then %d tokens; %d steps; %q", q[0].MaxTokens, q[1].MaxTokens, out.Steps, words(q[1]))
				}
				if d := said[event.Dropped](r.host); len(d) != 1 || d[0].Usage.Out != 5 || d[0].Model != "fake/m" {
					t.Errorf("dropped %+v", d)
				}
			}},
		{name: "output cap: raised once, resumed three times", change: larger, replies: []fake.Reply{capped, capped, capped, capped, fake.Say("end")}, end: agent.Completed, requests: 5,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				hidden := 0
				for _, in := range said[event.InputAccepted](r.host) {
					if in.Hidden {
						hidden++
						if want := fmt.Sprintf("t1.h%d", hidden); in.ID != want || !in.Steer {
							t.Errorf("%+v, want %s", in, want)
						}
					}
				}
				if hidden != 3 || strings.Count(words(r.last()), "cut\n") != 3 {
					t.Errorf("asked %d times to go on; sent %q", hidden, words(r.last()))
				}
			}},
		{name: "output cap for good", replies: slices.Repeat([]fake.Reply{capped}, 4), end: agent.OutputCap, requests: 4},

		{name: "media too large: stripped, once", change: picture, replies: []fake.Reply{fails(llm.MediaTooBig), fake.Say("done")}, end: agent.Completed, requests: 2,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if s := said[event.Stripped](r.host); len(s) != 1 || s[0] != (event.Stripped{Cause: event.CauseMedia, Why: "the provider refused an image or a document"}) || !strings.Contains(words(r.last()), "image was removed") {
					t.Errorf("%+v; sent %q", s, words(r.last()))
				}
			}},
		{name: "media too large again", change: picture, replies: []fake.Reply{fails(llm.MediaTooBig), fails(llm.MediaTooBig)}, end: agent.MediaTooLarge, requests: 2},
		{name: "media too large, and there is none", replies: []fake.Reply{fails(llm.MediaTooBig)}, end: agent.MediaTooLarge, requests: 1},

		{name: "busy: waits grow", replies: []fake.Reply{fails(llm.RateLimited), fails(llm.ServerError), fails(llm.Transport), fails(llm.Overloaded), fake.Say("done")}, end: agent.Completed, requests: 5,
			waits: []time.Duration{second / 2, second, 2 * second, 4 * second},
			check: func(t *testing.T, r *rig, out agent.Outcome) {
				w := said[event.Waiting](r.host)
				if len(w) != 4 || w[1] != (event.Waiting{Attempt: 2, Max: 10, For: second, Err: errTest.Error(), Kind: "server_error"}) || out.Steps != 1 || out.API != 7500*time.Millisecond {
					t.Errorf("%+v; %+v", w, out)
				}
				if e := said[event.Replied](r.host); len(e) != 1 || e[0].Attempts != 5 {
					t.Errorf("%+v", e)
				}
			}},
		{name: "broken off twice", replies: []fake.Reply{fails(llm.RateLimited), fake.Fail(llm.Error{Kind: llm.Cut, Begun: true, Err: errTest}, llm.Text{S: "a"}), fake.Fail(llm.Error{Kind: llm.Stalled, Begun: true, Err: errTest}, llm.Text{S: "b"}), fake.Say("done")}, end: agent.Completed, requests: 4,
			waits: []time.Duration{second / 2, second / 2, second},
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if e := said[event.Replied](r.host); len(e) != 1 || e[0].Attempts != 4 {
					t.Errorf("%+v", e)
				}
				if w := said[event.Waiting](r.host); len(w) != 3 || w[1].Attempt != 2 || w[1].Max != 3 || w[2].Kind != "stream_stalled" {
					t.Errorf("%+v", w)
				}
			}},
		{name: "the provider's wish wins", replies: []fake.Reply{fake.Fail(llm.Error{Kind: llm.RateLimited, Err: errTest, RetryAfter: 7 * second}), fake.Say("done")}, end: agent.Completed, requests: 2, waits: []time.Duration{7 * second}},
		{name: "a wish for as long as anybody waits", replies: []fake.Reply{fake.Fail(llm.Error{Kind: llm.RateLimited, Err: errTest, RetryAfter: 5 * time.Minute}), fake.Say("done")}, end: agent.Completed, requests: 2, waits: []time.Duration{5 * time.Minute}},
		{name: "a wish for longer, and somebody watches", change: func(r *rig) { r.loop.Patient = true }, replies: []fake.Reply{fake.Fail(llm.Error{Kind: llm.RateLimited, Err: errTest, RetryAfter: time.Hour}), fake.Say("done")}, end: agent.Completed, requests: 2, waits: []time.Duration{time.Hour}},
		{name: "a call that the cap cuts off is named", tools: []tool.Tool{read(100)}, change: larger, replies: []fake.Reply{cutCall(), cutCall(), fake.Say("done")}, end: agent.Completed, requests: 3,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if s := words(r.last()); !strings.Contains(s, "cut off by the output limit of 64,000 tokens for one reply") || r.last().MaxTokens != 64_000 {
					t.Errorf("%d tokens; sent %q", r.last().MaxTokens, s)
				}
			}},
		{name: "a cap that nobody knows", tools: []tool.Tool{read(100)}, replies: []fake.Reply{cutCall(), fake.Say("done")}, end: agent.Completed, requests: 2,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if s := words(r.last()); !strings.Contains(s, "cut off by the output limit of a reply.") {
					t.Errorf("sent %q", s)
				}
			}},
		{name: "cut off again and again", tools: []tool.Tool{read(100)}, replies: slices.Repeat([]fake.Reply{cutCall()}, 4), end: agent.OutputCap, requests: 4},
		{name: "a wish for longer than anybody waits", replies: []fake.Reply{fake.Fail(llm.Error{Kind: llm.RateLimited, Err: errTest, RetryAfter: time.Hour})}, end: agent.ModelError, requests: 1,
			check: func(t *testing.T, _ *rig, out agent.Outcome) {
				if !strings.Contains(out.Err.Fix, "1h0m0s: try again at ") {
					t.Errorf("%q", out.Err.Fix)
				}
			}},
		{name: "busy for good", replies: slices.Repeat([]fake.Reply{overloaded()}, 11), end: agent.ModelError, requests: 11,
			waits: []time.Duration{second / 2, second, 2 * second, 4 * second, 8 * second, 16 * second, 32 * second, 32 * second, 32 * second, 32 * second}},
		{name: "busy: another model after three retries", change: func(r *rig) {
			r.loop.Fallbacks = []agent.Target{{Model: &fake.Model{Replies: []fake.Reply{fake.Say("from the other")}}, Provider: "fake", Name: "other"}}
		}, replies: slices.Repeat([]fake.Reply{overloaded()}, 4), end: agent.Completed, requests: 4, waits: []time.Duration{second / 2, second, 2 * second},
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if e := said[event.Replied](r.host); len(e) != 1 || e[0].Model != "fake/other" || len(said[event.ModelChanged](r.host)) != 1 {
					t.Errorf("%+v", e)
				}
			}},
		{name: "both models are busy", change: func(r *rig) {
			r.loop.Fallbacks = []agent.Target{{Model: &fake.Model{Replies: slices.Repeat([]fake.Reply{overloaded()}, 11)}, Provider: "fake", Name: "other"}}
		}, replies: slices.Repeat([]fake.Reply{overloaded()}, 4), end: agent.ModelError, requests: 4,
			waits: []time.Duration{second / 2, second, 2 * second, second / 2, second, 2 * second, 4 * second, 8 * second, 16 * second, 32 * second, 32 * second, 32 * second, 32 * second}},

		{name: "broken midway: dropped and asked again", replies: []fake.Reply{fake.Fail(llm.Error{Kind: llm.Cut, Err: errTest}, llm.Text{S: "half"}), fake.Say("whole")}, end: agent.Completed, requests: 2, waits: []time.Duration{second / 2},
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if len(said[event.Retracted](r.host)) != 1 || len(said[event.Dropped](r.host)) != 1 || strings.Contains(words(r.last()), "half") {
					t.Errorf("sent %q", words(r.last()))
				}
				if w := said[event.Waiting](r.host); len(w) != 1 || w[0].Max != 3 {
					t.Errorf("%+v", w)
				}
			}},
		{name: "broken midway four times", replies: slices.Repeat([]fake.Reply{fake.Fail(llm.Error{Kind: llm.Stalled, Err: errTest}, llm.Text{S: "half"})}, 4), end: agent.ModelError, requests: 4},
		{name: "the result of a reply that broke off is dropped", tools: []tool.Tool{read(100)}, replies: []fake.Reply{
			func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
				if !fake.Send(yield, use("gone", "read")) {
					return
				}
				time.Sleep(second) // the call has run
				yield(nil, &llm.Error{Kind: llm.Cut, Err: errTest})
			}, fake.Say("whole")}, end: agent.Completed, requests: 2, waits: []time.Duration{second / 2},
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if d := said[event.Dropped](r.host); len(d) != 1 || !slices.Equal(d[0].Calls, []string{"gone"}) || strings.Contains(words(r.last()), "gone") {
					t.Errorf("%+v; sent %q", d, words(r.last()))
				}
			}},

		{name: "arguments that are no JSON, or do not fit; a tool that is not there", tools: []tool.Tool{read(100)}, replies: []fake.Reply{fake.Use(
			llm.ToolUse{ID: "a", Name: "read", Input: json.RawMessage(`"{"`), Bad: "unexpected end"}, llm.ToolUse{ID: "b", Name: "read", Input: json.RawMessage(`7`)}, use("c", "raed"), llm.ToolUse{ID: "d", Input: json.RawMessage(`"{"`), Bad: "it has no name"}), fake.Say("done")}, end: agent.Completed, requests: 2,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				want := map[string]string{"a": "the arguments of read are not valid JSON: unexpected end", "b": "read: ", "c": `there is no tool named "raed"`, "d": `this call of "" cannot be read: it has no name`}
				for _, f := range said[event.ToolFinished](r.host) {
					if !f.IsErr || f.Denied || !strings.Contains(f.Text, want[f.Call]) || f.Call == "c" && strings.Count(f.Text, "read") < 2 {
						t.Errorf("%s: %q", f.Call, f.Text)
					}
				}
			}},

		{name: "structured answer: does not fit, then is forgotten, then fits", tools: []tool.Tool{answer}, change: schema, replies: []fake.Reply{fake.Use(use("no", "answer")), fake.Say("so"), fake.Use(use("fits", "answer"))}, end: agent.Completed, requests: 3,
			check: func(t *testing.T, r *rig, out agent.Outcome) {
				if string(out.Answer) != `{"n":1}` || !strings.Contains(words(r.last()), "Call the tool answer now") {
					t.Errorf("%s; sent %q", out.Answer, words(r.last()))
				}
			}},
		{name: "structured answer: never fits", tools: []tool.Tool{answer}, change: schema, replies: slices.Repeat([]fake.Reply{fake.Use(use("no", "answer"))}, 6), end: agent.StructuredRetries, requests: 6},
		{name: "a reply that says nothing is asked for again", replies: []fake.Reply{fake.Parts(llm.EndTurn), fake.Say("done")}, end: agent.Completed, requests: 2},
		{name: "nothing is ever said", replies: []fake.Reply{fake.Parts(llm.EndTurn), fake.Parts(llm.EndTurn, llm.Text{S: " \n"})}, end: agent.ModelError, requests: 2},
		{name: "a wrong key is not tried again", replies: []fake.Reply{fails(llm.Unauthorized)}, end: agent.ModelError, requests: 1},
		{name: "tokens to use up: nudged while that brings something", change: func(r *rig) { r.turn.Budget.Tokens = 1000 }, replies: slices.Repeat([]fake.Reply{fake.Say("so")}, 5), end: agent.Completed, requests: 4,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if s := words(r.last()); !strings.Contains(s, "You have used 5 of the 1000 output tokens") || !strings.Contains(s, "You have used 15 of the 1000 output tokens") {
					t.Errorf("sent %q", s)
				}
			}},
		{name: "what changed is told before each request", change: func(r *rig) { r.loop.Stale = func() []agent.Stale { return []agent.Stale{{Path: "/w/x"}} } }, tools: []tool.Tool{read(100)},
			replies: append(reads(1), fake.Say("done")), end: agent.Completed, requests: 2},
		{name: "declined", replies: []fake.Reply{fake.Parts(llm.Refused, llm.Text{S: "no"})}, end: agent.Refused, requests: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				build := func() *rig {
					r := newRig(t, c.tools, c.replies...)
					if c.change != nil {
						c.change(r)
					}
					return r
				}
				everyEventCounts(t, build)
				r := build()
				out := r.run(t)
				if out.Reason != c.end || len(r.model.Requests()) != c.requests {
					t.Errorf("ended with %q (%s, %v) after %d requests; want %q after %d", out.Reason, out.Text, out.Err, len(r.model.Requests()), c.end, c.requests)
				}
				switch out.Reason { // people are told why, and what to do
				case agent.OutputCap, agent.PromptTooLong, agent.InstructionsTooLong, agent.BlockingLimit, agent.MediaTooLarge, agent.Refused, agent.StructuredRetries:
					if out.Text == "" || out.Hint == "" {
						t.Errorf("%+v", out)
					}
				}
				if got := cleared(r.host); !slices.Equal(got, c.clear) {
					t.Errorf("cleared %q, want %q", got, c.clear)
				}
				if c.waits != nil && !slices.Equal(r.waits, c.waits) {
					t.Errorf("waited %v, want %v", r.waits, c.waits)
				}
				if c.check != nil && !t.Failed() {
					c.check(t, r, out)
				}
			})
		})
	}
}

// everyEventCounts runs a turn again and again, and each time another one of its
// events cannot be recorded: then the turn ends, and nothing further is asked or
// begun.
func everyEventCounts(t *testing.T, build func() *rig) {
	t.Helper()
	for n := 1; ; n++ {
		r, left, asked, begun := build(), n, 0, 0
		var lost event.Body
		full := errors.New("the disk is full")
		r.host.refuse = func(b event.Body) error {
			if left--; left == 0 {
				lost, asked = b, len(r.model.Requests())
				return full
			}
			_, reply := lost.(event.Replied) // its calls may begin while it is recorded
			if _, ok := b.(event.ToolStarted); ok && lost != nil && !reply {
				begun++
			}
			return nil
		}
		_, err := r.loop.Run(t.Context(), r.turn)
		if lost == nil {
			return
		}
		if !errors.Is(err, full) || len(r.model.Requests()) > asked || begun > 0 {
			t.Errorf("a %T was lost: %v; %d requests and %d calls after it", lost, err, len(r.model.Requests())-asked, begun)
		}
	}
}

// cutCall is a reply that the output limit cuts off inside of a call.
func cutCall() fake.Reply {
	return fake.Parts(llm.MaxTokens, llm.ToolUse{ID: "cut", Name: "read", Input: json.RawMessage(`"{"`), Bad: llm.CutCall})
}

// Budgets are looked at before a request, and say what to do.
func TestBudgets(t *testing.T) {
	costs := func(usd float64, known bool) func(*rig) {
		return func(r *rig) { r.host.target.Cost = func(llm.Usage) (float64, bool) { return usd, known } }
	}
	for _, c := range []struct {
		name     string
		budget   agent.Budget
		change   func(*rig)
		end      agent.End
		requests int
		text     string
	}{
		{"none", agent.Budget{}, costs(5, true), agent.Completed, 4, ""},
		{"three steps", agent.Budget{Turns: 3}, costs(5, true), agent.MaxTurns, 3, "reached the limit of 3 model requests"},
		{"four steps", agent.Budget{Turns: 4}, costs(5, true), agent.Completed, 4, ""},
		{"money that is used up", agent.Budget{USD: 10}, costs(5, true), agent.MaxBudget, 2, "spent $10.0000 of the budget of $10.00"},
		{"less than a dollar", agent.Budget{USD: 0.5}, costs(0, false), agent.MaxBudget, 0, "the price of fake/m is not known"},
		{"nothing tells a price before the first reply", agent.Budget{USD: 10}, func(*rig) {}, agent.MaxBudget, 1, "the price of fake/m is not known"},
		{"money that is not", agent.Budget{USD: 15.5}, costs(5, true), agent.Completed, 4, ""},
		{"no price", agent.Budget{USD: 10}, costs(0, false), agent.MaxBudget, 0, "the price of fake/m is not known"},
		{"no price of what a helper asked", agent.Budget{USD: 10}, func(r *rig) {
			costs(5, true)(r)
			_ = r.host.Emit(event.Spent{For: event.ForSummary, Model: "fake/other", Usage: llm.Usage{In: 1}})
		}, agent.MaxBudget, 0, "the price of fake/other is not known"},
		{"no price, and none needed", agent.Budget{USD: 10, Unpriced: true}, costs(0, false), agent.Completed, 4, ""},
		{"tokens", agent.Budget{Tokens: 20}, costs(5, true), agent.TokenBudget, 2, "used 20 of 20 tokens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []tool.Tool{read(100)}, append(reads(3), fake.Say("done"))...)
				c.change(r)
				r.turn.Budget = c.budget
				out := r.run(t)
				if out.Reason != c.end || len(r.model.Requests()) != c.requests || !strings.Contains(out.Text, c.text) || (c.end == agent.MaxTurns || c.end == agent.MaxBudget) != (out.Hint != "") {
					t.Errorf("%+v after %d requests", out, len(r.model.Requests()))
				}
			})
		})
	}
}

// The larger output limit that one model was asked for is not asked of the next.
func TestTheLimitOfOneModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, slices.Concat([]fake.Reply{fake.Parts(llm.MaxTokens, llm.Text{S: "cut"})}, slices.Repeat([]fake.Reply{overloaded()}, 4))...)
		r.host.target.Cap, r.host.target.LargerCap = 8000, 64_000
		other := &fake.Model{Replies: []fake.Reply{fake.Say("done")}}
		r.loop.Fallbacks = []agent.Target{{Model: other, Provider: "fake", Name: "other", Cap: 4000}}
		r.run(t)
		var caps []int
		for _, q := range slices.Concat(r.model.Requests(), other.Requests()) {
			caps = append(caps, q.MaxTokens)
		}
		if !slices.Equal(caps, []int{8000, 64_000, 64_000, 64_000, 64_000, 4000}) {
			t.Errorf("asked for %v", caps)
		}
	})
}

// A model is not the other one that takes over from itself.
func TestAFallbackToTheSameModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, slices.Repeat([]fake.Reply{overloaded()}, 20)...)
		same := r.host.target
		r.loop.Fallbacks = []agent.Target{same}
		if out := r.run(t); out.Reason != agent.ModelError || len(r.model.Requests()) != 11 || len(said[event.ModelChanged](r.host)) > 0 {
			t.Errorf("%+v after %d requests", out, len(r.model.Requests()))
		}
	})
}

// Who is asked to wait longer than a run waits reads until when, and nobody else does.
func TestWhenToTryAgain(t *testing.T) {
	for name, c := range map[string]struct {
		e     llm.Error
		fixed bool
	}{
		"an hour":                  {llm.Error{Kind: llm.RateLimited, RetryAfter: time.Hour}, true},
		"as long as is waited":     {llm.Error{Kind: llm.RateLimited, RetryAfter: 5 * time.Minute}, false},
		"not at all":               {llm.Error{Kind: llm.RateLimited}, false},
		"an hour, and for nothing": {llm.Error{Kind: llm.BadRequest, RetryAfter: time.Hour}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.e.Err = errTest
			r := newRig(t, nil, slices.Repeat([]fake.Reply{fake.Fail(c.e)}, 20)...)
			out := r.run(t)
			if out.Reason != agent.ModelError || out.Err == nil || strings.Contains(out.Err.Fix, "asks to wait 1h0m0s: try again at") != c.fixed || !c.fixed && out.Err.Fix != "" {
				t.Errorf("%s: %+v", name, out.Err)
			}
		})
	}
}

// A turn that does nothing but the same failing calls ends, and one that has its
// structured answer does so whatever other calls failed on the way.
func TestCallsThatFailAgainAndAgain(t *testing.T) {
	bad := returning(tool.Spec{Name: "bad"}, func(tool.Env) tool.Result { return tool.Errorf("no") })
	r := newRig(t, []tool.Tool{bad}, slices.Repeat([]fake.Reply{fake.Use(use("b", "bad"))}, 40)...)
	if out := r.run(t); out.Reason != agent.RepeatedFailure || len(r.model.Requests()) != 25 {
		t.Errorf("%+v after %d requests", out, len(r.model.Requests()))
	}
	answer := returning(tool.Spec{Name: "answer"}, func(tool.Env) tool.Result {
		return tool.Result{Text: "taken", Effects: []tool.Effect{effect.Answer{JSON: json.RawMessage(`{}`)}}}
	})
	r = newRig(t, []tool.Tool{bad, answer}, append(slices.Repeat([]fake.Reply{fake.Use(use("b", "bad"))}, 7), fake.Use(use("a", "answer")))...)
	r.loop.Structured = "answer"
	if out := r.run(t); out.Reason != agent.Completed || string(out.Answer) != "{}" {
		t.Errorf("%+v", out)
	}
	// One that ends without it has to call the tool.
	r = newRig(t, []tool.Tool{answer}, fake.Say("done"), fake.Use(use("a", "answer")))
	r.loop.Structured = "answer"
	r.run(t)
	if q := r.model.Requests(); len(q) != 2 || q[0].Force != "" || q[1].Force != "answer" {
		t.Errorf("%+v", q)
	}
	// But not in the reply after one that calls something else.
	r = newRig(t, []tool.Tool{read(10), answer}, fake.Say("done"), fake.Use(use("r", "read")), fake.Use(use("a", "answer")))
	r.loop.Structured = "answer"
	r.run(t)
	if q := r.model.Requests(); len(q) != 3 || q[1].Force != "answer" || q[2].Force != "" {
		t.Errorf("%d requests, %q forced in the third", len(q), q[len(q)-1].Force)
	}
}

// After an empty reply the model is asked once more, and the reply is gone; a turn
// whose conversation was too long goes on without having been cut off.
func TestWhatIsAskedAgain(t *testing.T) {
	r := newRig(t, nil, fake.Parts(llm.EndTurn), fake.Say("done"))
	if out := r.run(t); out.Reason != agent.Completed || len(said[event.Replied](r.host)) != 1 || len(said[event.Dropped](r.host)) != 1 {
		t.Errorf("%+v; %+v", out, said[event.Dropped](r.host))
	}
	r = newRig(t, []tool.Tool{read(1000)}, append(reads(2), fails(llm.TooLong), fake.Say("done"))...)
	r.run(t)
	if strings.Contains(words(r.last()), "Continue exactly where it stopped") {
		t.Error("it is told that its reply was cut off")
	}
}

// A turn ends when it cannot be recorded, whatever could not be, and no call
// runs that is not on disk.
func TestWhatCannotBeRecordedEndsTheTurn(t *testing.T) {
	for _, what := range []string{"event.ReplyStarted", "event.TextDelta", "event.PartDone", "event.Replied", "event.ToolStarted", "event.ToolFinished"} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ran := 0
				act := returning(tool.Spec{Name: "act"}, func(tool.Env) tool.Result { ran++; return tool.Result{Text: "ok"} })
				r := newRig(t, []tool.Tool{act}, fake.Parts(llm.WantTools, llm.Text{S: "x"}, use("a", "act")), fake.Say("done"))
				full := errors.New("the disk is full")
				r.host.refuse = func(b event.Body) error {
					if fmt.Sprintf("%T", b) == what {
						return full
					}
					return nil
				}
				if _, err := r.loop.Run(t.Context(), r.turn); !errors.Is(err, full) || len(r.model.Requests()) != 1 {
					t.Errorf("%v after %d requests", err, len(r.model.Requests()))
				}
				if started := len(said[event.ToolStarted](r.host)); ran > started {
					t.Errorf("ran %d times, started %d times", ran, started)
				}
			})
		})
	}
}

// So do the changes that a recovery records, and tools that cannot be had.
func TestARecoveryThatCannotBeRecorded(t *testing.T) {
	capped := fake.Parts(llm.MaxTokens, llm.Text{S: "cut"})
	full := errors.New("the disk is full")
	for what, c := range map[string]struct {
		change  func(*rig)
		replies []fake.Reply
	}{
		"event.Cleared": {nil, append(reads(2), fails(llm.TooLong), fake.Say("done"))},
		"event.Bounded": {func(r *rig) {
			r.host.tools, _ = tool.NewSet(read(40_000))
			r.host.target.Window = 10_000
		}, reads(2)},
		"event.Stripped":      {nil, []fake.Reply{fails(llm.MediaTooBig), fake.Say("done")}},
		"event.InputAccepted": {nil, []fake.Reply{capped, fake.Say("done")}},
		"event.Waiting":       {nil, []fake.Reply{overloaded(), fake.Say("done")}},
		"event.Retracted":     {nil, []fake.Reply{fake.Fail(llm.Error{Kind: llm.Cut, Err: errTest}, llm.Text{S: "half"}), fake.Say("done")}},
		"event.Dropped":       {nil, []fake.Reply{fake.Fail(llm.Error{Kind: llm.Cut, Err: errTest}, llm.Text{S: "half"}), fake.Say("done")}},
		"event.ModelChanged": {func(r *rig) {
			r.loop.Fallbacks = []agent.Target{{Model: &fake.Model{Replies: []fake.Reply{fake.Say("done")}}, Provider: "fake", Name: "other"}}
		}, slices.Repeat([]fake.Reply{overloaded()}, 4)},
		"event.Compacted": {func(r *rig) {
			r.host.tools, _ = tool.NewSet(returning(tool.Spec{Name: "anew"}, func(tool.Env) tool.Result {
				return tool.Result{Text: "x", Effects: []tool.Effect{effect.Fresh{}}}
			}))
		}, []fake.Reply{fake.Use(use("a", "anew")), fake.Say("done")}},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []tool.Tool{read(1000)}, c.replies...)
				_ = r.host.Emit(event.InputAccepted{ID: "p2", Text: "see", Images: []llm.Image{{Media: "image/png", Data: []byte("x")}}})
				if c.change != nil {
					c.change(r)
				}
				r.host.refuse = func(b event.Body) error {
					if fmt.Sprintf("%T", b) == what {
						return full
					}
					return nil
				}
				if out, err := r.loop.Run(t.Context(), r.turn); !errors.Is(err, full) || out.Reason != "" {
					t.Errorf("%+v, %v", out, err)
				}
			})
		})
	}
	t.Run("tools", func(t *testing.T) {
		r := newRig(t, nil, fake.Say("done"))
		r.host.noTools = full
		if _, err := r.loop.Run(t.Context(), r.turn); !errors.Is(err, full) || len(r.model.Requests()) > 0 {
			t.Errorf("%v", err)
		}
	})
}

// A tool that is gone says so, by its other names, too.
func TestGoneTools(t *testing.T) {
	r := newRig(t, []tool.Tool{read(10)}, fake.Use(use("a", "zoom"), use("b", "gaze"), use("c", "nosuch")), fake.Say("done"))
	r.loop.Aliases = map[string]string{"gaze": "zoom"}
	_ = r.host.Emit(event.ToolsChanged{Removed: []string{"zoom"}})
	r.run(t)
	want := map[string]string{"a": "the tool zoom is not there any more; the tools are read", "b": "the tool gaze is not there any more; the tools are read", "c": `there is no tool named "nosuch"; the tools are read`}
	for _, f := range said[event.ToolFinished](r.host) {
		if f.Text != want[f.Call] || !f.IsErr {
			t.Errorf("%s: %q", f.Call, f.Text)
		}
	}
}

// What a call is told: masked, timed, and refused in the words of who refused.
func TestResultsAreMaskedAndTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := returning(tool.Spec{Name: "slow"}, func(tool.Env) tool.Result {
			time.Sleep(time.Second)
			return tool.Result{Text: "key=123", Effects: []tool.Effect{effect.Saw{Files: []effect.File{{Path: "/w/f"}}}, effect.Dir{Path: "/w/sub"}}}
		})
		where := returning(tool.Spec{Name: "where"}, func(env tool.Env) tool.Result { return tool.Result{Text: env.Dir} })
		r := newRig(t, []tool.Tool{slow, where}, fake.Use(use("a", "slow")), fake.Use(use("b", "where"), use("c", "slow"), use("d", "slow")), fake.Say("done"))
		r.loop.Mask = func(_ []policy.Action, res tool.Result) tool.Result {
			res.Text = strings.ReplaceAll(res.Text, "123", "***")
			return res
		}
		r.loop.Touched = func(_ event.Seq, paths []string) []string { return []string{"about " + strings.Join(paths, " ")} }
		r.host.rule = func(q agent.Question) agent.Verdict {
			v := agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow}}
			switch q.Call.ID {
			case "c":
				v.Effect, v.Reason = policy.Deny, "it is late"
			case "d":
				v.Effect, v.Answer = policy.Deny, &tool.Answer{Comment: "do something else"}
			}
			return v
		}
		r.run(t)
		got := map[string]event.ToolFinished{}
		for _, f := range said[event.ToolFinished](r.host) {
			got[f.Call] = f
		}
		if a := got["a"]; a.Text != "key=***" || a.Took != time.Second || a.IsErr || a.Name != "slow" || len(a.Effects) != 2 {
			t.Errorf("%+v", a)
		}
		if got["b"].Text != "/w/sub" {
			t.Errorf("the next call runs in %q", got["b"].Text)
		}
		if c := got["c"]; !c.Denied || !strings.HasPrefix(c.Text, "This call was refused: it is late. Do not") || string(c.Input) != "{}" {
			t.Errorf("%+v", c)
		}
		if d := got["d"]; !d.Denied || d.Text != "do something else" {
			t.Errorf("%+v", d)
		}
		if !slices.Equal(r.host.notes, []string{"about /w/f"}) {
			t.Errorf("noted %q", r.host.notes)
		}
	})
}
