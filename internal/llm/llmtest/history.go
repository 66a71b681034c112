package llmtest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

// orphan: a call without a result gets one, right after it.
func orphan(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say("ok")})
	r := f.ask("look")
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			llm.ToolUse{ID: "call_1", Name: "Read", Input: json.RawMessage(`{"path":"a"}`)},
			llm.ToolUse{ID: "call_2", Name: "Read", Input: json.RawMessage(`{"path":"b"}`)},
		}},
		llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "call_2", Text: "bee"}, llm.Text{S: "go on"}}},
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "call_3", Name: "Read", Input: json.RawMessage(`{"path":"c"}`)}}},
	)
	if g := f.send(t, r); g.Err != nil {
		t.Fatal(g.Err)
	}
	msgs := f.history(t, 0)
	var order []string
	for _, m := range msgs {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolUse:
				order = append(order, "use "+string(p.Input))
			case llm.ToolResult:
				order = append(order, "result "+p.Text)
			case llm.Text:
				order = append(order, p.S)
			case llm.Thinking, llm.Image, llm.Document:
			}
		}
	}
	const cut = "result [interrupted: this call has no result]"
	want := []string{"look", `use {"path":"a"}`, `use {"path":"b"}`, cut, "result bee", "go on", `use {"path":"c"}`, cut}
	if strings.Join(order, "|") != strings.Join(want, "|") {
		t.Errorf("sent %q\nwant %q", order, want)
	}
	paired(t, a, msgs)
}

func (f *fixture) history(t testing.TB, n int) []llm.Message {
	t.Helper()
	body := f.body(n)
	if !json.Valid(body) {
		t.Fatalf("the request is not JSON:\n%s", body)
	}
	msgs, err := f.a.Wire.History(body)
	if err != nil {
		t.Fatalf("the server cannot read the request: %v\n%s", err, body)
	}
	return msgs
}

// paired checks that every call is answered once, by its id, after it.
func paired(t testing.TB, a Adapter, msgs []llm.Message) {
	t.Helper()
	if a.NoCallIDs {
		return
	}
	seen, answered := map[string]bool{}, map[string]bool{}
	for _, m := range msgs {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolUse:
				if seen[p.ID] {
					t.Errorf("call id %q is used twice", p.ID)
				}
				seen[p.ID] = true
			case llm.ToolResult:
				if !seen[p.ID] || answered[p.ID] {
					t.Errorf("a result for %q, which is unknown or answered", p.ID)
				}
				answered[p.ID] = true
			case llm.Text, llm.Thinking, llm.Image, llm.Document:
			}
		}
	}
	if len(seen) != len(answered) {
		t.Errorf("%d calls, %d results", len(seen), len(answered))
	}
}

// handoff: a conversation another provider began.
func handoff(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say("ok")})
	r := f.ask("look \xff here")
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "and be quick"}, llm.Text{S: "  "}}},
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			llm.Thinking{S: "SECRET-REASONING", Opaque: json.RawMessage(`"FOREIGN-TOKEN"`), From: "elsewhere/other-1"},
			llm.Text{S: "Looking."},
			llm.ToolUse{ID: "functions.Read:0", Name: "Read", Input: json.RawMessage(`{"path":"a"}`), Opaque: json.RawMessage(`"FOREIGN-CALL-TOKEN"`), From: "elsewhere/other-1"},
			llm.ToolUse{ID: "functions.Read:0", Name: "functions.Réad 2", Input: json.RawMessage(`{"path":"b"}`)},
			llm.ToolUse{ID: "", Name: "", Input: json.RawMessage(`"not an object"`), Bad: "not JSON"},
		}},
		llm.Message{Role: llm.User, Parts: []llm.Part{
			llm.ToolResult{ID: "functions.Read:0", Text: "first \xed\xa0\xbd"}, llm.ToolResult{ID: "functions.Read:0", Text: "second"},
			llm.ToolResult{ID: "", Text: "third", IsErr: true}, llm.ToolResult{ID: "nobody", Text: "stray"},
		}},
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{S: "SECRET-REASONING", From: "elsewhere/other-1"}}},
		llm.Message{Role: llm.Assistant},
		llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "next"}}},
	)
	if g := f.send(t, r); g.Err != nil {
		t.Fatal(g.Err)
	}
	body := string(f.body(0))
	for _, foreign := range []string{"SECRET-REASONING", "FOREIGN-TOKEN", "FOREIGN-CALL-TOKEN"} {
		if strings.Contains(body, foreign) {
			t.Errorf("%s was sent to another model", foreign)
		}
	}
	if !strings.Contains(body, "\uFFFD here") && !strings.Contains(body, `\ufffd here`) {
		t.Error("broken UTF-8 was not repaired")
	}
	msgs := f.history(t, 0)
	paired(t, a, msgs)
	var results []string
	for i, m := range msgs {
		if len(m.Parts) == 0 {
			t.Errorf("message %d is empty", i)
		}
		for _, p := range m.Parts {
			if res, ok := p.(llm.ToolResult); ok {
				results = append(results, res.Text)
			}
			if u, ok := p.(llm.ToolUse); ok && !callable(u.Name) {
				t.Errorf("a call is named %q", u.Name)
			}
		}
	}
	if len(results) != 3 || !strings.HasPrefix(results[0], "first") || results[1] != "second" || results[2] != "third" {
		t.Errorf("results %q", results)
	}
}

// refusedReasoning: a server does not take back the reasoning that it gave, which happens after a change of the key.
func refusedReasoning(t *testing.T, a Adapter) {
	if a.NoOpaque {
		t.Skip("this wire has no token for reasoning")
	}
	think := func(token string) Reply {
		return Reply{Stop: llm.EndTurn, Parts: []Part{
			{Part: llm.Thinking{S: "Let me think.", Opaque: json.RawMessage(`"` + token + `"`)}}, {Part: llm.Text{S: "Four."}}}}
	}
	refused := a.Wire.ErrorBody(400, "Invalid `signature` in `thinking` block, or encrypted content that could not be verified")
	f := newFixture(t, a, 0, Step{Reply: think("OLD")}, Step{Status: 400, Body: refused}, Step{Reply: think("NEW")}, Step{Reply: Say("ok")})
	r := f.ask("2+2?")
	for range 3 {
		g := f.send(t, r)
		if g.Err != nil {
			t.Fatal(g.Err)
		}
		r.Messages = append(r.Messages, g.Finished.Message, llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "again"}}})
	}
	for i, want := range []struct{ before, now bool }{{}, {before: true}, {}, {now: true}} {
		body := string(f.body(i))
		if strings.Contains(body, "OLD") != want.before || strings.Contains(body, "NEW") != want.now {
			t.Errorf("request %d: %s", i, body)
		}
	}
}

func sameBytes(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say("ok")}, Step{Reply: Say("ok")})
	r := conversation(f, 3)
	f.send(t, r)
	f.send(t, r)
	if !bytes.Equal(f.body(0), f.body(1)) {
		t.Errorf("the same request gave other bytes:\n%s\n%s", f.body(0), f.body(1))
	}
}

// conversation is a session of n steps, each with a call and its result.
func conversation(f *fixture, n int) llm.Request {
	r := f.ask("begin")
	for i := range n {
		id := "call_" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		r.Messages = append(r.Messages,
			llm.Message{Role: llm.Assistant, Parts: []llm.Part{
				llm.Text{S: "step"}, llm.ToolUse{ID: id, Name: "Read", Input: json.RawMessage(`{"path":"f.go"}`)}}},
			llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: id, Text: strings.Repeat("line of a file\n", 20)}}})
	}
	return r
}

const mark = `,"cache_control":{"type":"ephemeral"}`

// prefix: over a session of 50 steps every request begins with the bytes of
// the one before, apart from the cache marks that move.
func prefix(t *testing.T, a Adapter) {
	const n = 50
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = Step{Reply: Say("ok")}
	}
	f := newFixture(t, a, 0, steps...)
	var last []byte
	total, kept := 0, 0
	for i := range n {
		f.send(t, conversation(f, i))
		body := bytes.ReplaceAll(f.body(i), []byte(mark), nil)
		if strings.Count(string(f.body(i)), "cache_control") > 4 {
			t.Fatalf("request %d has more than 4 cache marks", i)
		}
		if last != nil {
			same := 0
			for same < len(last) && same < len(body) && last[same] == body[same] {
				same++
			}
			total += len(last)
			kept += same
		}
		last = body
	}
	if share := float64(kept) / float64(total); share < 0.99 {
		t.Errorf("only %.2f %% of the bytes sent before were sent again as a prefix", share*100)
	} else {
		t.Logf("%.3f %% of the possible prefix was kept", share*100)
	}
}
