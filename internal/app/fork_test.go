package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// A mock is a provider behind the Messages wire that keeps what it is asked. answer is
// given the last message, and returns a text, or calls as JSON objects of name and input.
type mock struct {
	*httptest.Server
	answer func(last string) (say string, calls []string)

	mu   sync.Mutex
	asks []heard
}

// heard is a request without its marks for the cache.
type heard struct {
	System, Tools json.RawMessage
	Messages      []json.RawMessage
	last          string
}

func newMock(t *testing.T, answer func(last string) (string, []string)) *mock {
	m := &mock{answer: answer}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// settings name it as the model.
func (m *mock) settings() settings.Sources {
	return settings.Sources{Trusted: true, Inline: fmt.Sprintf(
		`{"model":"w/m","titles":false,"providers":{"w":{"base_url":%q,"wire":"anthropic"}},"models":{"w/m":{"window":200000,"output":2000}},"sandbox":{"enabled":false},"permissions":{"allow":["Bash"]}}`, m.URL)}
}

func (m *mock) requests() []heard {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asks[:len(m.asks):len(m.asks)]
}

// said is the first request whose last message has a text.
func (m *mock) said(t *testing.T, text string) heard {
	t.Helper()
	var found heard
	for _, a := range m.requests() {
		if strings.Contains(a.last, text) && (found.last == "" || len(a.last) < len(found.last)) {
			found = a // a helper puts its own question behind the text
		}
	}
	if found.last == "" {
		t.Fatalf("nobody asked with %q", text)
	}
	return found
}

func (m *mock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	raw, _ = json.Marshal(unmarked(v))
	var a heard
	_ = json.Unmarshal(raw, &a)
	if len(a.Messages) > 0 {
		a.last = string(a.Messages[len(a.Messages)-1])
	}
	m.mu.Lock()
	m.asks = append(m.asks, a)
	n := len(m.asks)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, v map[string]any) {
		v["type"] = kind
		b, _ := json.Marshal(v)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
	}
	send("message_start", map[string]any{"message": map[string]any{"id": fmt.Sprint("m", n), "role": "assistant", "usage": map[string]int{"input_tokens": len(raw) / 4, "output_tokens": 1}}})
	say, calls := m.answer(a.last)
	stop := "tool_use"
	if len(calls) == 0 {
		stop = "end_turn"
		send("content_block_start", map[string]any{"index": 0, "content_block": map[string]any{"type": "text", "text": ""}})
		send("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": "text_delta", "text": say}})
		send("content_block_stop", map[string]any{"index": 0})
	}
	for i, c := range calls {
		var call struct {
			Name  string
			Input json.RawMessage
		}
		if err := json.Unmarshal([]byte(c), &call); err != nil {
			panic(err)
		}
		send("content_block_start", map[string]any{"index": i, "content_block": map[string]any{"type": "tool_use", "id": fmt.Sprintf("c%d_%d", n, i), "name": call.Name, "input": map[string]any{}}})
		send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": "input_json_delta", "partial_json": string(call.Input)}})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop}, "usage": map[string]int{"output_tokens": 5}})
	send("message_stop", map[string]any{})
}

// unmarked is a value without the marks that tell a provider what to keep in its cache.
func unmarked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "cache_control")
		for k := range v {
			v[k] = unmarked(v[k])
		}
	case []any:
		for i := range v {
			v[i] = unmarked(v[i])
		}
	}
	return v
}

// continues reports whether a request begins with all that another one has.
func (a heard) continues(b heard) bool {
	if !bytes.Equal(a.System, b.System) || !bytes.Equal(a.Tools, b.Tools) || len(a.Messages) < len(b.Messages) {
		return false
	}
	for i, m := range b.Messages {
		if !bytes.Equal(a.Messages[i], m) {
			return false
		}
	}
	return true
}

// size is how many bytes a request has.
func (a heard) size() (n int) {
	for _, m := range a.Messages {
		n += len(m)
	}
	return n + len(a.System) + len(a.Tools)
}

// What a fork asks begins with what its parent asked, byte for byte, and all forks of a
// reply differ in nothing but their task. A fork cannot fork, and goes on in a later
// process with what it had.
func TestForks(t *testing.T) {
	dir, home := scratch(t)
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("some line of a file\n", 1900)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const forks = 10
	m := newMock(t, func(last string) (string, []string) {
		switch {
		case strings.Contains(last, "forks do not fork"):
			return "I do it myself.", nil
		case strings.Contains(last, "Part 3 of it"):
			return "", []string{`{"name":"Agent","input":{"description":"x","prompt":"x","subagent_type":"fork"}}`}
		case strings.Contains(last, "Part "):
			return "A part is done.", nil
		case strings.Contains(last, "What did you do?"):
			return "A part of it.", nil
		case strings.Contains(last, "fork it"):
			calls := []string{`{"name":"Glob","input":{"pattern":"*"}}`}
			for i := range forks {
				calls = append(calls, fmt.Sprintf(`{"name":"Agent","input":{"description":"part %d","prompt":"Part %d of it.","subagent_type":"fork","name":"f%d"}}`, i, i, i))
			}
			return "", calls
		case strings.Contains(last, "look at it"):
			return "", []string{`{"name":"Read","input":{"file_path":"a.txt"}}`, `{"name":"Read","input":{"file_path":"b.txt"}}`, `{"name":"Read","input":{"file_path":"c.txt"}}`, `{"name":"Bash","input":{"command":"export A=1; pwd"}}`}
		}
		return "Well.", nil
	})
	all, at, err := openAt(t, here(dir, home), m.settings(), Front{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := at.Start(t.Context(), Spec{})
	if err != nil {
		t.Fatal(err)
	}
	turn(t, r, "look at it")
	turn(t, r, "fork it")
	waitFor(t, "all forks have ended", func() bool {
		n := 0
		for _, f := range r.tree.List("") {
			if !f.Works() {
				n++
			}
		}
		return n == forks
	})
	parent := m.said(t, `"fork it"`)
	var same, whole int
	var first heard
	for _, a := range m.requests() {
		if !strings.Contains(a.last, "Part ") {
			continue
		}
		if !a.continues(parent) {
			t.Fatalf("a fork asks something else:\n%.2000s\nits parent:\n%.2000s", a.Messages, parent.Messages)
		}
		if first.last == "" {
			first = a
		}
		cut := func(s string) string { s, _, _ = strings.Cut(s, "Part "); return s }
		if cut(a.last) != cut(first.last) {
			t.Errorf("forks of a reply differ before their task:\n%s\n%s", a.last, first.last)
		}
		same, whole = same+parent.size(), whole+a.size()
	}
	if share := float64(same) / float64(whole); share < 0.98 {
		t.Errorf("%.1f %% of what forks ask was asked before", 100*share)
	} else {
		t.Logf("%.2f %% of what forks ask was asked before", 100*share)
	}
	f3, _ := r.tree.Find("f3")
	if f3.Status != event.TaskCompleted || f3.Text != "I do it myself." {
		t.Errorf("a fork that wants to fork: %s %q", f3.Status, f3.Text)
	}
	if st := r.State(); st.Helpers[event.ForAgent].Helped != forks+1 {
		t.Errorf("%d requests of agents are counted", st.Helpers[event.ForAgent].Helped)
	}
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}

	all, at, err = openAt(t, here(dir, home), m.settings(), Front{})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	again, err := at.Start(t.Context(), Spec{Log: sessions.Choice{Resume: r.ID}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.tree.Send(t.Context(), again.ID, fleet.Letter{To: "f3", Text: "What did you do?"}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the fork has gone on", func() bool { f, _ := again.tree.Find("f3"); return !f.Works() })
	if was, now := m.said(t, "forks do not fork"), m.said(t, "What did you do?"); !now.continues(was) {
		t.Errorf("a fork that goes on asks\n%.3000s\nand asked\n%.3000s", now.Messages, was.Messages)
	}
}
