package session_test

import (
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
)

// What waits for something to arrive is told of prompts that join a turn, of notices and of
// notes; at once where something waits by then.
func TestArrival(t *testing.T) {
	for name, c := range map[string]struct {
		o    op.Op
		want bool
	}{
		"a prompt":       {op.Prompt{Text: "wait"}, true},
		"one for later":  {op.Prompt{Text: "later", Later: true}, false},
		"a notice":       {over("b1", false), true},
		"one that rests": {over("b1", true), true},
		"a note":         {op.Notify{Text: "it rains"}, true},
		"a title":        {op.Rename{Title: "x"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, nil, nil, fake.Use(call("c1", "look", "1", 60_000)), fake.Say("ok"), fake.Say("ok"))
				r.prompt("go")
				synctest.Wait()
				before := r.Arrival()
				if arrived(before) {
					t.Error("it arrived before it was sent")
				}
				if err := r.Submit(t.Context(), c.o); err != nil {
					t.Fatal(err)
				}
				if arrived(before) != c.want || arrived(r.Arrival()) != c.want {
					t.Errorf("arrived %v, and then %v", arrived(before), arrived(r.Arrival()))
				}
				r.Close()
				if !arrived(r.Arrival()) {
					t.Error("a session that has ended waits for something")
				}
			})
		})
	}
}

func arrived(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
