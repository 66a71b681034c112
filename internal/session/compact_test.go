package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
)

// spoken are the texts of a request's messages, joined.
func spoken(ms []llm.Message) string {
	var b strings.Builder
	for _, m := range ms {
		for _, p := range m.Parts {
			if t, ok := p.(llm.Text); ok {
				b.WriteString(t.S + "\n")
			}
		}
	}
	return b.String()
}

func (r *rig) refused(o op.Op, code op.Code) {
	r.t.Helper()
	var no *op.Refusal
	if err := r.Submit(r.t.Context(), o); !errors.As(err, &no) || no.Code != code {
		r.t.Errorf("%+v: %v, want %s", o, err, code)
	}
}

// talked is a session of three prompts and their answers.
func talked(t *testing.T, change func(*session.Config), more ...fake.Reply) *rig {
	t.Helper()
	r := start(t, nil, change, append([]fake.Reply{fake.Say("answer one" + strings.Repeat(" x", 2000)), fake.Use(call("c1", "look", "result of two"+strings.Repeat(" x", 2000), 0)), fake.Say("answer two"), fake.Say("answer three")}, more...)...)
	for i, text := range []string{"prompt one", "prompt two", "prompt three"} {
		if err := r.Submit(t.Context(), op.Prompt{ID: fmt.Sprint("p", i+1), Text: text}); err != nil {
			t.Fatal(err)
		}
		r.turns(i+1, nil)
	}
	return r
}

func TestCompactAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := talked(t, nil, fake.Say("the summary"), fake.Say("answer four"))
		before := r.State().Messages()
		if err := r.Submit(t.Context(), op.Compact{Focus: "the tests"}); err != nil {
			t.Fatal(err)
		}
		es := r.turns(4, nil)
		r.last(es, agent.Completed)
		if c := all[event.Compacted](es); len(c) != 1 || c[0].Trigger != event.CauseAsked {
			t.Errorf("%+v", c)
		}
		if ask := spoken(r.model.Requests()[4].Messages); !strings.Contains(ask, "special care about this: the tests") {
			t.Errorf("asked %q", ask)
		}
		ms := r.State().Messages()
		if s := spoken(ms); !strings.Contains(s, "the summary") || !strings.Contains(s, "- prompt one") || strings.Contains(s, "answer one") {
			t.Errorf("the conversation is %q", s)
		}
		if err := r.Submit(t.Context(), op.Compact{Undo: true}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(before, r.State().Messages()); d != "" {
			t.Errorf("after the undo (-want +got):\n%s", d)
		}
		r.refused(op.Compact{Undo: true}, op.NoPrompt)
		r.prompt("prompt four")
		es = r.turns(5, nil)
		r.last(es, agent.Completed)
		if d := cmp.Diff(before, r.model.Requests()[5].Messages[:len(before)]); d != "" {
			t.Errorf("sent after the undo (-want +got):\n%s", d)
		}
		r.Close()
	})
}

func TestCompactAPart(t *testing.T) {
	for name, c := range map[string]struct {
		o          op.Compact
		stays, not []string
		part       string
	}{
		"from":           {op.Compact{From: "p2"}, []string{"prompt one", "answer one"}, []string{"answer two", "answer three"}, `from the message of the person that begins with "prompt two" on`},
		"up to":          {op.Compact{UpTo: "p3"}, []string{"prompt three", "answer three"}, []string{"answer one", "answer two"}, `what came before the message of the person that begins with "prompt three"`},
		"from, a number": {op.Compact{From: "2"}, []string{"answer one"}, []string{"answer two"}, `begins with "prompt two"`},
	} {
		bubble(name, t, func(t *testing.T) {
			r := talked(t, nil, fake.Say("the summary"))
			if err := r.Submit(t.Context(), c.o); err != nil {
				t.Fatal(err)
			}
			r.last(r.turns(4, nil), agent.Completed)
			got, ask := spoken(r.State().Messages()), spoken(r.model.Requests()[4].Messages)
			for _, s := range append(c.stays, "the summary") {
				if !strings.Contains(got, s) {
					t.Errorf("%q is not in %q", s, got)
				}
			}
			for _, s := range c.not {
				if strings.Contains(got, s) {
					t.Errorf("%q is still in %q", s, got)
				}
			}
			if !strings.Contains(ask, c.part) {
				t.Errorf("asked %q", ask)
			}
			r.Close()
		})
	}
}

func TestCompactIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil)
		r.refused(op.Compact{}, op.Idle)
		r.refused(op.Compact{Undo: true}, op.NoPrompt)
		r.Close()
		r = talked(t, nil)
		r.refused(op.Compact{From: "p1", UpTo: "p2"}, op.Unsupported)
		r.refused(op.Compact{From: "p9"}, op.NoPrompt)
		r.refused(op.Compact{From: "7"}, op.NoPrompt)
		r.Close()
	})
}

// A prompt that comes while a compaction is taken back has its turn afterwards.
func TestPromptsWaitForAnUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &once{Log: &mem.Log{}}
		r := talked(t, func(c *session.Config) { c.Log = log }, fake.Say("the summary"), fake.Say("answer four"))
		if err := r.Submit(t.Context(), op.Compact{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		log.read = func() {
			log.read = nil
			r.prompt("prompt four")
			r.refused(op.Compact{Undo: true}, op.Busy)
			synctest.Wait()
			if q := r.State().Queue; len(q) != 1 {
				t.Errorf("waiting: %v", q)
			}
		}
		if err := r.Submit(t.Context(), op.Compact{Undo: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if said := spoken(r.State().Messages()); !strings.Contains(said, "answer one") || !strings.HasSuffix(said, "prompt four\nanswer four\n") {
			t.Errorf("%q", said)
		}
		r.Close()
	})
}

// A prompt that waited when the process ended begins nothing because a
// compaction is taken back; the next prompt takes it along.
func TestAnUndoBeginsNothingThatWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := talked(t, nil, fake.Say("the summary"))
		if err := r.Submit(t.Context(), op.Compact{}); err != nil {
			t.Fatal(err)
		}
		r.turns(4, nil)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = start(t, reopened(t, r.log, event.InputQueued{ID: "left", Text: "left over"}), nil, fake.Say("answer left"), fake.Say("answer four"))
		defer r.Close()
		if err := r.Submit(t.Context(), op.Compact{Undo: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if st := r.State(); st.Running != "" || len(st.Queue) != 1 {
			t.Errorf("turn %q, %d wait", st.Running, len(st.Queue))
		}
		r.prompt("prompt four")
		synctest.Wait()
		if st := r.State(); len(st.Queue) != 0 || !strings.Contains(spoken(st.Messages()), "left over\n") {
			t.Errorf("%d wait; %q", len(st.Queue), spoken(st.Messages()))
		}
	})
}

// What a compaction took out cannot be compacted again.
func TestCompactWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := talked(t, nil, fake.Say("the summary"))
		if err := r.Submit(t.Context(), op.Compact{UpTo: "p3"}); err != nil {
			t.Fatal(err)
		}
		r.turns(4, nil)
		r.refused(op.Compact{From: "p1"}, op.NoPrompt)
		r.refused(op.Compact{UpTo: "2"}, op.NoPrompt)
		r.Close()
	})
}

// An undo that the window has no room for says so in numbers.
func TestAnUndoThatDoesNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("c1", "look", strings.Repeat("x", 40_000), 0)), fake.Say("answer"), fake.Say("the summary"))
		r.prompt("go")
		r.turns(1, nil)
		if err := r.Submit(t.Context(), op.Compact{}); err != nil {
			t.Fatal(err)
		}
		r.turns(2, nil)
		r.Close()
		smaller := start(t, again(t, r.log), func(c *session.Config) {
			c.Target.Window, c.Target.Cap = 8000, 1000
			c.Loop.System = []string{strings.Repeat("s", 4000)}
		})
		err := smaller.Submit(t.Context(), op.Compact{Undo: true})
		var no *op.Refusal
		if !errors.As(err, &no) || no.Code != op.TooLarge || !strings.Contains(no.Text, "has about 21,2") || !strings.Contains(no.Text, "takes 5,834") {
			t.Errorf("%v", err)
		}
		smaller.Close()
	})
}

// While the model works, a compaction waits for its next request; an interrupt
// takes the wish back.
func TestCompactDuringATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		r = talked(t, nil, func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
			if err := r.Submit(t.Context(), op.Compact{Focus: "the tests"}); err != nil {
				t.Error(err)
			}
			fake.Use(call("c4", "look", "four", 0))(ctx, q, yield)
		}, fake.Say("the summary"), fake.Say("answer four"), func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
			if err := r.Submit(t.Context(), op.Compact{}); err != nil {
				t.Error(err)
			}
			if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			yield(nil, ctx.Err())
		})
		r.prompt("prompt four")
		es := r.turns(4, nil)
		r.last(es, agent.Completed)
		if n := len(all[event.Compacted](es)); n != 1 || r.State().Turns != 4 {
			t.Errorf("%d compactions in %d turns", n, r.State().Turns)
		}
		if ask := spoken(r.model.Requests()[5].Messages); !strings.Contains(ask, "special care about this: the tests") {
			t.Errorf("asked %q", ask)
		}
		if s := spoken(r.model.Requests()[6].Messages); !strings.Contains(s, "the summary") || !strings.Contains(s, "prompt four") {
			t.Errorf("went on with %q", s)
		}
		r.prompt("prompt five")
		r.last(r.turns(5, nil), agent.InterruptedStreaming)
		synctest.Wait()
		if n := len(r.model.Requests()); n != 8 {
			t.Errorf("%d requests", n)
		}
		r.Close()
	})
}

// Facts in 200 prompts: after five compactions those that people said stand in
// the window word for word, as far as there is room for them; every one is in
// the log.
func TestFactsOutliveCompactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const turns = 200
		var replies []fake.Reply
		made := 0
		model := func(_ context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
			said := llm.Text{S: "noted: " + strings.Repeat("word ", 600)}
			if strings.Contains(spoken(q.Messages), "under these nine headings") {
				made++
				said.S = fmt.Sprint("summary ", made)
			}
			if fake.Send(yield, said) {
				yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{said}}, Stop: llm.EndTurn, Usage: llm.Usage{In: size(q) / 4, Out: len(said.S) / 4}}, nil)
			}
		}
		for range 2 * turns {
			replies = append(replies, model)
		}
		r := start(t, nil, func(c *session.Config) { c.Target.Window, c.Target.Cap = 32_000, 4000 }, replies...)
		for i := range turns {
			r.prompt(fmt.Sprintf("fact %d is %x", i, i*7919))
			synctest.Wait()
		}
		if made < 5 {
			t.Fatalf("%d compactions", made)
		}
		valid(t, r.State().Messages())
		window := spoken(r.State().Messages())
		log := ""
		for e := range r.log.After(t.Context(), 0) {
			if in, ok := e.Body.(event.InputAccepted); ok {
				log += in.Text + "\n"
			}
		}
		for i := range turns {
			fact := fmt.Sprintf("fact %d is %x\n", i, i*7919)
			if !strings.Contains(window, fact) {
				t.Errorf("%q is not in the window", fact)
			}
			if !strings.Contains(log, fact) {
				t.Errorf("%q is not in the log", fact)
			}
		}
		for i, q := range r.model.Requests() {
			if n := size(q); n > 4*28_000 {
				t.Errorf("request %d has %d bytes", i, n)
			}
		}
		r.Close()
	})
}

// After a compaction was taken back, each prompt can be named again; of two, the
// one that is still in force is told of.
func TestCompactAfterAnUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := talked(t, nil, fake.Say("first summary"), fake.Say("answer four"), fake.Say("second summary"), fake.Say("third summary"), fake.Say("fourth summary"))
		steps := []op.Op{op.Compact{UpTo: "p2"}, op.Prompt{ID: "p4", Text: "prompt four"}, op.Compact{UpTo: "p4"}}
		for i, o := range steps {
			if err := r.Submit(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			r.turns(4+i, nil)
		}
		for _, want := range []string{"an earlier one", "is whole again"} {
			if err := r.Submit(t.Context(), op.Compact{Undo: true}); err != nil {
				t.Fatal(err)
			}
			if b := newest[event.Compacted](r); !strings.Contains(b.String(), want) {
				t.Errorf("said %q, want %q", b, want)
			}
		}
		if got := spoken(r.State().Messages()); strings.Contains(got, "summary") || !strings.HasPrefix(got, "prompt one") || !strings.Contains(got, "answer four") {
			t.Errorf("%q", got)
		}
		if err := r.Submit(t.Context(), op.Compact{From: "3"}); err != nil {
			t.Fatal(err)
		}
		r.last(r.turns(7, nil), agent.Completed)
		if got := spoken(r.State().Messages()); !strings.Contains(got, "answer one") || strings.Contains(got, "answer two") || !strings.Contains(got, "third summary") {
			t.Errorf("%q", got)
		}
		for _, o := range []op.Op{op.Compact{Undo: true}, op.Compact{UpTo: "3"}} {
			if err := r.Submit(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		r.last(r.turns(8, nil), agent.Completed)
		if got := spoken(r.State().Messages()); strings.Contains(got, "answer one") || !strings.Contains(got, "answer three") || !strings.Contains(got, "fourth summary") {
			t.Errorf("%q", got)
		}
		r.Close()
	})
}

// A compaction that a person interrupts is no turn of theirs that was.
func TestACompactionIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := talked(t, nil, func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
			<-ctx.Done()
			yield(nil, ctx.Err())
		})
		if err := r.Submit(t.Context(), op.Compact{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
			t.Fatal(err)
		}
		if e := r.last(r.turns(4, nil), agent.InterruptedSummary); e.How != event.Interrupted || e.Reason != event.InterruptedSummary {
			t.Errorf("%+v", e)
		}
		r.Close()
	})
}
