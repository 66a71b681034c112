package session_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/transcript"
)

// once is a log that does not record its n-th event, and reads nothing while
// blind. It calls read before it is read.
type once struct {
	*mem.Log
	n       int
	missing event.Body
	blind   bool
	read    func()
}

func (l *once) Append(ctx context.Context, e event.Event) error {
	if l.n--; l.n == 0 {
		l.missing = e.Body
		return errDisk
	}
	return l.Log.Append(ctx, e)
}

func (l *once) After(ctx context.Context, seq event.Seq) iter.Seq2[event.Event, error] {
	if l.read != nil {
		l.read()
	}
	if l.blind {
		return func(yield func(event.Event, error) bool) { yield(event.Event{}, errDisk) }
	}
	return l.Log.After(ctx, seq)
}

// byWords answers as the newest words of the person say.
func byWords(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
	if strings.Contains(spoken(q.Messages), "under these nine headings") {
		fake.Say("the summary")(ctx, q, yield)
		return
	}
	last := q.Messages[len(q.Messages)-1]
	id := fmt.Sprint("c", len(q.Messages))
	for _, p := range last.Parts {
		if text, ok := p.(llm.Text); ok && strings.Contains(text.S, "try risk") {
			fake.Use(call(id, "risk", "", 0))(ctx, q, yield)
			return
		}
	}
	fake.Say("ok")(ctx, q, yield)
}

// everyday is a session with all that one can have, on a log that was begun
// somewhere else.
func everyday(t *testing.T, log store.Log) *rig {
	look := func(_ context.Context, p event.InputQueued) (session.Admission, error) {
		if strings.Contains(p.Text, "secret") {
			return session.Admission{Refused: "no secrets"}, nil
		}
		return session.Admission{Context: []string{"about " + p.ID}}, nil
	}
	replies := make([]fake.Reply, 100)
	for i := range replies {
		replies[i] = byWords
	}
	return start(t, &mem.Log{}, func(c *session.Config) {
		c.Log, c.Hooks, c.Files = log, hooks{prompt: look}, &takenBack{}
		c.Situation = event.Situated{Parts: []event.Situation{{Name: "env", Text: "there"}}}
		c.Resituate = func(_, _ event.Situated) string { return "you are elsewhere" }
		c.Remind = func(told, now policy.Mode) string {
			if told == now {
				return ""
			}
			return fmt.Sprint("the mode was ", told, " and is ", now)
		}
		c.Resolve = func(context.Context, string) (agent.Target, error) { return c.Target, nil }
		c.Target.EffortWarning = func(llm.Effort, int) string { return "it does not listen" }
		c.Shell = func(context.Context, session.Command, func(string)) event.Ran { return event.Ran{Text: "it printed"} }
		judge := make([]fake.Reply, 20)
		for i := range judge {
			judge[i] = rule("allow", "it was asked for")
		}
		c.Auto = &auto.Classifier{Model: auto.Small{Model: &fake.Model{Replies: judge}, Name: "small"}}
	}, replies...)
}

// day does everything that is recorded, and returns what went wrong.
func (r *rig) day() (errs []error) {
	note := func(err error) {
		errs = append(errs, err)
		synctest.Wait()
	}
	do := func(os ...op.Op) {
		for _, o := range os {
			note(r.Submit(r.t.Context(), o))
			if _, leaves := o.(op.Detach); leaves && errs[len(errs)-1] != nil {
				note(r.Submit(r.t.Context(), o)) // what was not taken can be asked for again
			}
		}
	}
	yes := func(mode policy.Mode) {
		for call := range r.State().Pending {
			do(op.Answer{Call: call, Allow: true, By: "one", Mode: mode})
		}
	}
	do(op.Attach{Client: "one"}, op.Notify{Text: "a build is done"}, op.Notify{Text: "a test is done"}, op.Prompt{ID: "p1", Text: "try risk"})
	yes(policy.AcceptEdits)
	do(op.Shell{ID: "s1", Command: "ls"}, op.SetMode{Mode: "plan"}, op.SetEffort{Level: "high"}, op.SetModel{Name: "other"})
	note(r.Entitle(r.t.Context(), "a title", event.Spent{For: "title", Cost: 1}))
	do(op.Rename{Title: "another"})
	note(r.Report(event.TaskStarted{ID: "b1", Kind: "shell"}))
	note(r.Report(event.TaskEnded{ID: "b1"}))
	note(r.Apply(r.t.Context(), session.Settings{Loop: r.cfg.Loop, Tools: r.toolset("look", "come"), Auto: r.cfg.Auto, Forbidden: map[policy.Mode]string{policy.PlanMode: "no plans"}}, changed))
	do(op.Prompt{ID: "p2", Text: "go"}, op.Prompt{ID: "p3", Text: "a secret"})
	note(r.Apply(r.t.Context(), session.Settings{Loop: r.cfg.Loop, Tools: &r.cfg.Tools, Auto: r.cfg.Auto}, event.SettingsChanged{}))

	do(op.Prompt{ID: "p4", Text: "try risk"}) // and while it is asked about
	ctx, cancel := context.WithCancel(r.t.Context())
	permit := make(chan error)
	go func() { _, err := r.Permit(ctx, connection()); permit <- err }()
	synctest.Wait()
	cancel()
	note(<-permit)
	do(op.Prompt{ID: "p5", Text: "one more"}, op.Prompt{ID: "p6", Text: "another secret"}, op.Prompt{ID: "p7", Text: "no"}, op.Unqueue{ID: "p7"})
	yes("")
	do(op.SetMode{Mode: "auto"}, op.Prompt{ID: "p8", Text: "try risk"}, op.SetMode{Mode: "default"})
	do(op.Rewind{To: "p5", Conversation: true}, op.Rewind{Undo: true, Conversation: true}, op.Compact{}, op.Compact{Undo: true})
	do(op.Prompt{ID: "p9", Text: "try risk"}, op.Detach{Client: "one"}, op.Prompt{ID: "p10", Text: "bye"})
	return errs
}

// Whatever single event cannot be recorded: who asked for it is told, or whoever
// watches; the session goes on, its state is what the log says, and the model
// learns of what happened meanwhile, once.
func TestNothingIsLostInSilence(t *testing.T) {
	begun := &mem.Log{}
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) {
			c.Situation = event.Situated{Parts: []event.Situation{{Name: "env", Text: "here"}}}
		}, fake.Say("ok"))
		r.prompt("before")
		r.turns(1, nil)
		r.Close()
		begun = again(t, r.log)
	})
	for n := 2; ; n++ { // the first is the start's
		log := &once{n: n}
		bubble(fmt.Sprint(n), t, func(t *testing.T) {
			log.Log = again(t, begun)
			r := everyday(t, log)
			errs := r.day()
			log.n = 0
			r.prompt("and on")
			synctest.Wait()
			st := r.State()
			if d := cmp.Diff(st.Messages(), foldOf(t, log).Messages()); d != "" {
				t.Errorf("the session and its log differ (-session +log):\n%s", d)
			}
			valid(t, st.Messages())
			if st.Running != "" || len(st.Queue) > 0 || len(st.Pending) > 0 {
				t.Errorf("left: turn %q, queue %v, questions %v", st.Running, st.Queue, st.Pending)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			told := errors.Is(errors.Join(errs...), errDisk)
			var end event.TurnEnded
			for e := range r.watch {
				switch b := e.Body.(type) {
				case event.TurnEnded:
					end = b
					told = told || b.Kind == "storage" && b.How == event.Failed && strings.Contains(b.Err, errDisk.Error())
				case event.ToolFinished: // a call that was not ruled on
					told = told || b.IsErr && strings.Contains(b.Text, errDisk.Error())
				case event.Ran:
					told = told || cmp.Equal(b, log.missing)
				}
			}
			if end.Reason != string(agent.Completed) {
				t.Errorf("without a %T, the last turn ended with %+v", log.missing, end)
			}
			if log.missing != nil && !told {
				t.Errorf("a %T was lost in silence", log.missing)
			}
			sent := map[string]int{}
			for _, e := range hidden(t, log) {
				if sent[e]++; sent[e] > 1 && !strings.Contains(e, "went back") { // which happens twice
					t.Errorf("without a %T, the model was told %q again", log.missing, e)
				}
			}
			if _, failed := log.missing.(event.ModeChanged); !failed && sent["the mode was default and is auto"] != sent["the mode was auto and is default"] {
				t.Errorf("without a %T, the model takes the mode for auto: %q", log.missing, hidden(t, log))
			}
			for _, text := range []string{"a build is done", "a test is done", "you are elsewhere"} {
				if sent[text] != 1 {
					t.Errorf("without a %T, the model was told %q %d times", log.missing, text, sent[text])
				}
			}
		})
		if log.missing == nil {
			if n < 60 {
				t.Errorf("only %d events were tried", n)
			}
			return
		}
	}
}

// A prompt that could not be taken waits for a person, and is not tried again
// and again.
func TestAPromptThatCannotBeTakenWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &once{Log: &mem.Log{}, n: 3} // the InputAccepted
		r := start(t, nil, func(c *session.Config) { c.Log = log }, fake.Say("ok"), fake.Say("ok"))
		r.prompt("go")
		synctest.Wait()
		if q := r.State().Queue; len(q) != 1 || len(r.model.Requests()) != 0 {
			t.Errorf("a %T failed; waiting: %v, %d requests", log.missing, q, len(r.model.Requests()))
		}
		r.prompt("again")
		synctest.Wait()
		if said := spoken(r.State().Messages()); !strings.HasPrefix(said, "go\n") || !strings.Contains(said, "again\n") {
			t.Errorf("%q", said)
		}
		r.Close()
	})
}

// A turn that failed because one of its events could not be recorded is over,
// and the next prompt has its own.
func TestTheNextPromptAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &once{Log: &mem.Log{}, n: 6} // the first turn's reply, behind the second prompt
		r := start(t, nil, func(c *session.Config) { c.Log = log }, func(ctx context.Context, q llm.Request, yield func(llm.Chunk, error) bool) {
			_ = agent.Sleep(ctx, time.Second)
			fake.Say("one")(ctx, q, yield)
		}, fake.Say("two"))
		r.prompt("go")
		synctest.Wait()
		r.prompt("on")
		es := r.turns(2, nil)
		if _, is := log.missing.(event.Replied); !is {
			t.Fatalf("a %T was lost", log.missing)
		}
		if ends := all[event.TurnEnded](es); ends[0].Kind != "storage" || ends[1].Reason != string(agent.Completed) {
			t.Errorf("%+v", ends)
		}
		r.Close()
	})
}

// Nothing goes back to a part of the log, and the session goes on.
func TestGoingBackNeedsTheWholeLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &once{Log: &mem.Log{}}
		r := talked(t, func(c *session.Config) { c.Log, c.Files = log, &takenBack{} }, fake.Say("the summary"), fake.Say("two"))
		if err := r.Submit(t.Context(), op.Compact{}); err != nil {
			t.Fatal(err)
		}
		r.turns(4, nil)
		before := r.State()
		for n := range 2 { // it is read twice, and one of these fails
			for _, o := range []op.Op{op.Rewind{To: "p1", Conversation: true}, op.Compact{Undo: true}} {
				left := n
				log.read = func() { log.blind, left = left == 0, left-1 }
				if err := r.Submit(t.Context(), o); !errors.Is(err, errDisk) {
					t.Errorf("reading %d, %+v: %v", n, o, err)
				}
			}
		}
		log.read, log.blind = nil, true
		if err := r.Submit(t.Context(), op.Rewind{Undo: true, Code: true}); !errors.Is(err, errDisk) {
			t.Errorf("%v", err)
		}
		log.blind = false
		if d := cmp.Diff(before.Messages(), r.State().Messages()); d != "" {
			t.Errorf("changed by what could not be done:\n%s", d)
		}
		r.prompt("on")
		r.last(r.turns(5, nil), agent.Completed)
		r.Close()
	})
}

// foldOf is the state that a log comes to.
func foldOf(t *testing.T, log store.Log) (st transcript.State) {
	t.Helper()
	for e, err := range log.After(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		st = st.Apply(e)
	}
	return st
}

// hidden are what the model was told that no person wrote.
func hidden(t *testing.T, log store.Log) (out []string) {
	t.Helper()
	for e, err := range log.After(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if in, ok := e.Body.(event.InputAccepted); ok && in.Hidden {
			out = append(out, in.Text)
		}
	}
	return out
}
