package agent_test

import (
	"context"
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
	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// summing answers a request for a summary, and fails every other one.
func summing(t *testing.T, text string, usage llm.Usage) fake.Reply {
	return func(_ context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
		if !strings.Contains(words(q), "under these nine headings") {
			t.Errorf("this request wants no summary: %.100s", words(q))
		}
		part := llm.Text{S: text}
		if fake.Send(yield, part) {
			yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{part}}, Stop: llm.EndTurn, Usage: usage}, nil)
		}
	}
}

func TestCompaction(t *testing.T) {
	keep := func(chars int) tool.Tool {
		return returning(tool.Spec{Name: "keep", Limit: tool.NoLimit}, func(env tool.Env) tool.Result {
			return tool.Result{Text: env.Call + " " + strings.Repeat("x", chars)}
		})
	}
	calls := func(n, from, tokens int) (out []fake.Reply) {
		for i := range n {
			out = append(out, used(from+(i+1)*tokens, use(fmt.Sprint("k", i), "keep")))
		}
		return out
	}
	small := func(r *rig) { r.host.target.Window, r.host.target.Cap = 10_000, 1000 }
	cost := llm.Usage{In: 7000, Out: 300}
	summary := summing(t, "nine parts", cost)
	tooLong := fake.Fail(llm.Error{Kind: llm.TooLong, Err: errors.New("prompt is too long: 12000 tokens > 10000 maximum")})
	vague := fake.Fail(llm.Error{Kind: llm.TooLong, Err: errors.New("too long")})
	// It had begun, which the error does not say.
	broken := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		if yield(llm.TextDelta{S: "nine"}, nil) && yield(llm.Progress{Usage: llm.Usage{In: 6000, Out: 7}}, nil) {
			yield(nil, &llm.Error{Kind: llm.Transport, Err: errTest})
		}
	}
	for _, c := range []struct {
		name     string
		change   func(*rig)
		replies  []fake.Reply
		end      agent.End
		requests int
		done     int // compactions
		failed   int
		check    func(*testing.T, *rig, agent.Outcome)
	}{
		{name: "before the window is full", change: small, replies: append(calls(3, 0, 2000), summary, fake.Say("done")), end: agent.Completed, requests: 5, done: 1,
			check: func(t *testing.T, r *rig, out agent.Outcome) {
				q := r.model.Requests()
				before, asked := q[2], q[3]
				if asked.Model != before.Model || !slices.Equal(asked.System, before.System) || !slices.EqualFunc(asked.Tools, before.Tools, func(a, b llm.Spec) bool { return a.Name == b.Name }) ||
					fmt.Sprint(asked.Messages[:len(before.Messages)]) != fmt.Sprint(before.Messages) {
					t.Error("the request for a summary does not begin as the one before")
				}
				e := said[event.Compacted](r.host)[0]
				if e.Trigger != event.CauseFull || e.Tokens < 7000 || e.Left > e.Tokens*9/10 || e.From == 0 {
					t.Errorf("%+v", e)
				}
				if s := words(r.last()); !strings.Contains(s, "nine parts") || !strings.Contains(s, "- go") || strings.Contains(s, "k0 x") {
					t.Errorf("sent %.2000s", s)
				}
				if sp := said[event.Spent](r.host); len(sp) != 1 || sp[0].For != event.ForSummary || sp[0].Usage != cost || sp[0].Model != "fake/m" {
					t.Errorf("%+v", sp)
				}
				if out.Steps != 4 {
					t.Errorf("%d steps", out.Steps)
				}
			}},
		{name: "a server that counts nothing", change: func(r *rig) {
			small(r)
			r.host.tools, _ = tool.NewSet(returning(tool.Spec{Name: "keep", Limit: tool.NoLimit, Description: strings.Repeat("a word ", 1500)}, func(tool.Env) tool.Result {
				return tool.Result{Text: strings.Repeat("x", 7000)}
			}))
		}, replies: append(calls(3, 0, 0), summary, fake.Say("done")), end: agent.Completed, requests: 5, done: 1},
		{name: "a server that counts only what is new", change: small, replies: []fake.Reply{
			used(2500, use("k0", "keep")), used(100, use("k1", "keep")), used(100, use("k2", "keep")), summary, fake.Say("done"),
		}, end: agent.Completed, requests: 5, done: 1},
		{name: "too long: compacted, once", replies: append(calls(2, 0, 10), tooLong, summary, fake.Say("done")), end: agent.Completed, requests: 5, done: 1,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if e := said[event.Compacted](r.host)[0]; e.Trigger != event.CauseTooLong {
					t.Errorf("%+v", e)
				}
			}},
		{name: "too long for a proxy", change: func(r *rig) { r.loop.Light = &agent.Light{} }, replies: slices.Repeat([]fake.Reply{fake.Fail(llm.Error{Kind: llm.TooLong, Status: 413, Fix: "raise its limit", Err: errors.New("a page")})}, 9), end: agent.PromptTooLong, requests: 1,
			check: func(t *testing.T, _ *rig, out agent.Outcome) {
				if !strings.HasPrefix(out.Text, "the request is too large: ") || out.Hint != "raise its limit" {
					t.Errorf("%+v", out)
				}
			}},
		{name: "too long again: given up", replies: append(calls(2, 0, 10), tooLong, summary, tooLong, tooLong, tooLong, tooLong, tooLong), end: agent.PromptTooLong, requests: 7, done: 1},
		{name: "the request for the summary is too long: the oldest go, three times", replies: append(calls(8, 0, 10), vague, vague, vague, vague, summary, fake.Say("done")), end: agent.Completed, requests: 14, done: 1,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				q := r.model.Requests()
				for i := 10; i < 13; i++ {
					if len(q[i].Messages) >= len(q[i-1].Messages) || q[i].Messages[0].Role != llm.User {
						t.Errorf("request %d has %d messages, the one before %d", i, len(q[i].Messages), len(q[i-1].Messages))
					}
				}
			}},
		{name: "too long for a sixth time", replies: append(calls(40, 0, 10), slices.Repeat([]fake.Reply{vague}, 20)...), end: agent.PromptTooLong, requests: 51, failed: 1},
		{name: "one round: its result is shortened, and then it is compacted", replies: append(calls(1, 0, 10), tooLong, tooLong, tooLong, tooLong, summary, fake.Say("done")), end: agent.Completed, requests: 7, done: 1,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				q := r.model.Requests()
				if a, b := len(results(q[1])["k0"]), len(results(q[2])["k0"]); b >= a {
					t.Errorf("it had %d bytes, then %d", a, b)
				}
			}},
		{name: "one round, and the request for a summary of it is too long: its result is cut for it", change: func(r *rig) {
			_ = r.host.Emit(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{use("k", "keep")}}, Stop: llm.WantTools})
			_ = r.host.Emit(event.ToolFinished{Call: "k", Name: "keep", Text: strings.Repeat("x", 7000)})
			r.host.wish = &agent.Compaction{Trigger: event.CauseAsked}
		}, replies: []fake.Reply{tooLong, summary, fake.Say("done")}, end: agent.Completed, requests: 3, done: 1,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				q := r.model.Requests()
				if a, b := len(results(q[0])["k"]), len(results(q[1])["k"]); a != 7000 || b >= a || b == 0 {
					t.Errorf("it had %d bytes, then %d", a, b)
				}
			}},
		{name: "a summary that was cut off is asked for again, shorter", change: small, replies: append(calls(3, 0, 2000), fake.Parts(llm.MaxTokens, llm.Text{S: "half a"}), summary, fake.Say("done")), end: agent.Completed, requests: 6, done: 1,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if q := r.model.Requests(); words(q[3]) == words(q[4]) || q[4].MaxTokens < q[3].MaxTokens || strings.Contains(words(r.last()), "half a") {
					t.Errorf("asked the same, or for %d tokens after %d", q[4].MaxTokens, q[3].MaxTokens)
				}
			}},
		{name: "cut off twice is a failure", change: small, replies: append(calls(3, 0, 2000), fake.Parts(llm.MaxTokens, llm.Text{S: "half a"}), fake.Parts(llm.MaxTokens, llm.Text{S: "half"}), fake.Say("done")), end: agent.Completed, requests: 6, failed: 1},
		{name: "too long, and there is nothing to sum up", replies: []fake.Reply{tooLong}, end: agent.PromptTooLong, requests: 1},
		{name: "a summary that breaks off is paid for, and asked for again", change: small, replies: append(calls(3, 0, 2000), broken, summary, fake.Say("done")), end: agent.Completed, requests: 6, done: 1,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if sp := said[event.Spent](r.host); len(sp) != 2 || sp[0].Usage != (llm.Usage{In: 6000, Out: 7}) || sp[0].For != event.ForSummary {
					t.Errorf("%+v", sp)
				}
				if w := said[event.Waiting](r.host); len(w) != 1 || w[0].Max != 3 || w[0].Kind != "network" {
					t.Errorf("%+v", w)
				}
			}},
		{name: "a call in place of a summary is refused", change: small, replies: append(calls(3, 0, 2000), fake.Use(use("z", "keep")), summary, fake.Say("done")), end: agent.Completed, requests: 6, done: 1,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if len(said[event.ToolStarted](r.host)) != 3 || !strings.Contains(words(r.model.Requests()[4]), "This call was refused") {
					t.Error("it ran, or was not told")
				}
			}},
		{name: "calls for good, and then nothing but calls", change: small, replies: append(calls(3, 0, 2000), fake.Use(use("z", "keep")), fake.Use(use("y", "keep")), fake.Say("done")), end: agent.Completed, requests: 6, failed: 1},
		{name: "busy: it is waited for", change: small, replies: append(calls(3, 0, 2000), overloaded(), summary, fake.Say("done")), end: agent.Completed, requests: 6, done: 1},
		{name: "three failures, and it is not tried again", change: func(r *rig) {
			r.host.target.Window, r.host.target.Cap = 100_000, 1000
		}, replies: slices.Concat(calls(1, 85_000, 900), []fake.Reply{fake.Parts(llm.EndTurn)}, []fake.Reply{used(87_000, use("b", "keep")), fake.Parts(llm.EndTurn), used(87_500, use("c", "keep")), fake.Parts(llm.EndTurn), used(88_000, use("d", "keep")), fake.Say("done")}),
			end: agent.Completed, requests: 8, failed: 3,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				for i, f := range said[event.CompactFailed](r.host) {
					if f.Stops != (i == 2) || f.Why == "" {
						t.Errorf("%d: %+v", i, f)
					}
				}
			}},
		{name: "as asked, in the middle of a turn", change: func(r *rig) {
			r.host.wish = &agent.Compaction{Trigger: event.CauseAsked, Focus: "the parser"}
			for i := range 4 {
				_ = r.host.Emit(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: fmt.Sprint("long ago ", i)}}}})
				_ = r.host.Emit(event.InputAccepted{ID: fmt.Sprint("q", i), Text: fmt.Sprint("question ", i)})
				_ = r.host.Emit(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: strings.Repeat("thoughts ", 200)}}}})
			}
		}, replies: []fake.Reply{summary, fake.Say("done")}, end: agent.Completed, requests: 2, done: 1,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if s := words(r.model.Requests()[0]); !strings.Contains(s, "special care about this: the parser") {
					t.Errorf("asked %q", s)
				}
				for i := range 4 {
					if !strings.Contains(words(r.last()), fmt.Sprint("question ", i)) {
						t.Errorf("question %d is not word for word in %q", i, words(r.last()))
					}
				}
			}},
		{name: "the session's notes stand in for a summary", change: func(r *rig) {
			r.host.target.Window, r.host.target.Cap = 11_000, 1000
			r.loop.Notes = func(context.Context) (string, event.Seq, bool) {
				return "# Title\nwhat the notes say", r.host.State().Seq, true
			}
		}, replies: append(calls(4, 0, 2000), fake.Say("done")), end: agent.Completed, requests: 5, done: 1,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if e := said[event.Compacted](r.host)[0]; e.Trigger != event.CauseFull || e.Notes == 0 || e.Left == 0 || e.Left > e.Tokens*9/10 {
					t.Errorf("%+v", e)
				}
				if s := words(r.last()); !strings.Contains(s, "<session_notes>\n# Title\nwhat the notes say\n</session_notes>") || !strings.Contains(s, "- go") {
					t.Errorf("sent %.2000s", s)
				}
				if ms := r.last().Messages; len(ms) != 3 || len(ms[1].Parts) != 1 || ms[1].Parts[0].(llm.ToolUse).ID != "k3" {
					t.Errorf("not the newest round alone is left: %+v", ms)
				}
			}},
		{name: "notes that are too old: a summary", change: func(r *rig) {
			small(r)
			r.loop.Notes = func(context.Context) (string, event.Seq, bool) { return "old", 1, true }
		}, replies: append(calls(3, 0, 2000), summary, fake.Say("done")), end: agent.Completed, requests: 5, done: 1},
		{name: "no warning of what is done at once", change: func(r *rig) { r.host.target.Window, r.host.target.Cap = 100_000, 1000 },
			replies: append(calls(1, 90_000, 500), summary, fake.Say("done")), end: agent.Completed, requests: 3, done: 1,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				if n := said[event.Noted](r.host); len(n) > 0 {
					t.Errorf("%+v", n)
				}
			}},
		{name: "one that would be larger is not taken, and the third is the last", change: func(r *rig) { small(r); r.host.tools, _ = tool.NewSet(keep(10)) },
			replies: []fake.Reply{used(7600, use("a", "keep")), summary, used(7610, use("b", "keep")), summary, used(7620, use("c", "keep")), summary, used(7630, use("d", "keep")), fake.Say("done")},
			end:     agent.Completed, requests: 8, failed: 3,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				for i, f := range said[event.CompactFailed](r.host) {
					if !strings.Contains(f.Why, "would take more room (about ") || f.Stops != (i == 2) {
						t.Errorf("%+v", f)
					}
				}
			}},
		{name: "a warning, once", change: func(r *rig) { r.host.target.Window, r.host.target.Cap = 100_000, 1000 },
			replies: append(calls(1, 70_000, 500), append(calls(2, 77_000, 500), fake.Say("done"))...), end: agent.Completed, requests: 4,
			check: func(t *testing.T, r *rig, _ agent.Outcome) {
				n := said[event.Noted](r.host)
				if len(n) != 1 || !strings.Contains(n[0].Text, "of the 99,000 tokens") || !strings.Contains(n[0].Text, "At 86,000") {
					t.Errorf("%+v", n)
				}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				build := func() *rig {
					r := newRig(t, []tool.Tool{keep(7000)}, c.replies...)
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
				var begun, ended []event.Cause
				for _, b := range r.host.events {
					switch b := b.(type) {
					case event.Compacting:
						begun = append(begun, b.Trigger)
					case event.Compacted:
						ended = append(ended, b.Trigger)
					case event.CompactFailed:
						ended = append(ended, b.Trigger)
					default:
					}
				}
				if !slices.Equal(begun, ended) {
					t.Errorf("compactions began by %v, and ended by %v", begun, ended)
				}
				if done, failed := len(said[event.Compacted](r.host)), len(said[event.CompactFailed](r.host)); done != c.done || failed != c.failed {
					t.Errorf("%d compactions, %d failed: %+v", done, failed, said[event.CompactFailed](r.host))
				}
				if c.check != nil && !t.Failed() {
					c.check(t, r, out)
				}
			})
		})
	}
}

// What is kept beside a summary stands there word for word.
func TestWhatACompactionKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []tool.Tool{returning(tool.Spec{Name: "keep", Limit: tool.NoLimit}, func(tool.Env) tool.Result {
			return tool.Result{
				Text: strings.Repeat("y", 200_000), View: view.Tasks{Items: []view.Task{{Text: "as it was before", Status: view.InProgress}}},
				Effects: []tool.Effect{
					effect.Planned{Text: "step one of the plan"}, effect.Changed{Files: []effect.Change{{Path: "/w/changed.go"}, {Path: "/elsewhere/x.go"}}},
					effect.Saw{Files: []effect.File{{Path: "/w/seen.go"}}}, effect.Skill{Name: "mend", Text: "mend it so"},
				},
			}
		})}, used(100, use("k0", "keep")), used(56_000, use("k1", "keep")), summing(t, "the sum", llm.Usage{In: 1, Out: 1}), fake.Say("done"))
		r.host.target.Window, r.host.target.Cap = 120_000, 4000
		var spilled string
		r.loop.Spill = func(_, text string) (string, error) { spilled = text; return "/session/record.txt", nil }
		_ = r.host.Emit(event.TaskStarted{ID: "b1", Kind: "shell", Text: "make watch"})
		_ = r.host.Emit(event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Session: "s1", Text: "find the tests", Agent: &event.Agent{ID: "a1", Type: "explore", Name: "finder"}})
		_ = r.host.Emit(event.TaskStarted{ID: "a2", Kind: event.TaskAgent, Session: "s2", Text: "count them", Agent: &event.Agent{ID: "a2"}})
		_ = r.host.Emit(event.TaskEnded{ID: "a2", Status: event.TaskBlocked})
		_ = r.host.Emit(event.TaskStarted{ID: "a3", Kind: event.TaskAgent, Session: "s0", Text: "mend them", Agent: &event.Agent{ID: "a3"}})
		_ = r.host.Emit(event.TodoChanged{Tasks: []tasklist.Task{
			{ID: "1", Subject: "write it", Status: view.InProgress, Owner: "ann"}, {ID: "2", Subject: "read it", Status: view.Completed}, {ID: "3", Subject: "run it", Status: view.Pending, BlockedBy: []string{"1", "2"}},
			{ID: "4", Subject: "read it by herself", Status: view.Pending, Owner: "ann", Step: true},
		}})
		if out := r.run(t); out.Reason != agent.Completed {
			t.Fatalf("%+v", out)
		}
		s := words(r.last())
		for _, want := range []string{
			"<summary>\nthe sum\n</summary>", "- go\n</user_messages>", "<skills>\n# mend\nmend it so\n</skills>", "<plan>\nstep one of the plan\n</plan>", "<todo_list>\n- 1 [in_progress] write it (ann)\n- 3 [pending] run it, waits for 1\n</todo_list>",
			"<changed_files>\n/elsewhere/x.go\nbelow /w:\nchanged.go\n</changed_files>", "<agents>\n- a3, general-purpose, works: mend them\n- finder (a1), explore, works: find the tests\n- a2, general-purpose, has ended: blocked: count them\n</agents>", "<background_tasks>\n- b1 (shell): make watch\n</background_tasks>", "<recent_files>\n<file path=\"/w/seen.go\">", "\n/session/record.txt\n</record>",
		} {
			if !strings.Contains(s, want) {
				t.Errorf("%q is not in %.1000s", want, s)
			}
		}
		if strings.Contains(s, "read it") || strings.Contains(s, "yyyyyyyyyy") {
			t.Error("what is done stands there, or a result")
		}
		if !strings.Contains(spilled, "== result k0 (event ") || !strings.Contains(spilled, "yyyyy") {
			t.Errorf("the record: %.300s", spilled)
		}
	})
}

// Of a part that is replaced nothing stays, and what stays is not said twice:
// from a prompt on, up to one, or all but the newest.
func TestCompactionOfAPart(t *testing.T) {
	for name, c := range map[string]struct {
		c           agent.Compaction
		stays, goes []string
		said        []string // in the message that replaces the part
	}{
		"from a prompt on": {agent.Compaction{Before: 6, Part: "from it on"}, []string{"Q1", "A1"}, []string{"A2", "A3"}, []string{"Q2", "Q3"}},
		"up to a prompt":   {agent.Compaction{From: 8, Part: "up to it"}, []string{"Q3", "A3"}, []string{"A1", "A2"}, []string{"go", "Q1", "Q2"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, summing(t, "the sum", llm.Usage{In: 1, Out: 1}))
				for i := 1; i <= 3; i++ {
					for _, b := range []event.Body{event.InputAccepted{ID: fmt.Sprint("q", i), Text: fmt.Sprint("Q", i)}, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: fmt.Sprint("A", i) + strings.Repeat(" and so on", 300)}}}}} {
						if err := r.host.Emit(b); err != nil {
							t.Fatal(err)
						}
					}
				}
				c.c.Trigger = event.CauseAsked
				out, err := r.loop.Compact(t.Context(), r.turn, c.c)
				if err != nil || out.Reason != agent.Completed {
					t.Fatalf("%+v %v", out, err)
				}
				got := words(llm.Request{Messages: r.host.State().Messages()})
				for _, s := range append(c.stays, c.said...) {
					if strings.Count(got, s) != 1 {
						t.Errorf("%q stands %d times in\n%s", s, strings.Count(got, s), got)
					}
				}
				for _, s := range c.goes {
					if strings.Contains(got, s) {
						t.Errorf("%q stands in\n%s", s, got)
					}
				}
				sum := said[event.Compacted](r.host)[0].Text
				for _, s := range c.said {
					if !strings.Contains(sum, s) {
						t.Errorf("%q is not in\n%s", s, sum)
					}
				}
			})
		})
	}
}

// The record of a compaction has results as they came, also those that were
// cleared before; where the log cannot be read it has the line that stands for them.
func TestTheRecordHasWhatWasCleared(t *testing.T) {
	for name, broken := range map[string]bool{"as it came": false, "unreadable": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []tool.Tool{read(3000)}, append(reads(7), fake.Say("done"), summing(t, "the sum", llm.Usage{In: 1, Out: 1}))...)
				r.run(t)
				var first event.Seq // of the first result, which may come before its reply
				for _, e := range r.host.State().Entries() {
					for i, part := range e.Parts {
						if res, ok := part.(llm.ToolResult); ok && res.ID == "r0" {
							first = e.From[i]
						}
					}
				}
				_ = r.host.Emit(event.Cleared{Calls: []string{"r0", "r1"}})
				record := ""
				r.loop.Spill = func(_, text string) (string, error) { record = text; return "/record", nil }
				var asked []string
				r.loop.Results = func(_ context.Context, after event.Seq, calls []string, _ int) (map[string]string, error) {
					if asked = calls; broken {
						return nil, errTest
					}
					if after != first-1 {
						t.Errorf("after %d, the first result is event %d", after, first)
					}
					return map[string]string{"r0": "all of r0", "r1": "all of r1", "r2": "nobody asked"}, nil
				}
				if out, err := r.loop.Compact(t.Context(), r.turn, agent.Compaction{Trigger: event.CauseAsked}); err != nil || out.Reason != agent.Completed {
					t.Fatalf("%+v %v", out, err)
				}
				if has := strings.Contains(record, fmt.Sprintf("== result r0 (event %d)\nall of r0\n", first)) && strings.Contains(record, "all of r1"); has == broken || !slices.Equal(asked, []string{"r0", "r1"}) {
					t.Errorf("asked for %v; the record begins\n%.800s", asked, record)
				}
				if strings.Contains(record, "was cleared to save room") != broken || strings.Contains(record, "nobody asked") {
					t.Error("what was cleared is the wrong way round")
				}
			})
		})
	}
}

// A record whose results all stand there as they came asks for none of them, and one
// that nobody can ask for has what stands there.
func TestTheRecordOfWhatWasNotCleared(t *testing.T) {
	for name, clear := range map[string][]string{"nothing was cleared": nil, "nobody has the results": {"r0"}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, []tool.Tool{read(3000)}, append(reads(7), fake.Say("done"), summing(t, "the sum", llm.Usage{In: 1, Out: 1}))...)
			r.run(t)
			record := ""
			r.loop.Spill = func(_, text string) (string, error) { record = text; return "/record", nil }
			if clear == nil {
				r.loop.Results = func(context.Context, event.Seq, []string, int) (map[string]string, error) {
					t.Errorf("%s: asked for results", name)
					return nil, nil
				}
			} else {
				_ = r.host.Emit(event.Cleared{Calls: clear})
			}
			if out, err := r.loop.Compact(t.Context(), r.turn, agent.Compaction{Trigger: event.CauseAsked}); err != nil || out.Reason != agent.Completed || strings.Contains(record, "was cleared to save room") != (clear != nil) {
				t.Errorf("%s: %+v %v; %.300s", name, out, err, record)
			}
		})
	}
}

// Files are looked at again where the window has room for them.
func TestRecentFilesNeedRoom(t *testing.T) {
	for window, want := range map[int]int{10_000: 0, 120_000: 1} {
		synctest.Test(t, func(t *testing.T) {
			r := talked(t, 1, 4000, summing(t, "the sum", llm.Usage{In: 1, Out: 1}))
			r.host.target.Window, r.host.target.Cap = window, 1000
			_ = r.host.Emit(event.ToolFinished{Call: "none", Text: "x", Effects: []tool.Effect{effect.Saw{Files: []effect.File{{Path: "/w/seen.go"}}}}})
			if out, err := r.loop.Compact(t.Context(), r.turn, asked); err != nil || out.Reason != agent.Completed || r.host.looked != want {
				t.Errorf("window %d: %+v %v, looked %d times", window, out, err, r.host.looked)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		r := talked(t, 1, 4000, summing(t, "the sum", llm.Usage{In: 1, Out: 1}))
		if out, err := r.loop.Compact(t.Context(), r.turn, asked); err != nil || out.Reason != agent.Completed || r.host.looked != 0 {
			t.Errorf("%+v %v, looked %d times for nothing", out, err, r.host.looked)
		}
	})
}

// A compaction that a person wanted stops none of those that come by themselves.
func TestOnlyOnesOwnFailuresStop(t *testing.T) {
	r := talked(t, 1, 8000, fails(llm.Unauthorized))
	for range 2 {
		_ = r.host.Emit(event.CompactFailed{Trigger: event.CauseFull, Why: "the test wants it"})
	}
	if _, err := r.loop.Compact(t.Context(), r.turn, asked); err != nil {
		t.Fatal(err)
	}
	if f := said[event.CompactFailed](r.host); len(f) != 3 || f[2].Stops {
		t.Errorf("%+v", f)
	}
}

// A compaction of its own needs the tools, as the request before it had them.
func TestCompactionWithoutTools(t *testing.T) {
	r := newRig(t, nil, fake.Say("not asked"))
	r.host.noTools = errTest
	if _, err := r.loop.Compact(t.Context(), r.turn, agent.Compaction{Trigger: event.CauseAsked}); !errors.Is(err, errTest) || len(r.model.Requests()) > 0 {
		t.Errorf("%v", err)
	}
}

// An interrupt while the summary is written leaves the conversation as it was.
func TestAnInterruptWhileCompacting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := newRig(t, nil, func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
			fake.Send(yield, llm.Text{S: "half a summary"})
			cancel()
			<-ctx.Done()
			yield(nil, &llm.Error{Kind: llm.Transport, Err: ctx.Err()})
		})
		_ = r.host.Emit(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "so"}}}})
		before := fmt.Sprint(r.host.State().Messages())
		out, err := r.loop.Compact(ctx, r.turn, agent.Compaction{Trigger: event.CauseAsked})
		if err != nil || out.Reason != agent.InterruptedSummary || !strings.Contains(out.Text, "as it was") {
			t.Errorf("%+v, %v", out, err)
		}
		if after := fmt.Sprint(r.host.State().Messages()); after != before || len(said[event.CompactFailed](r.host)) > 0 {
			t.Errorf("%s, before %s", after, before)
		}
	})
}

// After an hour no cache holds the prefix any more, so that old results go
// without costing anything.
func TestAColdCacheIsClearedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := returning(tool.Spec{Name: "read", Again: true, Limit: tool.NoLimit}, func(env tool.Env) tool.Result {
			return tool.Result{Text: env.Call + strings.Repeat("x", 20_000)}
		})
		var replies []fake.Reply
		for i := range 8 {
			replies = append(replies, fake.Use(use(fmt.Sprint("r", i), "read")))
		}
		r := newRig(t, []tool.Tool{read}, append(replies, fake.Say("done"), fake.Say("again"))...)
		r.run(t)
		if n := len(said[event.Cleared](r.host)); n > 0 {
			t.Errorf("cleared %d times while it was warm", n)
		}
		time.Sleep(61 * time.Minute)
		_ = r.host.Emit(event.InputAccepted{ID: "p9", Text: "and now"})
		r.run(t)
		if c := said[event.Cleared](r.host); len(c) != 1 || len(c[0].Calls) != 3 {
			t.Errorf("cleared %+v", c)
		}
	})
}
