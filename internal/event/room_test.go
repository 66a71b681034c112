package event_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// The line of a long text takes little more memory than it has bytes.
func TestLongLinesTakeTheirRoomOnce(t *testing.T) {
	text := strings.Repeat("words of a long text\n", 100_000)
	for name, b := range map[string]event.Body{
		"reply":  event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: text}}}},
		"result": event.ToolFinished{Call: "c", Text: text},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		line, err := event.AppendLine(nil, event.Event{Seq: 1, Body: b})
		runtime.ReadMemStats(&after)
		if err != nil || len(line) < len(text) {
			t.Fatalf("%s: %d bytes, %v", name, len(line), err)
		}
		if took, most := after.TotalAlloc-before.TotalAlloc, uint64(room*len(text)/2); took > most {
			t.Errorf("%s of %d bytes: its line took %d bytes of memory, more than %d", name, len(text), took, most)
		}
	}
}
