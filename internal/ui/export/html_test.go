package export_test

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/ui/export"
	"github.com/adze-agent/adze/internal/view"
)

func page(t *testing.T, es iter.Seq2[event.Event, error]) string {
	t.Helper()
	var b strings.Builder
	if err := export.HTML(&b, es, export.Options{Title: "Fix <it>", Secrets: []string{"hunter2hunter2"}}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The conversation of the page is compared; the styles before it are the same
// for every page.
func TestHTML(t *testing.T) {
	got := page(t, events())
	if strings.Contains(got, "hunter2") || strings.ContainsRune(got, 0x1b) {
		t.Error("a secret or a control character is left")
	}
	_, body, _ := strings.Cut(got, "<body>")
	body, _, _ = strings.Cut(body, "<script>")
	golden(t, "session.html", body)
	for _, want := range []string{`<title>Fix &lt;it&gt;</title>`, "default-src 'none'", "prefers-color-scheme", "width=device-width", `datetime="2026-01-02T03:04:05Z"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

const attack = `"><script>document.title='owned'</script><img src=x onerror="document.title='owned'"><style>*{display:none}</style></pre></details>`

// hostile is a session in which every text would like to be a script.
func hostile(yield func(event.Event, error) bool) {
	for i, b := range []event.Body{
		event.SessionStarted{ID: attack, Dir: attack, Branch: attack, Schema: 1},
		event.InputAccepted{ID: attack, Text: attack, Attached: []event.Attached{{Name: attack, About: attack}}},
		event.TurnStarted{ID: "t", Model: attack},
		event.ToolStarted{Call: "1", Name: attack, Title: attack},
		event.ToolFinished{Call: "1", Name: attack, Text: attack, View: view.Terminal{Command: attack, Output: "\x1b[31m" + attack + "\x1b]8;;javascript:alert(1)\x1b\\x\x1b]8;;\x1b\\", Exit: 1, Note: attack}, IsErr: true},
		event.ToolFinished{Call: "2", Name: "Edit", View: view.Diff{Path: attack, Unified: "@@ -1 +1 @@\n-" + attack + "\n+b\n", Added: 1, Removed: 1}},
		event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{S: attack}, llm.Text{S: attack + "\n\n[go](javascript:document.title='owned') [there](https://example.org/a?b=c&d=\"e) <b onclick=x>\n\n```html\n" + attack + "\n```\n"}}}},
		event.Noted{Level: "error", Text: attack},
		event.TurnEnded{ID: "t", How: event.Failed, Err: attack, Hint: attack},
	} {
		if !yield(event.Event{Seq: event.Seq(i + 1), Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Body: b}, nil) {
			return
		}
	}
}

var tag = regexp.MustCompile(`<[^>]*>`)

// No text of a session becomes a tag or an attribute of its page.
func TestHTMLOfHostileText(t *testing.T) {
	got := page(t, hostile)
	allowed := regexp.MustCompile(`^<(/?(html|head|title|style|body|header|h1|p|label|main|pre|details|summary|script)|!doctype html|html lang="en"|meta [^>]*|input id="find"[^>]*|span id="told"[^>]*|button id="[a-z]+" type="button"|/button|/label|/input|/?section|section class="item( apart)?"|time datetime="[0-9TZ:+-]+"|/time|div class="[a-z]+"|/div|span class="[a-z0-9 ]+"|/span|a href="https?://[^"<>]*" rel="noopener noreferrer"|/a)>$`)
	_, body, _ := strings.Cut(got, "<body>")
	body, _, _ = strings.Cut(body, "<script>\n")
	for _, x := range tag.FindAllString(body[:strings.LastIndex(body, "</main>")], -1) {
		if !allowed.MatchString(x) {
			t.Errorf("the page has %s", x)
		}
	}
	if strings.Contains(strings.ToLower(got), `href="javascript`) {
		t.Error("a link runs a script")
	}
	if n := strings.Count(got, "<script>"); n != 1 {
		t.Errorf("%d scripts", n)
	}
}

// A browser runs the page's own script and none of the session's.
func TestHTMLInABrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
		}
	}
	if browser == "" {
		t.Skip("no Chromium is installed")
	}
	file := filepath.Join(t.TempDir(), "page.html")
	// The page's own script runs when the fold button works: press it on load is
	// not possible from outside, so the title and the number of items are looked at.
	if err := os.WriteFile(file, []byte(page(t, hostile)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+file)
	out, err := c.Output()
	if err != nil {
		t.Skipf("%s does not start here: %v", browser, err)
	}
	if s := string(out); !strings.Contains(s, "<title>Fix &lt;it&gt;</title>") || strings.Contains(s, "<img") {
		t.Errorf("the page is another one:\n%.2000s", s)
	}
}
