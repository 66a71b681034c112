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

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/window"
)

func diff(want, got any) string { return cmp.Diff(want, got) }

var asked = agent.Compaction{Trigger: event.CauseAsked}

// talked has a conversation of so many replies, each of 4,000 bytes; the newest
// request had so many tokens.
func talked(t *testing.T, n, tokens int, replies ...fake.Reply) *rig {
	t.Helper()
	r := newRig(t, nil, replies...)
	for i := range n {
		b := event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: fmt.Sprint("A", i) + strings.Repeat(" so", 1333)}}}}
		if i == n-1 {
			b.Usage = llm.Usage{In: tokens}
		}
		for _, b := range []event.Body{b, event.InputAccepted{ID: fmt.Sprint("q", i), Text: fmt.Sprint("Q", i)}} {
			if err := r.host.Emit(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

// A summary may have what the model can write, up to a bound, and what is left of
// its window; where too little is left, the oldest rounds are not sent.
func TestRoomForASummary(t *testing.T) {
	for name, c := range map[string]struct {
		window, cap, tokens int
		most                int
		whole               bool
	}{
		"nothing is known":             {0, 0, 8000, 20_000, true},
		"a large cap":                  {200_000, 64_000, 8000, 20_000, true},
		"a small cap":                  {200_000, 1000, 8000, 1000, true},
		"a window that is nearly full": {16_000, 8000, 15_000, 1831, false},
		"a window that has room":       {64_000, 8000, 15_000, 8000, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := talked(t, 8, c.tokens, summing(t, "the sum", llm.Usage{In: 1, Out: 1}))
				r.host.target.Window, r.host.target.Cap = c.window, c.cap
				r.loop.System = []string{strings.Repeat("be brief ", 100)}
				if out, err := r.loop.Compact(t.Context(), r.turn, asked); err != nil || out.Reason != agent.Completed {
					t.Fatalf("%+v %v", out, err)
				}
				if e := said[event.Compacted](r.host)[0]; e.Left != window.Overhead(r.loop.System, nil)+r.host.State().Gauge().Bytes/4 {
					t.Errorf("%d tokens are left, of %d bytes", e.Left, r.host.State().Gauge().Bytes)
				}
				q := r.last()
				if q.MaxTokens != c.most || strings.Contains(words(q), "A0 so") != c.whole || !strings.Contains(words(q), "A7 so") || !strings.Contains(words(q), "go\n") {
					t.Errorf("at most %d tokens; %d messages", q.MaxTokens, len(q.Messages))
				}
			})
		})
	}
}

// Each part of what takes a conversation's place has its share of the window.
func TestSharesOfACompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("and so on\n", 20_000)
		for _, notes := range []bool{false, true} {
			r := talked(t, 30, 30_000, summing(t, "the sum "+long, llm.Usage{In: 1, Out: 1}))
			r.host.target.Window, r.host.target.Cap = 160_000, 8000
			for _, b := range []event.Body{
				event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{use("k", "keep")}}},
				event.ToolFinished{Call: "k", Text: "ok", Effects: []tool.Effect{effect.Planned{Text: "the plan " + long}, effect.Saw{Files: []effect.File{{Path: "/w/long"}, {Path: "/w/none"}, {Path: "/w/secret"}}}}},
			} {
				_ = r.host.Emit(b)
			}
			r.host.look = map[string]event.Attached{
				"/w/long": {Text: "the file " + long}, "/w/none": {Name: "/w/none"}, "/w/secret": {Text: "hunter2", Refused: true},
			}
			c, first := asked, "summary"
			if notes {
				c.Trigger, first = event.CauseFull, "session_notes"
				r.loop.Notes = func(context.Context) (string, event.Seq, bool) { return "the notes " + long, r.host.State().Seq, true }
			}
			if out, err := r.loop.Compact(t.Context(), r.turn, c); err != nil || out.Reason != agent.Completed {
				t.Fatalf("%+v %v", out, err)
			}
			text := said[event.Compacted](r.host)[0].Text
			s := window.SharesOf(window.Effective(160_000, 8000), 0)
			for name, tokens := range map[string]int{first: s.Summary, "plan": s.Other, "recent_files": s.File} {
				_, part, _ := strings.Cut(text, "<"+name+">\n")
				part, _, ok := strings.Cut(part, "\n</"+name+">")
				if !ok || len(part) > 4*tokens+100 || len(part) < 4*tokens*85/100 {
					t.Errorf("%s has %d bytes of %d", name, len(part), 4*tokens)
				}
			}
			if strings.Contains(text, "hunter2") {
				t.Error("a file that may not be read is kept")
			}
		}
	})
}

// What comes while a summary is written stays, and a record that could not be
// written is not named.
func TestWhatComesWhileASummaryIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []agent.Compaction{asked, {Trigger: event.CauseAsked, Before: 6, Part: "from it on"}} {
			var r *rig
			r = talked(t, 3, 8000, func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
				_ = r.host.Emit(event.InputAccepted{ID: "late", Text: "and one thing more"})
				summing(t, "the sum", llm.Usage{In: 1, Out: 1})(ctx, q, yield)
			})
			r.loop.Spill = func(string, string) (string, error) { return "/half", errors.New("the disk is full") }
			if out, err := r.loop.Compact(t.Context(), r.turn, c); err != nil || out.Reason != agent.Completed {
				t.Fatalf("%+v %v", out, err)
			}
			if s := words(llm.Request{Messages: r.host.State().Messages()}); strings.Count(s, "and one thing more") != 1 || strings.Contains(s, "/half") {
				t.Errorf("%.2000s", s)
			}
			if e := said[event.Compacted](r.host)[0]; e.Record != "" {
				t.Errorf("its record is %s", e.Record)
			}
		}
	})
}

// Notes stand in for a summary where nobody asked for one, and where they are
// notes, and true.
func TestWhereNotesStandIn(t *testing.T) {
	for name, c := range map[string]struct {
		trigger event.Cause
		text    string
		ok      bool
	}{"they stand in": {event.CauseFull, "notes", true}, "they are not true any more": {event.CauseFull, "old", false}, "there is nothing in them": {event.CauseFull, " \n", true}, "a summary was asked for": {event.CauseAsked, "notes", true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := talked(t, 8, 8000, summing(t, "the sum", llm.Usage{In: 1, Out: 1}))
				r.host.target.Window, r.host.target.Cap = 11_000, 1000
				r.loop.Notes = func(context.Context) (string, event.Seq, bool) { return c.text, r.host.State().Seq, c.ok }
				if out, err := r.loop.Compact(t.Context(), r.turn, agent.Compaction{Trigger: c.trigger}); err != nil || out.Reason != agent.Completed {
					t.Fatalf("%+v %v", out, err)
				}
				summed := name != "they stand in"
				if e := said[event.Compacted](r.host); (len(r.model.Requests()) == 1) != summed || len(e) != 1 || (e[0].Notes == 0) != summed || strings.Contains(e[0].Text, "the sum") != summed {
					t.Errorf("%d requests, %+v", len(r.model.Requests()), e)
				}
			})
		})
	}
}

// A compaction of its own ends when something of it cannot be recorded.
func TestACompactionThatCannotBeRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, replies := range map[string][]fake.Reply{
			"done":   {overloaded(), fake.Use(use("z", "keep")), summing(t, "the sum", llm.Usage{In: 1, Out: 1})},
			"failed": {fake.Parts(llm.Refused, llm.Text{S: "no"})},
			"larger": {summing(t, strings.Repeat("sum ", 20_000), llm.Usage{In: 1, Out: 1})},
		} {
			for lost := 1; ; lost++ {
				r := talked(t, 3, 8000, replies...)
				r.host.target.Window = 32_000
				if name == "larger" {
					r = talked(t, 1, 10, replies...)
					r.host.target.Window = 32_000
				} else {
					_ = r.host.Emit(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{use("k", "keep")}}})
					_ = r.host.Emit(event.ToolFinished{Call: "k", Text: strings.Repeat("y", 70_000)})
				}
				n := 0
				r.host.refuse = func(event.Body) error {
					if n++; n == lost {
						return errTest
					}
					return nil
				}
				_, err := r.loop.Compact(t.Context(), r.turn, asked)
				if n < lost {
					if bounded := len(said[event.Bounded](r.host)); (bounded == 1) != (name != "larger") || lost < 3 {
						t.Errorf("%s: %d events, %d messages were bounded", name, n, bounded)
					}
					break
				}
				if !errors.Is(err, errTest) || n != lost || len(said[event.Compacted](r.host)) > 0 {
					t.Errorf("%s: event %d was lost: %v; %d events", name, lost, err, n)
				}
			}
		}
	})
}

// A summary has its price: when it uses up what a turn may spend, nothing more is
// asked.
func TestASummaryUsesUpTheBudget(t *testing.T) {
	for name, c := range map[string]struct {
		budget   agent.Budget
		end      agent.End
		requests int
	}{
		"tokens":   {agent.Budget{Tokens: 300}, agent.TokenBudget, 1},
		"money":    {agent.Budget{USD: 3}, agent.MaxBudget, 1},
		"enough":   {agent.Budget{USD: 4}, agent.Completed, 2},
		"no bound": {agent.Budget{}, agent.Completed, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := talked(t, 8, 8000, summing(t, "the sum", llm.Usage{In: 1, Out: 300}), fake.Say("done"))
				r.host.target.Cost = func(u llm.Usage) (float64, bool) { return float64(u.Out / 100), true }
				r.host.wish, r.turn.Budget = &agent.Compaction{Trigger: event.CauseAsked}, c.budget
				if out := r.run(t); out.Reason != c.end || len(r.model.Requests()) != c.requests {
					t.Errorf("%+v after %d requests", out, len(r.model.Requests()))
				}
			})
		})
	}
}

// What keeps a summary from being written is told, and the conversation stays;
// what waiting can cure is waited for as for a reply.
func TestSummariesThatFail(t *testing.T) {
	endless := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		yield(llm.TextDelta{S: "half"}, nil)
	}
	for name, c := range map[string]struct {
		replies  []fake.Reply
		requests int
		waits    int // at most, 0 for none
		why      string
	}{
		"a wrong key":                  {[]fake.Reply{fails(llm.Unauthorized)}, 1, 0, errTest.Error()},
		"busy for good":                {slices.Repeat([]fake.Reply{overloaded()}, 20), 11, 10, errTest.Error()},
		"never ended":                  {slices.Repeat([]fake.Reply{endless}, 20), 4, 3, "without its end mark"},
		"too long, and nothing can go": {slices.Repeat([]fake.Reply{fails(llm.TooLong)}, 9), 1, 0, errTest.Error()},
		"declined":                     {[]fake.Reply{fake.Parts(llm.Refused, llm.Text{S: "no"})}, 1, 0, "declined"},
		"nothing is said":              {[]fake.Reply{fake.Parts(llm.EndTurn)}, 1, 0, "no summary"},
		"never ended, then written":    {[]fake.Reply{endless, summing(t, "the sum", llm.Usage{In: 1, Out: 1})}, 2, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := talked(t, 1, 8000, c.replies...)
				before := fmt.Sprint(r.host.State().Messages())
				out, err := r.loop.Compact(t.Context(), r.turn, asked)
				if err != nil || len(r.model.Requests()) != c.requests {
					t.Fatalf("%+v %v after %d requests", out, err, len(r.model.Requests()))
				}
				w := said[event.Waiting](r.host)
				if (len(w) > 0) != (c.waits > 0) || len(w) > 0 && (w[0].Max != c.waits || len(w) != c.requests-1) {
					t.Errorf("%+v", w)
				}
				if c.why == "" {
					if out.Reason != agent.Completed {
						t.Errorf("%+v", out)
					}
					return
				}
				f := said[event.CompactFailed](r.host)
				if out.Reason != agent.ModelError || !strings.Contains(out.Text, c.why) || out.Hint == "" || len(f) != 1 || !strings.Contains(f[0].Why, c.why) || fmt.Sprint(r.host.State().Messages()) != before {
					t.Errorf("%+v; %+v", out, f)
				}
			})
		})
	}
}

// A summary is asked for in words, also where the reply behind it has to call a tool.
func TestASummaryForcesNoTool(t *testing.T) {
	answer := returning(tool.Spec{Name: "answer"}, func(tool.Env) tool.Result {
		return tool.Result{Text: "taken", Effects: []tool.Effect{effect.Answer{JSON: json.RawMessage(`{}`)}}}
	})
	r := talked(t, 2, 4000)
	set, err := tool.NewSet(answer)
	if err != nil {
		t.Fatal(err)
	}
	r.host.tools, r.loop.Structured = set, "answer"
	r.model.Replies = []fake.Reply{
		func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
			wish := asked
			r.host.mu.Lock()
			r.host.wish = &wish
			r.host.mu.Unlock()
			fake.Say("done")(ctx, q, yield)
		},
		summing(t, "the sum", llm.Usage{In: 1, Out: 1}), fake.Use(use("a", "answer")),
	}
	if out := r.run(t); out.Reason != agent.Completed {
		t.Errorf("%+v", out)
	}
	var forced []string
	for _, q := range r.model.Requests() {
		forced = append(forced, q.Force)
	}
	if !slices.Equal(forced, []string{"", "", "answer"}) {
		t.Errorf("forced %q", forced)
	}
}

// A compaction that a person wanted and that would bring nothing is no failure of the
// turn: its event says what there is to say.
func TestASummaryThatBringsNothing(t *testing.T) {
	r := talked(t, 1, 8000, summing(t, strings.Repeat("sum ", 20_000), llm.Usage{In: 1, Out: 1}))
	out, err := r.loop.Compact(t.Context(), r.turn, asked)
	if f := said[event.CompactFailed](r.host); err != nil || out.Reason != agent.Completed || out.Text != "" || len(f) != 1 || !strings.Contains(f[0].Why, "would take more room") {
		t.Errorf("%+v %v; %+v", out, err, f)
	}
}

// A turn that is interrupted while a summary makes room for it says nothing more,
// and one whose summary makes none is over.
func TestNoRoomIsMade(t *testing.T) {
	full := fake.Parts(llm.WindowFull, llm.Text{S: "cut"})
	synctest.Test(t, func(t *testing.T) {
		r := talked(t, 3, 8000, full, fake.Hang(llm.Text{S: "half a summary"}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if out, err := r.loop.Run(ctx, r.turn); err != nil || out.Reason != agent.InterruptedStreaming || strings.Contains(words(llm.Request{Messages: r.host.State().Messages()}), "Continue exactly") {
			t.Errorf("%+v %v", out, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := talked(t, 1, 8000, fails(llm.TooLong), summing(t, strings.Repeat("sum ", 20_000), llm.Usage{In: 1, Out: 1}), fake.Say("not asked"))
		if out := r.run(t); out.Reason != agent.PromptTooLong || len(r.model.Requests()) != 2 {
			t.Errorf("%+v after %d requests", out, len(r.model.Requests()))
		}
	})
}

// Room is made for a model whose price is not known, too, where no budget counts
// on it.
func TestRoomForAModelWithoutAPrice(t *testing.T) {
	for name, budget := range map[string]agent.Budget{"no budget": {}, "one that needs no price": {USD: 1, Unpriced: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := talked(t, 8, 15_500, summing(t, "the sum", llm.Usage{In: 1, Out: 1}), fake.Say("done"))
				r.host.target.Window, r.host.target.Cap = 16_000, 1000
				r.host.target.Cost = func(llm.Usage) (float64, bool) { return 0, false }
				r.turn.Budget = budget
				if out := r.run(t); out.Reason != agent.Completed || len(said[event.Compacted](r.host)) != 1 {
					t.Errorf("%+v, %d compactions", out, len(said[event.Compacted](r.host)))
				}
			})
		})
	}
}
