package tui

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

func refused() event.TurnEnded {
	return event.TurnEnded{ID: "t", How: event.Failed, Reason: event.BlockingLimit, Err: "the conversation fills the model's window", Hint: "--model …"}
}

// A prompt that is too large for the model's window does not stay in the
// conversation, where each prompt after it would fail for its sake: it comes back
// into the box.
func TestPromptTooLargeComesBack(t *testing.T) {
	r := newRig(t, 100, 30).open().keys("'all of it", "enter")
	id := r.m.queue[0].id
	r.event(event.InputAccepted{ID: id, Text: "all of it"}, event.TurnStarted{ID: "t"}, refused())
	r.has("fills the model's window", "/rewind goes back", "/model", "in the box again").hasNot("--model")
	if o, ok := last[op.Rewind](r); !ok || o != (op.Rewind{To: id, Conversation: true}) {
		t.Errorf("it stays in the conversation: %+v", o)
	}
	if got := r.m.box.Text(); got != "all of it" {
		t.Errorf("the box has %q", got)
	}
}

// Where the model answered before the window was full, the prompt stays.
func TestAnsweredPromptStays(t *testing.T) {
	r := newRig(t, 100, 30).open().keys("'all of it", "enter")
	r.event(event.InputAccepted{ID: r.m.queue[0].id, Text: "all of it"}, event.TurnStarted{ID: "t"}, event.Replied{ID: "r", Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "I look."}}}}, refused())
	r.has("/rewind goes back")
	if _, ok := last[op.Rewind](r); ok || r.m.box.Text() != "" {
		t.Error("it was taken back")
	}
}

// The footer counts what was said since the newest reply, of the window that is left
// to a conversation, and follows the model.
func TestFooterCountsWhatIsNotAnswered(t *testing.T) {
	room := 180_000
	r := newRig(t, 100, 30)
	r.desk.Status = func() ask.Facts { return ask.Facts{Window: room + room/10, Room: room} }
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Dir: "~", Model: "a/b", Window: 200_000, Room: 180_000, Mode: policy.Default}}, nil})
	r.event(event.InputAccepted{ID: "p", Text: "hi"}, event.TurnStarted{ID: "t", Model: "a/b"}, event.Replied{ID: "r", Usage: llm.Usage{In: 18_000, Out: 2}, Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "Yes."}}}}, event.TurnEnded{ID: "t"})
	r.has("90 % of window left")
	r.event(event.InputAccepted{ID: "q", Text: strings.Repeat("x ", 72_000)}).has("70 % of window left")
	room = 90_000
	r.event(event.ModelChanged{Model: "a/c"}).has("40 % of window left")
}
