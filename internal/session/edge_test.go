package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
)

// A reader that looks only when all is over has every kind of text whole, and
// nothing of one call in another's.
func TestLateReaderHasAllText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var chunks fake.Reply = func(_ context.Context, _ llm.Request, y func(llm.Chunk, error) bool) {
			for _, s := range []string{"a", "b", "c"} {
				y(llm.ThinkingDelta{S: "think " + s}, nil)
			}
			for _, s := range []string{"a", "b", "c"} {
				y(llm.TextDelta{S: "say " + s}, nil)
			}
			for _, id := range []string{"x", "y"} {
				for _, s := range []string{"1", "2", "3"} {
					y(llm.ToolInputDelta{ID: id, Name: "loud", S: id + s}, nil)
				}
			}
			fake.Use(call("x", "loud", "x", 0), call("y", "loud", "y", 0))(context.Background(), llm.Request{}, y)
		}
		loud := tool.New(tool.Spec{Name: "loud"},
			func(in, tool.Env) (tool.Plan, error) { return tool.Plan{Actions: []policy.Action{policy.None{}}}, nil },
			func(_ context.Context, in in, env tool.Env) (tool.Result, error) {
				for _, s := range []string{"1", "2", "3"} {
					env.Progress(in.S + s)
				}
				return tool.Result{Text: "ok"}, nil
			})
		r := start(t, nil, func(c *session.Config) { c.Tools, _ = tool.NewSet(loud) }, chunks, fake.Say("done"))
		r.prompt("go")
		synctest.Wait()
		for _, id := range []string{"b1", "b2"} {
			for _, s := range []string{"1", "2", "3"} {
				if err := r.Report(event.TaskOutput{ID: id, S: id + s}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for e, err := range r.watch {
			if err != nil {
				t.Fatal(err)
			}
			switch b := e.Body.(type) {
			case event.ThinkingDelta:
				got["think"] += b.S
			case event.TextDelta:
				got["say"] += b.S
			case event.ToolInputDelta:
				got["in "+b.Call] += b.S
			case event.ToolOutput:
				got["out "+b.Call] += b.S
			case event.TaskOutput:
				got["task "+b.ID] += b.S
			}
		}
		for k, want := range map[string]string{
			"think": "think athink bthink c", "say": "say asay bsay cdone", "in x": "x1x2x3", "in y": "y1y2y3", "out x": "x1x2x3", "out y": "y1y2y3", "task b1": "b11b12b13", "task b2": "b21b22b23",
		} {
			if got[k] != want {
				t.Errorf("%s: %q, want %q", k, got[k], want)
			}
		}
	})
}

// The mode that comes with an answer is one that the session may have, else
// the question stays open.
func TestAnswersWithAMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) {
			c.Forbidden = map[policy.Mode]string{policy.Bypass: "the settings forbid it"}
			c.Remind = func(told, now policy.Mode) string {
				if now == policy.PlanMode {
					return "plan now"
				}
				return ""
			}
		}, fake.Use(call("a", "risk", "", 0)), fake.Say("done")).attend()
		r.prompt("go")
		synctest.Wait()
		for mode, code := range map[policy.Mode]op.Code{"nosuch": op.UnknownMode, policy.Bypass: op.Forbidden} {
			if err := r.Submit(t.Context(), op.Answer{Call: "a", Allow: true, Mode: mode}); !errors.Is(err, &op.Refusal{Code: code}) {
				t.Errorf("%s: %v", mode, err)
			}
		}
		if n := len(r.State().Pending); n != 1 {
			t.Fatalf("%d questions are open", n)
		}
		if err := r.Submit(t.Context(), op.Answer{Call: "a", Allow: true, Mode: policy.AcceptEdits, By: "one"}); err != nil {
			t.Fatal(err)
		}
		es := r.turns(1, nil)
		if m := all[event.ModeChanged](es); len(m) != 1 || m[0].Mode != policy.AcceptEdits || m[0].Cause != event.CauseAsked {
			t.Errorf("%+v", m)
		}
		for _, in := range all[event.InputAccepted](es) {
			if in.Hidden {
				t.Errorf("the model was told %q of a mode that needs no words", in.Text)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// An answer that is not on disk is not taken, and what a person ran is told to
// whoever watches, on disk or not.
func TestWhatPeopleSaidAndRanWithAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &full{Log: &mem.Log{}, n: 100}
		r := start(t, nil, func(c *session.Config) {
			c.Log = log
			c.Shell = func(context.Context, session.Command, func(string)) event.Ran {
				return event.Ran{Text: "what it printed"}
			}
		}, fake.Use(call("a", "risk", "", 0)), fake.Say("done")).attend()
		r.prompt("go")
		synctest.Wait()
		log.n = 0
		if err := r.Submit(t.Context(), op.Answer{Call: "a", Allow: true}); err == nil || r.bench.started.Load() > 0 {
			t.Errorf("an answer was taken without being on disk: %v", err)
		}
		if err := r.Submit(t.Context(), op.Shell{ID: "s", Command: "ls"}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		_ = r.Close()
		ran := false
		for e := range r.watch {
			b, is := e.Body.(event.Ran)
			ran = ran || is && b.ID == "s" && b.Text == "what it printed"
		}
		if !ran {
			t.Error("nobody was told what the command printed")
		}
	})
}

// The model is told of variables that are not set any more, when there are any.
func TestLostVariablesAreTold(t *testing.T) {
	for _, lost := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, nil, nil, fake.Say("ok"))
			r.prompt("go")
			r.turns(1, nil)
			from := again(t, r.log)
			if lost {
				if err := from.Append(t.Context(), event.Event{Seq: r.State().Seq + 1, Body: event.ToolFinished{Call: "x", Effects: []tool.Effect{
					effect.Exported{Vars: []effect.Variable{{Name: "TOKEN", Hidden: true}}}}}}); err != nil {
					t.Fatal(err)
				}
			}
			next := start(t, from, nil, fake.Say("ok"))
			next.prompt("on")
			es := next.turns(2, nil)
			next.last(es, agent.Completed)
			told := false
			for _, in := range all[event.InputAccepted](es) {
				told = told || in.Hidden && strings.Contains(in.Text, "not set any more: TOKEN. Export")
			}
			if told != lost || !lost && len(all[event.InputAccepted](es)) != 2 {
				t.Errorf("told: %t, want %t", told, lost)
			}
			_, _ = r.Close(), next.Close()
		})
	}
}

// The tokens that a prompt asks for bound its turn, also when it waited for
// another one's end; without any, those of the settings do.
func TestTokensOfAPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many := slices.Repeat([]fake.Reply{fake.Use(call("a", "look", "", 0))}, 40)
		r := start(t, nil, func(c *session.Config) { c.Budget.Tokens = 15 }, many...) // each reply has 5
		for i, c := range []struct {
			p    op.Prompt
			text string
		}{
			{op.Prompt{Text: "go", Tokens: 1}, "used 5 of 1 tokens"},
			{op.Prompt{Text: "go +0.02k"}, "used 20 of 20 tokens"},
			{op.Prompt{Text: "go +0.02k", Tokens: 10}, "used 10 of 10 tokens"},
			{op.Prompt{Text: "go"}, "used 15 of 15 tokens"},
		} {
			if err := r.Submit(t.Context(), c.p); err != nil {
				t.Fatal(err)
			}
			if e := r.last(r.turns(i+1, nil), agent.TokenBudget); e.Err != c.text {
				t.Errorf("%+v: %s, want %s", c.p, e.Err, c.text)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What the model should know of the mode and of where it is, it is told when a
// turn begins: of a place only what differs from what it was told before.
func TestWhatATurnBeginsWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := func(where string) func(*session.Config) {
			return func(c *session.Config) {
				c.Mode = policy.PlanMode
				c.Remind = func(_, now policy.Mode) string { return "the mode is " + string(now) }
				c.Situation = event.Situated{Parts: []event.Situation{{Name: "env", Text: where}}}
				c.Resituate = func(was, now event.Situated) string { return was.Parts[0].Text + " became " + now.Parts[0].Text }
			}
		}
		said := func(r *rig, turns int) (out []string) {
			for _, in := range all[event.InputAccepted](r.turns(turns, nil)) {
				out = append(out, in.Text)
			}
			return out
		}
		r := start(t, nil, told("here"), fake.Say("ok"), fake.Say("ok"))
		r.prompt("one")
		if got := said(r, 1); !slices.Equal(got, []string{"the mode is plan", "one"}) {
			t.Errorf("told %q", got)
		}
		next := start(t, again(t, r.log), told("there"), fake.Say("ok"))
		next.prompt("two")
		if got := said(next, 2); !slices.Equal(got[2:], []string{"here became there", "the mode is plan", "two"}) {
			t.Errorf("told %q", got)
		}
		_, _ = r.Close(), next.Close()
	})
}

// What becomes known of the place before the first prompt of a run is told with all that
// is otherwise since the run before, not instead of it.
func TestPlaceThatIsKnownBeforeThePromptOfALaterRun(t *testing.T) {
	at := func(parts ...string) (e event.Situated) {
		for i := 0; i < len(parts); i += 2 {
			e.Parts = append(e.Parts, event.Situation{Name: parts[i], Text: parts[i+1]})
		}
		return e
	}
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) { c.Situation = at("git", "old", "memory", "softly") }, fake.Say("done"))
		r.prompt("go")
		r.turns(1, nil)
		r.Close()
		next := start(t, again(t, r.log), func(c *session.Config) {
			c.Situation = at("memory", "loudly")
			c.Pending = func(was, now event.Situated) event.Situated { return now }
			c.Resituate = func(_, now event.Situated) string { return fmt.Sprint("now ", now.Parts) }
		}, fake.Say("done"))
		if err := next.Situate(func(now event.Situated) event.Situated {
			now.Parts = append(slices.Clone(now.Parts), event.Situation{Name: "git", Text: "new"})
			return now
		}, "git is new"); err != nil {
			t.Fatal(err)
		}
		next.prompt("on")
		next.turns(2, nil)
		sent := fmt.Sprint(next.model.Requests()[0].Messages)
		if !strings.Contains(sent, "now [{memory loudly} {git new}]") || strings.Contains(sent, "git is new") {
			t.Errorf("the model was sent %s", sent)
		}
		next.Close()
	})
}
