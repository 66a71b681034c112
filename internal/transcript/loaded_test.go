package transcript_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/transcript"
)

// What the model loaded stays loaded. What it was told of by name counts as told
// as long as the telling is in the conversation.
func TestToolsByName(t *testing.T) {
	x := llm.Spec{Name: "x", Description: "does x", Schema: json.RawMessage(`{"type":"object"}`)}
	newer := llm.Spec{Name: "x", Description: "does x better"}
	load := func(call string, list ...llm.Spec) event.Body {
		return event.ToolFinished{Call: call, Name: "ToolSearch", Text: "loaded", Effects: []effect.Effect{effect.Loaded{Tools: list}}}
	}
	s := fold(
		in("a"), begin, // 1, 2
		event.ToolsChanged{Named: []string{"x", "y"}, Text: "there are x and y"}, // 3
		reply(use("1")), load("1", x), // 4, 5
		event.ToolsChanged{Added: []string{"z"}, Removed: []string{"y"}, Named: []string{"z"}, Text: "z came, y went"}, // 6
		reply(text("done")), end, // 7, 8
		in("b"), begin, reply(text("done")), end, // 9 to 12
	)
	check := func(what string, s transcript.State, told ...string) {
		t.Helper()
		for name, s := range map[string]transcript.State{what: s, what + ", stored": restored(t, s)} {
			if d := cmp.Diff(told, s.Told()); d != "" {
				t.Errorf("%s: told (-want +got):\n%s", name, d)
			}
			if d := cmp.Diff([]llm.Spec{x}, s.Loaded); d != "" {
				t.Errorf("%s: loaded (-want +got):\n%s", name, d)
			}
		}
	}
	check("at first", s, "x", "z")
	want := []llm.Message{
		user(text("a"), text("there are x and y")), model(use("1")),
		user(llm.ToolResult{ID: "1", Text: "loaded", Loaded: []llm.Spec{x}}, text("z came, y went")), model(text("done")), user(text("b")), model(text("done")),
	}
	if d := cmp.Diff(want, s.Messages()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"y"}, s.Gone); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]transcript.CacheChange(nil), s.Cache.Since); d != "" {
		t.Errorf("what is told in the conversation changes no beginning: %s", d)
	}
	next := func(s transcript.State, b event.Body) transcript.State {
		return s.Apply(event.Event{Seq: s.Seq + 1, Body: b})
	}
	check("compacted", next(s, event.Compacted{Text: "what was"}))
	check("compacted in part", next(s, event.Compacted{Text: "what was", From: 6}), "z")
	check("rewound to the second prompt", next(s, event.Rewound{To: 9, Conversation: true}), "x", "z")
	check("rewound to before the change", next(s, event.Rewound{To: 6, Conversation: true}), "x", "y")
	before := next(s, event.Rewound{To: 4, Conversation: true})
	if len(before.Loaded) > 0 {
		t.Errorf("before it was loaded: %v", before.Loaded)
	}
	check("and back", next(before, event.Rewound{To: 4, Conversation: true, Messages: s.Messages(), Origin: s.Origin()}), "x", "y")
	small := next(s, event.Compacted{Text: "what was"})
	small = next(small, event.Compacted{Undo: small.Seq, Messages: s.Messages(), Origin: s.Origin()})
	check("a compaction undone", small)
	cleared := next(s, event.Cleared{Calls: []string{"1"}})
	if res := cleared.Messages()[2].Parts[0].(llm.ToolResult); len(res.Loaded) != 1 {
		t.Errorf("a cleared result is %+v", res)
	}
	was := s
	s = next(next(next(s, in("c")), reply(use("2"))), load("2", newer, llm.Spec{Name: "w"}))
	if d := cmp.Diff([]llm.Spec{x}, was.Loaded); d != "" {
		t.Errorf("the state before changed: %s", d)
	}
	if d := cmp.Diff([]llm.Spec{newer, {Name: "w"}}, s.Loaded); d != "" {
		t.Error(d)
	}
}
