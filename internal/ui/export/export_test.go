package export_test

import (
	"encoding/json"
	"flag"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/ui/export"
	"github.com/adze-agent/adze/internal/view"
)

var update = flag.Bool("update", false, "rewrite goldens")

// join keeps the fake keys out of this file in one piece.
func join(parts ...string) string { return strings.Join(parts, "") }

func TestMask(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"nothing to see: skill-based sk-short task-123", "nothing to see: skill-based sk-short task-123"},
		{join("key=sk", "-ant-api03-AbCdEfGhIjKlMnOp_-x end"), "key=[masked] end"},
		{join("(AK", "IAIOSFODNN7EXAMPLE)"), "([masked])"},
		{join("gh", "p_0123456789abcdefghijABCDEFGHIJ012345"), "[masked]"},
		{join("github", "_pat_11ABCDEFG0abcdefghijkl_x"), "[masked]"},
		{join("AI", "zaSyA0123456789abcdefghijABCDEFGHIJ012"), "[masked]"},
		{join("xo", "xb-1234567890-abcdef"), "[masked]"},
		{join("a ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0In0.abc-_DEF b"), "a [masked] b"},
		{join("x\n-----BEGIN RSA PRIV", "ATE KEY-----\nMIIE\nabc\n-----END RSA PRIV", "ATE KEY-----\ny"), "x\n[masked]\ny"},
		{join("-----BEGIN PRIV", "ATE KEY-----\ncut"), "[masked]"},
		{"postgres://me:hunter22@db:5432/x https://a.b/c:d@e", "postgres://me:[masked]@db:5432/x https://a.b/c:d@e"},
		{"Authorization: Bearer abcdef123456", "Authorization: Bearer [masked]"},
		{`"x-api-key": "abcdef123456"`, `"x-api-key": "[masked]"`},
		{"given: my-secret-value-2 and my-secret-value, not short", "given: [masked] and [masked], not short"},
	} {
		if got := secret.New("short", "my-secret-value", "my-secret-value-2").String(c.in); got != c.want {
			t.Errorf("of %q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func events() iter.Seq2[event.Event, error] {
	use := func(id, name, in string) llm.Part {
		return llm.ToolUse{ID: id, Name: name, Input: json.RawMessage(in)}
	}
	bodies := []event.Body{
		event.SessionStarted{ID: "01900000-0000-7000-8000-000000000000", Dir: "/src/app", Branch: "main", Schema: 1},
		event.InputAccepted{Text: "fix it, password is hunter2hunter2\x1b[31m"},
		event.TurnStarted{ID: "t1", Model: "m"},
		event.ToolFinished{Call: "1", Name: "Bash", Text: "ran ```code``` \x1b[2Jhunter2hunter2"},
		event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			llm.Thinking{S: "hm"}, llm.Text{S: "Let me see."}, use("1", "Bash", `{"command":"cat x"}`), use("2", "Edit", `{"file_path":"/f"}`), use("3", "Read", `{}`), use("4", "Read", `{}`),
		}}},
		event.ToolFinished{Call: "3", Name: "Read", Denied: true, IsErr: true, Text: "no", Verdict: policy.Verdict{Reason: "a rule says so"}},
		event.ToolFinished{Call: "2", Name: "Edit", Text: "done", View: view.Diff{Path: "/f", Unified: "@@ -1 +1 @@\n-a\n+b\n", Added: 1, Removed: 1}},
		event.InputAccepted{Text: "go on", Hidden: true},
		event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "All done."}}}},
		event.Noted{Level: "warning", Text: "nearly full"},
		event.TurnEnded{ID: "t1", How: event.Interrupted},
	}
	return func(yield func(event.Event, error) bool) {
		for i, b := range bodies {
			if !yield(event.Event{Seq: event.Seq(i + 1), Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Body: b}, nil) {
				return
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; got\n%s", path, got)
	}
}

func TestMarkdown(t *testing.T) {
	var b strings.Builder
	if err := export.Markdown(&b, events(), export.Options{Title: "Fix it", Secrets: []string{"hunter2hunter2"}}); err != nil {
		t.Fatal(err)
	}
	golden(t, "session.md", b.String())
	if strings.Contains(b.String(), "hunter2") || strings.ContainsRune(b.String(), 0x1b) {
		t.Error("a secret or a control character is left")
	}
}

func TestJSON(t *testing.T) {
	var b strings.Builder
	if err := export.JSON(&b, events(), export.Options{Title: `a "plum" hunter2hunter2`, Secrets: []string{"hunter2hunter2"}}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "hunter2") {
		t.Error("a secret is left")
	}
	var page struct {
		Version int
		Title   string
		Events  []json.RawMessage
	}
	if err := json.Unmarshal([]byte(b.String()), &page); err != nil {
		t.Fatal(err)
	}
	if page.Version != 1 || !strings.HasPrefix(page.Title, `a "plum" `) || len(page.Events) != 11 {
		t.Errorf("version %d, title %q, %d events", page.Version, page.Title, len(page.Events))
	}
	for n, line := range page.Events {
		if e, err := event.ParseLine(line); err != nil || int(e.Seq) != n+1 {
			t.Errorf("event %d: %+v, %v", n, e, err)
		}
	}
	none := func(func(event.Event, error) bool) {}
	b.Reset()
	if err := export.JSON(&b, none, export.Options{}); err != nil || !json.Valid([]byte(b.String())) {
		t.Errorf("without events: %q, %v", b.String(), err)
	}
}

func TestJSONL(t *testing.T) {
	var b strings.Builder
	if err := export.JSONL(&b, events(), export.Options{Secrets: []string{"hunter2hunter2"}}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "hunter2") {
		t.Error("a secret is left")
	}
	n := 0
	for line := range strings.Lines(b.String()) {
		n++
		if e, err := event.ParseLine([]byte(line)); err != nil || int(e.Seq) != n {
			t.Errorf("line %d: %+v, %v", n, e, err)
		}
	}
	if n != 11 {
		t.Errorf("%d lines", n)
	}
}
