package print

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
)

// late is a session whose readers are handed what happened when it says so.
type late struct {
	now    func() (last event.Seq, reply bool)
	events chan event.Event // until it is closed
}

func (s late) Submit(context.Context, op.Op) error { return nil }
func (s late) Replying() (event.Seq, bool)         { return s.now() }
func (s late) Follow(context.Context, event.Seq, event.Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e := range s.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// A hook of the host is asked behind what had happened by then: a host that
// waits for the result of a call does not skip the question about the next one.
func TestCallbacksKeepTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := late{func() (event.Seq, bool) { return 2, false }, make(chan event.Event)}
		var out bytes.Buffer
		callbacks, inputs, over := NewCallbacks(), make(chan Input), make(chan error)
		go func() {
			_, err := Run(t.Context(), s, Options{Format: Stream, About: about(), After: 1, Out: &out, Err: io.Discard, Callbacks: callbacks, Inputs: inputs})
			over <- err
		}()
		ask := func(ctx context.Context, id string, answered chan<- error) {
			_, err := callbacks.Ask(ctx, id, json.RawMessage("{}"), "c1")
			answered <- err
		}
		answered := make(chan error, 2)
		hasty, cancel := context.WithCancel(t.Context())
		go ask(hasty, "hasty", answered)
		synctest.Wait()
		go ask(t.Context(), "h", answered)
		synctest.Wait()
		cancel() // before the host heard of it
		synctest.Wait()
		if out.Len() > 0 {
			t.Errorf("asked before the host read what it is about: %s", &out)
		}
		s.events <- event.Event{Seq: 2, Body: event.Noted{Level: "warning", Text: "what is asked about"}}
		synctest.Wait()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "what is asked about") || !strings.Contains(lines[1], `"callback_id":"h"`) {
			t.Errorf("the host reads\n%s", &out)
		}
		inputs <- Input{Reply: &reply{Subtype: "success", RequestID: "hook-1", Response: json.RawMessage("{}")}}
		close(s.events)
		if err := <-over; err == nil {
			t.Error("the session ended, and that was no error")
		}
		if a, b := <-answered, <-answered; !errors.Is(a, context.Canceled) || b != nil {
			t.Errorf("answered: %v, %v", a, b)
		}
	})
}

// A call that hooks look at while its reply streams is asked about behind the line of the
// reply, or not at all when the reply was dropped. What is about no call does not wait.
func TestCallbacksFollowTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last := event.Seq(2)
		s := late{func() (event.Seq, bool) { return last, true }, make(chan event.Event)}
		var out bytes.Buffer
		callbacks, inputs, over := NewCallbacks(), make(chan Input), make(chan error)
		go func() {
			_, err := Run(t.Context(), s, Options{Format: Stream, About: about(), After: 1, Out: &out, Err: io.Discard, Callbacks: callbacks, Inputs: inputs})
			over <- err
		}()
		answered := make(chan error, 3)
		ask := func(ctx context.Context, id, call string) {
			_, err := callbacks.Ask(ctx, id, json.RawMessage("{}"), call)
			answered <- err
		}
		dropped, cancel := context.WithCancel(t.Context())
		go ask(dropped, "dropped", "c0")
		synctest.Wait()
		s.events <- event.Event{Seq: 2, Body: event.TurnStarted{}}
		synctest.Wait()
		cancel()
		s.events <- event.Event{Seq: 3, Body: event.Dropped{}}
		synctest.Wait()
		last = 3
		go ask(t.Context(), "h", "c1")
		synctest.Wait()
		go ask(t.Context(), "of no call", "")
		synctest.Wait()
		s.events <- event.Event{Seq: 4, Body: event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "c1", Name: "Bash", Input: json.RawMessage("{}")}}}}}
		synctest.Wait()
		var kinds []string
		for line := range strings.Lines(out.String()) {
			for _, kind := range []string{`"subtype":"init"`, `"callback_id":"dropped"`, `"callback_id":"h"`, `"callback_id":"of no call"`, `"type":"assistant"`} {
				if strings.Contains(line, kind) {
					kinds = append(kinds, kind)
				}
			}
		}
		if got, want := strings.Join(kinds, " "), `"subtype":"init" "callback_id":"of no call" "type":"assistant" "callback_id":"h"`; got != want {
			t.Errorf("the host reads %s, want %s", got, want)
		}
		close(s.events)
		<-over
		for range 3 {
			<-answered
		}
	})
}

// The end of an agent may be recorded behind the turn that read what it came to: the
// answer of that turn is the run's.
func TestTheLastAnswerIsPrinted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := late{func() (event.Seq, bool) { return 0, false }, make(chan event.Event)}
		var out bytes.Buffer
		inputs := make(chan Input, 1)
		inputs <- Input{Op: op.Prompt{ID: "p", Text: "go"}}
		close(inputs)
		go func() {
			defer close(s.events)
			says := func(text string) event.Replied {
				return event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: text}}}}
			}
			for i, b := range []event.Body{
				event.InputQueued{ID: "p", Text: "go"}, event.InputAccepted{ID: "p", Text: "go"}, event.TurnStarted{ID: "t1"},
				event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Text: "look"}, says("It works."), event.TurnEnded{ID: "t1", How: event.Done},
				event.InputQueued{ID: "m", From: &op.Sender{ID: "a1", N: 1, End: true}}, event.InputAccepted{ID: "m"}, event.TurnStarted{ID: "t2"},
				says("It found two."), event.TurnEnded{ID: "t2", How: event.Done}, event.TaskEnded{ID: "a1", Status: event.TaskCompleted},
			} {
				s.events <- event.Event{Seq: event.Seq(i + 1), Body: b}
			}
			synctest.Wait()
		}()
		if _, err := Run(t.Context(), s, Options{Format: Text, About: about(), Out: &out, Err: io.Discard, Inputs: inputs}); err != nil || out.String() != "It found two.\n" {
			t.Errorf("%v, printed %q", err, out.String())
		}
	})
}
