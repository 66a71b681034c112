package foreign

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/transcript"
)

func read(tb testing.TB, from, text string) (Session, error) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return Read(from, path)
}

// paired checks what every provider wants: each call has one result, after the
// reply that holds it and before the next one.
func paired(tb testing.TB, es []event.Event) (calls int) {
	tb.Helper()
	open, turn := map[string]bool{}, false
	for i, e := range es {
		if e.Seq != event.Seq(i+1) {
			tb.Fatalf("seq %d at %d", e.Seq, i)
		}
		switch b := e.Body.(type) {
		case event.TurnStarted:
			turn = true
		case event.TurnEnded:
			turn = false
			if len(open) > 0 {
				tb.Fatalf("a turn ends with open calls: %v", open)
			}
		case event.Replied:
			if len(open) > 0 || !turn || len(b.Message.Parts) == 0 {
				tb.Fatalf("a reply with open calls %v, in a turn: %v", open, turn)
			}
			for _, p := range b.Message.Parts {
				if u, ok := p.(llm.ToolUse); ok {
					open[u.ID] = true
					calls++
				}
			}
		case event.ToolFinished:
			if !open[b.Call] {
				tb.Fatalf("a result of no open call: %s", b.Call)
			}
			delete(open, b.Call)
		default: // of no matter here
		}
	}
	if turn {
		tb.Fatal("the last turn has no end")
	}
	return calls
}

func TestUnevenCalls(t *testing.T) {
	s, err := read(t, ClaudeCode, `{"type":"user","cwd":"/w","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"go"}}
{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look"},{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"x"}}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"b","name":"Read","input":{}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"B"}]}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"more"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"nobody","content":"?"},{"type":"tool_result","tool_use_id":"a","content":"late"}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c","name":"Bash"}]}}
not json
{"type":"user","isSidechain":true,"message":{"content":"of a sub-agent"}}
{"type":"user","message":{"content":"next"}}
`)
	if err != nil || s.Prompts != 2 || s.Dir != "/w" {
		t.Fatalf("%+v, %v", s, err)
	}
	if n := paired(t, s.Events(event.SessionStarted{})); n != 3 {
		t.Errorf("%d calls", n)
	}
	// What a model is sent of it: roles take turns, and results follow their calls.
	var st transcript.State
	for _, e := range s.Events(event.SessionStarted{}) {
		st = st.Apply(e)
	}
	var roles []llm.Role
	results := 0
	for _, m := range st.Messages() {
		roles = append(roles, m.Role)
		for _, p := range m.Parts {
			if _, ok := p.(llm.ToolResult); ok {
				results++
			}
		}
	}
	if roles[0] != llm.User || results != 3 {
		t.Errorf("roles %v, %d results", roles, results)
	}
	for i := range roles[1:] {
		if roles[i] == roles[i+1] {
			t.Errorf("roles do not take turns: %v", roles)
		}
	}
	again, _ := read(t, ClaudeCode, `{"type":"user","message":{"content":"x"}}`)
	if s.NewID() == again.NewID() && s.Began != again.Began {
		t.Error("two sessions have one ID")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"content":"go"}}` + "\n" + `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"x"}]}}`))
	f.Add([]byte(`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}` + "\n" + `{"type":"response_item","payload":{"type":"function_call","call_id":"a","name":"x","arguments":"{"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, from := range Names() {
			if s, err := read(t, from, string(raw)); err == nil {
				paired(t, s.Events(event.SessionStarted{}))
			}
		}
	})
}
