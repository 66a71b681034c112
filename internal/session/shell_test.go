package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
)

// What a person runs by themselves starts no turn, and the model reads it with
// the next prompt.
func TestCommandsOfThePerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) {
			c.Shell = func(ctx context.Context, cmd session.Command, progress func(string)) event.Ran {
				progress("out")
				if cmd.Text == "wait" {
					<-ctx.Done()
					return event.Ran{Text: "ended early", IsErr: true}
				}
				return event.Ran{Text: "$ " + cmd.Text + " in " + cmd.Dir, Dir: "/w/sub"}
			}
		}, fake.Say("ok"))
		if err := r.Submit(t.Context(), op.Shell{ID: "x", Command: "ls"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		st := r.State()
		if len(r.model.Requests()) != 0 || st.Turns != 0 || st.Dir != "/w/sub" {
			t.Errorf("%d requests, %d turns, in %s", len(r.model.Requests()), st.Turns, st.Dir)
		}
		if err := r.Submit(t.Context(), op.Shell{ID: "y", Command: "wait"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
			t.Errorf("a command cannot be interrupted: %v", err)
		}
		synctest.Wait()
		if err := r.Submit(t.Context(), op.Interrupt{}); !errors.Is(err, session.ErrIdle) {
			t.Errorf("nothing runs any more: %v", err)
		}
		r.prompt("go")
		es := r.turns(1, nil)
		r.last(es, agent.Completed)
		if out := all[event.ToolOutput](es); len(out) != 2 || out[0] != (event.ToolOutput{Call: "x", S: "out"}) {
			t.Errorf("shown while they ran: %v", out)
		}
		var read []string
		for _, p := range r.model.Requests()[0].Messages[0].Parts {
			if text, ok := p.(llm.Text); ok {
				read = append(read, text.S)
			}
		}
		if got := strings.Join(read, "|"); got != "$ ls in |ended early|go" && got != "$ ls in /w|ended early|go" {
			t.Errorf("the model reads %q", got)
		}
		if err := r.Submit(t.Context(), op.Shell{Command: "wait"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.Close() // ends it
		var ran []string
		for e := range r.log.After(t.Context(), 0) {
			if b, ok := e.Body.(event.Ran); ok {
				ran = append(ran, b.Text)
			}
		}
		if len(ran) != 3 || ran[2] != "ended early" {
			t.Errorf("recorded: %q", ran)
		}
	})
}

func TestCommandsOfThePersonAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("ok"))
		r.refused(op.Shell{Command: "ls"}, op.Unsupported)
		r.Close()
		r = start(t, nil, func(c *session.Config) {
			c.Shell = func(ctx context.Context, _ session.Command, _ func(string)) event.Ran {
				<-ctx.Done()
				return event.Ran{}
			}
		})
		r.refused(op.Shell{Command: " \n"}, op.Malformed)
		for range 2 { // without names they are told apart
			if err := r.Submit(t.Context(), op.Shell{Command: "ls"}); err != nil {
				t.Error(err)
			}
		}
		if err := r.Submit(t.Context(), op.Shell{ID: "x", Command: "ls"}); err != nil {
			t.Error(err)
		}
		r.refused(op.Shell{ID: "x", Command: "ls"}, op.Malformed)
		r.Close()
		ids := map[string]bool{}
		for e := range r.log.After(t.Context(), 0) {
			if b, ok := e.Body.(event.Ran); ok {
				ids[b.ID] = true
			}
		}
		if len(ids) != 3 {
			t.Errorf("recorded: %v", ids)
		}
	})
}
