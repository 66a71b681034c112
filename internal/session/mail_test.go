package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
)

// So many messages wait for a session and no more; notices of tasks and prompts of people come
// all the same.
func TestAMailboxIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("c1", "look", "1", 60_000)), fake.Say("ok"), fake.Say("ok"))
		r.prompt("go")
		synctest.Wait()
		mail := func(n int) error {
			return r.Submit(t.Context(), op.Prompt{ID: fmt.Sprint("m", n), Text: "x", Verbatim: true, Later: true, From: &op.Sender{ID: "s", N: n, As: "the agent s"}})
		}
		for n := range 2000 {
			if err := mail(n + 1); err != nil {
				t.Fatal(n, err)
			}
		}
		err := mail(2001)
		if !errors.Is(err, &op.Refusal{Code: op.MailboxFull}) || !strings.Contains(err.Error(), "2,000 messages wait") {
			t.Errorf("one more: %v", err)
		}
		if err := mail(2000); err != nil {
			t.Errorf("one that it has: %v", err)
		}
		for _, o := range []op.Prompt{over("b1", true), {Text: "mine", Later: true}} {
			if err := r.Submit(t.Context(), o); err != nil {
				t.Error(o, err)
			}
		}
		r.Close()
	})
}

// A prompt that is for somebody else begins no turn, is sent once however often a client says
// it, and what cannot be sent can be said again.
func TestPromptsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		r := start(t, nil, func(c *session.Config) {
			c.Post = func(_ context.Context, p op.Prompt) (string, error) {
				switch name, text, _ := strings.Cut(strings.TrimSpace(p.Text), " "); name {
				case "@finder":
					sent = append(sent, text)
					return "to finder", nil
				case "@full":
					return "", &op.Refusal{Code: op.Undelivered, Text: "it is full"}
				}
				return "", nil
			}
		}, fake.Say("ok"), fake.Say("ok"))
		for _, p := range []op.Prompt{{ID: "1", Text: "@finder look"}, {ID: "1", Text: "@finder look"}, {ID: "2", Text: " @finder again"}} {
			if err := r.Submit(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := r.Submit(t.Context(), op.Prompt{ID: "3", Text: "@full look"}); !errors.Is(err, &op.Refusal{Code: op.Undelivered}) {
				t.Errorf("it is full: %v", err)
			}
		}
		if err := r.Submit(t.Context(), op.Prompt{ID: "4", Text: "@finder x", Verbatim: true}); err != nil {
			t.Fatal(err)
		}
		if err := r.Submit(t.Context(), op.Prompt{ID: "5", Text: "@nobody x"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := fmt.Sprintf("%q", sent); got != `["look" "again"]` {
			t.Errorf("sent %s", got)
		}
		if st := r.State(); len(st.Said) != 2 || st.Said[0].ID != "4" || st.Said[1].ID != "5" {
			t.Errorf("the model was told %v", st.Said)
		}
		r.Close()
	})
}
