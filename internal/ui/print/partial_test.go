package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// failer is what a test and a property have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// wellFormed checks the stream events among these lines as a client of the
// public API reads them, and returns the text of each message.
func wellFormed(t failer, out []byte) (texts []string) {
	t.Helper()
	inside, next, kind, text := false, 0, "", ""
	for line := range bytes.Lines(out) {
		var l struct {
			Type  string
			Event struct {
				Type  string
				Index int
				Block struct{ Type string } `json:"content_block"`
				Delta struct{ Type, Text string }
			}
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		e := l.Event
		if l.Type != "stream_event" {
			if l.Type == "result" && inside {
				t.Fatalf("a turn ends inside a message:\n%s", out)
			}
			continue
		}
		ok := false
		switch e.Type {
		case "message_start":
			ok, inside, next, text = !inside, true, 0, ""
		case "content_block_start":
			ok, kind = inside && kind == "" && e.Index == next, e.Block.Type
		case "content_block_delta":
			want := map[string]string{"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "thinking", "input_json_delta": "tool_use"}[e.Delta.Type]
			ok, text = inside && kind != "" && kind == want && e.Index == next, text+e.Delta.Text
		case "content_block_stop":
			ok, kind, next = inside && kind != "" && e.Index == next, "", next+1
		case "message_delta":
			ok = inside && kind == ""
		case "message_stop":
			ok, inside, texts = inside && kind == "", false, append(texts, text)
		}
		if !ok {
			t.Fatalf("out of place: %s\nin\n%s", line, out)
		}
	}
	return texts
}

// Whatever events come, in whatever order and with whatever gaps, the stream
// is well-formed.
func TestPartialIsWellFormed(t *testing.T) {
	s := rapid.SampledFrom([]string{"", "a", "ab", "🙂", "{", `"x"`})
	at := rapid.IntRange(0, 3)
	call := rapid.SampledFrom([]string{"c1", "c2", "c3"})
	body := rapid.OneOf(
		rapid.Just[event.Body](event.TurnStarted{}), rapid.Just[event.Body](event.ReplyStarted{Model: "m"}), rapid.Just[event.Body](event.Retracted{}),
		rapid.Just[event.Body](event.Dropped{}), rapid.Just[event.Body](event.TurnEnded{How: event.Failed}), rapid.Just[event.Body](event.Waiting{}),
		rapid.Custom(func(t *rapid.T) event.Body { return event.TextDelta{At: at.Draw(t, "at"), S: s.Draw(t, "s")} }),
		rapid.Custom(func(t *rapid.T) event.Body { return event.ThinkingDelta{At: at.Draw(t, "at"), S: s.Draw(t, "s")} }),
		rapid.Custom(func(t *rapid.T) event.Body {
			return event.ToolInputDelta{Call: call.Draw(t, "call"), Name: "Bash", At: at.Draw(t, "at"), S: s.Draw(t, "s")}
		}),
		rapid.Custom(func(t *rapid.T) event.Body { return event.PartDone{Part: llm.Text{S: s.Draw(t, "s")}} }),
		rapid.Custom(func(t *rapid.T) event.Body {
			return event.PartDone{Part: llm.Thinking{S: s.Draw(t, "s"), Opaque: json.RawMessage(`"sig"`)}}
		}),
		rapid.Custom(func(t *rapid.T) event.Body { return event.PartDone{Part: use(call.Draw(t, "call"), "Bash", "{}")} }),
		rapid.Custom(func(t *rapid.T) event.Body { return replied(llm.WantTools, use(call.Draw(t, "call"), "Bash", "{}")) }),
		rapid.Custom(func(t *rapid.T) event.Body { return finished(call.Draw(t, "call"), "x") }),
	)
	rapid.Check(t, func(rt *rapid.T) {
		wellFormed(rt, stream(t, true, rapid.SliceOfN(body, 0, 40).Draw(rt, "events")))
	})
}

// A real reply comes out whole, also when deltas of it were lost on the way.
func TestPartialSaysEverything(t *testing.T) {
	word := rapid.StringMatching(`[a-z🙂]{1,4}`)
	rapid.Check(t, func(rt *rapid.T) {
		events := []event.Body{begun, event.ReplyStarted{Model: "m"}}
		whole, at := "", 0
		var parts []llm.Part
		for i := range rapid.IntRange(1, 4).Draw(rt, "parts") {
			part := ""
			for _, w := range rapid.SliceOfN(word, 1, 5).Draw(rt, fmt.Sprint("words", i)) {
				if rapid.Float64Range(0, 1).Draw(rt, "lost") > 0.3 {
					events = append(events, event.TextDelta{At: at, S: w})
				}
				part, at = part+w, at+len(w)
			}
			events = append(events, event.PartDone{Part: llm.Text{S: part}}, event.PartDone{Part: use(fmt.Sprint("c", i), "Bash", "{}")})
			parts, whole = append(parts, llm.Text{S: part}), whole+part
		}
		events = append(events, replied(llm.EndTurn, parts...), ended(event.Done, "completed", 1))
		if texts := wellFormed(rt, stream(t, true, events)); len(texts) != 1 || texts[0] != whole {
			rt.Fatalf("%q, want %q", texts, whole)
		}
	})
}
