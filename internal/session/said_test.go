package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
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
	"github.com/adze-agent/adze/internal/tool"
)

// recorded are the events of a kind in the log.
func recorded[B event.Body](r *rig) (out []B) {
	r.t.Helper()
	for e, err := range r.log.After(r.t.Context(), 0) {
		if err != nil {
			r.t.Fatal(err)
		}
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// Whoever asks for an effort, or for a model while one was asked for, is told
// that it has no effect, and only then.
func TestAnEffortWithoutEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := func(e llm.Effort, tokens int) string {
			if e == "" && tokens == 0 {
				return ""
			}
			return fmt.Sprint("it does not heed ", e, " ", tokens)
		}
		r := start(t, nil, func(c *session.Config) {
			c.Target.EffortWarning = deaf
			c.Resolve = func(_ context.Context, name string) (agent.Target, error) {
				if name == "hears" {
					return agent.Target{Provider: "fake", Name: name}, nil
				}
				return agent.Target{Provider: "fake", Name: name, EffortWarning: deaf}, nil
			}
		})
		for _, o := range []op.Op{op.SetEffort{}, op.SetEffort{Level: "high"}, op.SetModel{Name: "hears"}, op.SetModel{Name: "other"}, op.SetEffort{Tokens: 5}} {
			if err := r.Submit(t.Context(), o); err != nil {
				t.Error(err)
			}
		}
		var told []string
		for _, n := range recorded[event.Noted](r) {
			told = append(told, n.Level+": "+n.Text)
		}
		if want := []string{"warning: it does not heed high 0", "warning: it does not heed high 0", "warning: it does not heed  5"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		r.Close()
	})
}

// A title that the model made is one only for a session without, and what it
// cost is recorded whatever comes of it.
func TestTitles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil)
		cost := event.Spent{For: event.ForTitle, Model: "fake/s", Cost: 0.1}
		for _, c := range []struct {
			title string
			spent event.Spent
		}{{"", event.Spent{}}, {"", cost}, {"one", event.Spent{}}, {"two", cost}} {
			if err := r.Entitle(t.Context(), c.title, c.spent); err != nil {
				t.Error(err)
			}
		}
		if got := recorded[event.Titled](r); len(got) != 1 || got[0] != (event.Titled{Title: "one", By: "model"}) {
			t.Errorf("%+v", got)
		}
		if got := recorded[event.Spent](r); !slices.Equal(got, []event.Spent{cost, cost}) {
			t.Errorf("%+v", got)
		}
		if err := r.Submit(t.Context(), op.Rename{Title: "mine"}); err != nil || r.State().Title != "mine" {
			t.Errorf("%q %v", r.State().Title, err)
		}
		r.Close()
	})
}

// A mode that a person sets while the model works is told to it with the
// results of the step, once, and not at all when it comes back before that.
func TestModeSetDuringATurn(t *testing.T) {
	for name, c := range map[string]struct {
		modes []string
		want  []string
	}{
		"another":        {[]string{"plan"}, []string{"default became plan"}},
		"and back":       {[]string{"plan", "default"}, []string{"default became plan", "plan became default"}},
		"the same":       {[]string{"default"}, nil},
		"twice the same": {[]string{"plan", "plan"}, []string{"default became plan"}},
	} {
		bubble(name, t, func(t *testing.T) {
			var r *rig
			begins := true // a turn
			r = start(t, nil, func(cfg *session.Config) {
				cfg.Remind = func(told, now policy.Mode) string {
					if told == now && begins || told == "" {
						return ""
					}
					return fmt.Sprint(told, " became ", now)
				}
			}, func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
				begins = false
				for _, m := range c.modes {
					if err := r.Submit(t.Context(), op.SetMode{Mode: m}); err != nil {
						t.Error(err)
					}
				}
				begins = true
				fake.Use(call("c1", "look", "", 0))(ctx, q, yield)
			}, fake.Say("done"), fake.Say("done"))
			r.prompt("go")
			r.turns(1, nil)
			if sent := texts(r.model.Requests()[1]); !slices.Equal(sent[1:], c.want) {
				t.Errorf("with the results the model read %q", sent)
			}
			r.prompt("on")
			r.turns(2, nil)
			if got := hidden(t, r.log); !slices.Equal(got, c.want) {
				t.Errorf("told %q, want %q", got, c.want)
			}
			r.Close()
		})
	}
}

// An answer changes no mode unless it says so, and one that saves rules without
// naming any saves what was suggested.
func TestWhatAnAnswerSaves(t *testing.T) {
	for name, c := range map[string]struct {
		answer op.Answer
		saved  string
	}{
		"nothing":          {op.Answer{}, ""},
		"what is proposed": {op.Answer{Keep: op.ForUser}, "user [Bash(danger)]"},
		"what it names":    {op.Answer{Keep: op.ForUser, Rules: []string{"risk"}}, "user [risk]"},
		"for the session":  {op.Answer{Rules: []string{"risk"}}, " [risk]"},
	} {
		bubble(name, t, func(t *testing.T) {
			saved := ""
			r := start(t, nil, func(cfg *session.Config) {
				cfg.Mode = policy.AcceptEdits
				cfg.Keep = func(_ context.Context, tool string, where op.Keep, rules []string) error {
					saved = fmt.Sprint(where, " ", rules)
					return nil
				}
			}, fake.Use(call("c1", "risk", "", 0)), fake.Say("ok")).attend()
			r.prompt("go")
			synctest.Wait()
			c.answer.Call, c.answer.Allow, c.answer.By = "c1", true, "one"
			if err := r.Submit(t.Context(), c.answer); err != nil {
				t.Fatal(err)
			}
			r.turns(1, nil)
			if saved != c.saved || r.Mode() != policy.AcceptEdits {
				t.Errorf("saved %q, the mode is %s", saved, r.Mode())
			}
			r.Close()
		})
	}
}

// The tools are those that were set last, whether a request has offered them
// or not.
func TestToolsThatAreWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil)
		r.give("zoom")
		if got := r.Tools().Names(); !slices.Equal(got, []string{"zoom"}) {
			t.Errorf("%v", got)
		}
		r.Close()
	})
}

// One image is made small, too, and what a prompt names is read as long as the
// session is there, and looked at again when its turn comes.
func TestWhatAPromptBrings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var named []session.Naming
		r := start(t, nil, func(c *session.Config) {
			c.Target.ImageEdge, c.Target.Window, c.Mode = 10, 5000, policy.PlanMode
			c.Attach = func(_ context.Context, n session.Naming) []event.Attached {
				named = append(named, n)
				return []event.Attached{{Name: "a.go", Text: "the file"}}
			}
			c.Rules.List = []policy.Rule{settingsRule(t, "Read", policy.Deny, policy.User)}
		}, fake.Say("ok"), fake.Say("ok"))
		var wide bytes.Buffer
		if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, 40, 20))); err != nil {
			t.Fatal(err)
		}
		r.prompt("no file is named")
		if err := r.Submit(t.Context(), op.Prompt{Text: "see @a.go", Images: []op.Image{{Media: "image/png", Data: wide.Bytes()}}}); err != nil {
			t.Fatal(err)
		}
		in := all[event.InputAccepted](r.turns(2, nil))
		if c, err := png.DecodeConfig(bytes.NewReader(in[1].Images[0].Data)); err != nil || c.Width != 10 {
			t.Errorf("%d wide (%v)", c.Width, err)
		}
		if len(in[0].Attached) > 0 || len(in[1].Attached) != 1 || in[1].Attached[0].Text != "the file" {
			t.Errorf("attached %v and %v", in[0].Attached, in[1].Attached)
		}
		if len(named) != 2 || named[0].Text != "see @a.go" || named[0].Dir != "/w" || named[0].Window != 5000 || named[0].ImageEdge != 10 || named[0].Mode != policy.PlanMode {
			t.Fatalf("%+v", named)
		}
		if v := named[0].Judge(t.Context(), agent.Question{Tool: "Read", Plan: tool.Plan{Actions: []policy.Action{policy.Read{Path: "/w/a.go"}}}}); v.Effect != policy.Deny {
			t.Errorf("%+v", v)
		}
		r.Close()
		if err := r.Submit(t.Context(), op.Prompt{Text: "see @a.go"}); !errors.Is(err, session.ErrClosed) || len(named) != 2 {
			t.Errorf("%v, and files were read", err)
		}
	})
}

// What a prompt names and rules ask about is asked when its turn comes, where
// somebody is there; an interrupt meanwhile takes the prompt back.
func TestNamedFilesAreAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := tool.Plan{Title: "Read .env", Actions: []policy.Action{policy.Read{Path: "/w/.env"}}}
		r := start(t, nil, func(c *session.Config) {
			c.Rules.List = []policy.Rule{settingsRule(t, "Read(.env)", policy.Ask, policy.User)}
			c.Attach = func(ctx context.Context, n session.Naming) []event.Attached {
				v := n.Judge(ctx, agent.Question{Call: llm.ToolUse{Name: "Read", Input: []byte(`{"file_path":"/w/.env"}`)}, Tool: "Read", Plan: plan})
				if v.Effect != policy.Allow {
					return []event.Attached{{Name: ".env", About: v.Reason, Refused: true, Asks: v.Effect == policy.Ask}}
				}
				return []event.Attached{{Name: ".env", Text: "the file"}}
			}
		}, fake.Say("ok"), fake.Say("ok"), fake.Say("ok"), fake.Say("ok"))
		question := func() event.Asked {
			for range 100 {
				synctest.Wait()
				for _, a := range r.State().Pending {
					return a
				}
			}
			t.Fatal("nobody is asked")
			return event.Asked{}
		}
		say := func(o op.Op) {
			t.Helper()
			if err := r.Submit(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		r.prompt("see @.env") // nobody is there
		in := all[event.InputAccepted](r.turns(1, nil))
		if a := in[0].Attached[0]; !a.Refused || a.Asks || a.Text != "" {
			t.Errorf("alone: %+v", a)
		}
		say(op.Attach{Client: "c"})
		r.prompt("see @.env")
		q := question()
		if q.Tool != "Read" || q.Title != "Read .env" || q.Verdict.Effect != policy.Ask {
			t.Errorf("%+v", q)
		}
		say(op.Answer{Call: q.Call, Allow: true, By: "c"})
		in = all[event.InputAccepted](r.turns(2, nil))
		if a := in[1].Attached[0]; a.Refused || a.Text != "the file" {
			t.Errorf("after a yes: %+v", a)
		}
		r.prompt("see @.env")
		say(op.Answer{Call: question().Call, By: "c"})
		in = all[event.InputAccepted](r.turns(3, nil))
		if a := in[2].Attached[0]; !a.Refused || a.Asks || a.Text != "" {
			t.Errorf("after a no: %+v", a)
		}
		r.prompt("see @.env")
		question()
		say(op.Interrupt{})
		es := r.turns(4, nil)
		if e := r.last(es, agent.InterruptedStreaming); e.How != event.Interrupted || len(all[event.InputAccepted](es)) != 3 {
			t.Errorf("%+v", e)
		}
		if n := len(r.State().Pending); n != 0 {
			t.Errorf("%d questions are open", n)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Prompts that still wait are shown as such when a turn begins.
func TestWaitingPromptsAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Hang(), fake.Use(call("a", "look", "", 0)), fake.Say("done"))
		for _, id := range []string{"one", "two", "three"} {
			if err := r.Submit(t.Context(), op.Prompt{ID: id, Text: id}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
			t.Fatal(err)
		}
		var shown []string
		started := 0
		for _, e := range r.turns(2, nil) {
			switch b := e.Body.(type) {
			case event.TurnStarted:
				started++
			case event.Queued:
				if started == 2 {
					shown = append(shown, strings.Join(b.IDs, " "))
				}
			}
		}
		if want := []string{"three", ""}; !slices.Equal(shown, want) {
			t.Errorf("shown in the second turn: %q, want %q", shown, want)
		}
		r.Close()
	})
}

// What settings changed before the first prompt is recorded with it, or the
// prompt is not taken.
func TestEarlyChangesThatCannotBeRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &once{Log: &mem.Log{}, n: 2}
		r := start(t, nil, func(c *session.Config) { c.Log = log }, fake.Say("ok"))
		if err := r.Apply(t.Context(), session.Settings{Loop: r.cfg.Loop}, changed); err != nil {
			t.Fatal(err)
		}
		if err := r.Submit(t.Context(), op.Prompt{Text: "go"}); !errors.Is(err, errDisk) {
			t.Errorf("without a %T: %v", log.missing, err)
		}
		synctest.Wait()
		if n := len(r.model.Requests()); n > 0 {
			t.Errorf("%d requests", n)
		}
		r.Close()
	})
}
