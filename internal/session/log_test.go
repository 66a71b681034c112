package session_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
)

var errDisk = errors.New("the disk is gone")

// unreadable is a log whose events cannot be read from the one after good on.
type unreadable struct {
	*mem.Log
	good event.Seq
	on   bool
}

func (u *unreadable) After(ctx context.Context, seq event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range u.Log.After(ctx, seq) {
			if u.on && e.Seq > u.good {
				yield(event.Event{}, errDisk)
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// A session that cannot read all of its log does not go on with a part of it.
func TestStartNeedsTheWholeLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("ok"))
		r.prompt("go")
		r.turns(1, nil)
		r.Close()
		for name, log := range map[string]interface {
			Append(context.Context, event.Event) error
			After(context.Context, event.Seq) iter.Seq2[event.Event, error]
			Close() error
		}{
			"unreadable": &unreadable{again(t, r.log), 2, true},
			"full":       &once{Log: again(t, r.log), n: 1},
		} {
			cfg := r.cfg
			cfg.Log = log
			if s, err := session.Start(t.Context(), cfg); !errors.Is(err, errDisk) {
				t.Errorf("%s: %v", name, err)
				if err == nil {
					s.Close()
				}
			}
		}
	})
}

// again is a new log with the same events.
func again(t *testing.T, from *mem.Log) *mem.Log {
	t.Helper()
	to := &mem.Log{}
	for e := range from.After(t.Context(), 0) {
		if err := to.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// A reader is told when the log it reads from fails.
func TestReadersLearnOfALogThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &unreadable{Log: &mem.Log{}, good: 1}
		r := start(t, nil, func(c *session.Config) { c.Log = log }, fake.Say("ok"))
		r.prompt("go")
		r.turns(1, nil)
		log.on = true
		var got []error
		events := 0
		for _, err := range r.Events(t.Context(), 0) { // which ends with the error
			if err != nil {
				got = append(got, err)
			} else {
				events++
			}
		}
		if len(got) != 1 || !errors.Is(got[0], errDisk) || events != 1 {
			t.Errorf("the reader got %v after %d events", got, events)
		}
		r.Close()
	})
}

// Prompts that wait are told apart even when their clients do not name them.
func TestWaitingPromptsGetNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("a", "act", "", 1000)), fake.Say("one"), fake.Say("two"))
		r.prompt("go")
		synctest.Wait()
		r.prompt("b")
		r.prompt("c")
		q := r.State().Queue
		if len(q) != 2 || q[0].ID == "" || q[0].ID == q[1].ID {
			t.Fatalf("%+v", q)
		}
		if err := r.Submit(t.Context(), op.Unqueue{ID: q[0].ID}); err != nil {
			t.Fatal(err)
		}
		if q = r.State().Queue; len(q) != 1 || q[0].Text != "c" {
			t.Errorf("left: %+v", q)
		}
		r.Close()
	})
}

// What a slow reader is handed, joined or not, is all that was said.
func TestSlowReaderGetsTheWholeText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 500
		var said, thought strings.Builder
		var chunks fake.Reply = func(_ context.Context, _ llm.Request, y func(llm.Chunk, error) bool) {
			for range n {
				thought.WriteString("hm ")
				y(llm.ThinkingDelta{S: "hm "}, nil)
			}
			for i := range n {
				s := strings.Repeat("x", i%7) + "."
				said.WriteString(s)
				y(llm.TextDelta{S: s}, nil)
			}
			y(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: said.String()}}}, Stop: llm.EndTurn}, nil)
		}
		r := start(t, nil, nil, chunks)
		r.prompt("go")
		synctest.Wait() // everything is said before anything is read
		text, thinking, pieces := "", "", 0
		r.turns(1, func(e event.Event) {
			switch b := e.Body.(type) {
			case event.TextDelta:
				text += b.S
				pieces++
			case event.ThinkingDelta:
				thinking += b.S
				pieces++
			default:
			}
		})
		if text != said.String() || thinking != thought.String() {
			t.Errorf("of %d and %d bytes the reader got %d and %d", said.Len(), thought.Len(), len(text), len(thinking))
		}
		if pieces > 10 {
			t.Errorf("nothing was joined: %d pieces", pieces)
		}
		r.Close()
	})
}

// A reader who takes nothing for very long has it all from the log.
func TestLateReaderHasAllEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 4096 // that are kept for a reader
		r := start(t, nil, nil)
		for range most { // and one event that begins the log
			if err := r.Report(event.TaskEnded{ID: "b"}); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
		var last event.Seq
		for e, err := range r.watch {
			if err != nil || e.Seq != last+1 {
				t.Fatalf("%d after %d (%v)", e.Seq, last, err)
			}
			last = e.Seq
		}
		if last != most+1 {
			t.Errorf("the last one is %d", last)
		}
	})
}

// The end of a turn that cannot be recorded is said all the same.
func TestEndThatCannotBeRecordedIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) { c.Log = &full{c.Log.(*mem.Log), 4} }, fake.Say("ok"))
		r.prompt("go")
		for e, err := range r.watch {
			if err != nil {
				t.Fatal(err)
			}
			if end, ok := e.Body.(event.TurnEnded); ok {
				if end.How != event.Failed || end.Kind != "storage" || end.Hint == "" || end.Took < 0 {
					t.Errorf("%+v", end)
				}
				break
			}
		}
		r.Close()
	})
}
