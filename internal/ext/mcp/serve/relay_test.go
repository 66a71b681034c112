package serve

import (
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
)

// The end of a turn may be told when the next one has its calls: they are not its.
func TestLateEndOfTurn(t *testing.T) {
	r := NewRelay()
	prompts := 0
	r.submit = func(o op.Op) error {
		if _, ok := o.(op.Prompt); ok {
			prompts++
		}
		return nil
	}
	run := func() (*call, string) {
		t.Helper()
		c, err := r.add("Read", nil)
		if err != nil {
			t.Fatal(err)
		}
		parts, _ := r.reply()
		if len(parts) != 1 {
			t.Fatalf("the turn was handed %v", parts)
		}
		return c, parts[0].(llm.ToolUse).ID
	}
	first, id := run()
	r.see(event.ToolFinished{Call: id, Text: "one"})
	if _, stop := r.reply(); stop != llm.EndTurn {
		t.Fatal("the turn goes on with nothing to do")
	}
	second, id := run()
	r.see(event.TurnEnded{How: event.Done, Reason: "completed"}) // of the first
	r.see(event.ToolFinished{Call: id, Text: "two"})
	for want, c := range map[string]*call{"one": first, "two": second} {
		if got := <-c.done; got.Text != want || got.IsErr {
			t.Errorf("%q: %+v", want, got)
		}
	}
	if prompts != 2 {
		t.Errorf("%d turns were asked for", prompts)
	}

	third, _ := run()
	r.see(event.TurnEnded{How: event.Interrupted, Reason: "interrupted"})
	if got := <-third.done; !got.IsErr {
		t.Errorf("a call of a turn that was cut: %+v", got)
	}
}
