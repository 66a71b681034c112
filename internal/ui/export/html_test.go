package export_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"image"
	"image/png"
	"iter"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/ui/browsertest"
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

// rich is a session with all that a page has to show, and with texts that would
// like to reach a server.
func rich(yield func(event.Event, error) bool) {
	use := func(id, name, in string) llm.Part { return llm.ToolUse{ID: id, Name: name, Input: json.RawMessage(in)} }
	var shot bytes.Buffer
	if err := png.Encode(&shot, image.NewRGBA(image.Rect(0, 0, 900, 200))); err != nil {
		panic(err)
	}
	lines := strings.Repeat("a line of output with some words in it that is rather long, longer than a telephone is wide\n", 40)
	leak := "![x](http://leak.test/a.png) <img src=http://leak.test/b.png> <link rel=prefetch href=http://leak.test/c> hunter2hunter2 "
	for i, b := range []event.Body{
		event.SessionStarted{ID: "01900000-0000-7000-8000-000000000000", Dir: "/src/app", Branch: "main", Schema: 1},
		event.InputAccepted{ID: "p1", Text: "Why does the needle test fail? Look at the screenshot, and mend it. " + leak, Images: []llm.Image{{Media: "image/png", Data: shot.Bytes()}, {Media: "image/svg+xml", Data: []byte("<svg/>")}}},
		event.TurnStarted{ID: "t", Model: "m"},
		event.ToolStarted{Call: "1", Name: "Bash", Title: "go test ./..."},
		event.ToolFinished{Call: "1", Name: "Bash", Text: lines, View: view.Terminal{Command: "go test ./...", Output: "\x1b[31mFAIL\x1b[0m calc_test.go:7: got 1, want 2\n" + lines, Exit: 1}, IsErr: true},
		event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{S: "The haystack is rounded down, so the deep needle is lost. " + leak}, llm.Text{S: "I run the tests first."}, use("1", "Bash", `{"command":"go test ./..."}`)}}},
		event.ToolStarted{Call: "2", Name: "Edit", Title: "calc.go"},
		event.ToolFinished{Call: "2", Name: "Edit", View: view.Diff{Path: "calc.go", Unified: "@@ -1,3 +1,3 @@\n func half(n int) int {\n-\treturn n / 2\n+\treturn (n + 1) / 2 // rounds up, as the test wants it to, and as the documentation says\n }\n", Added: 1, Removed: 1}},
		event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{use("2", "Edit", `{"file_path":"calc.go"}`)}}},
		event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "## What was wrong\n\n`half` rounded **down**, see [the notes](https://example.org/notes). " + strings.Repeat("The needle is found again. ", 8) + "\n\n| case | got | want |\n|---|---|---|\n| half(3) | 1 | 2 |\n| half(-3), which is a long name for a case | -1 | -1 |\n\n```go\nfunc half(n int) int {\n\treturn (n + 1) / 2\n}\n```\n\n- one\n- two\n" + leak}}}},
		event.Noted{Level: "warning", Text: "nearly full"},
		event.TurnEnded{ID: "t", How: event.Done},
	} {
		if !yield(event.Event{Seq: event.Seq(i + 1), Time: time.Date(2026, 1, 2, 3, 4, 5+i, 0, time.UTC), Body: b}, nil) {
			return
		}
	}
}

var keep = flag.String("keep", "", "write the page of the rich session to this file, to look at it")

func TestHTMLInABrowser(t *testing.T) {
	all := page(t, rich)
	if *keep != "" {
		if err := os.WriteFile(*keep, []byte(all), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(all, "hunter2") {
		t.Error("a secret is in the page")
	}
	wide := browsertest.Look(t, all, 1300, false, `
		const $ = id => doc.getElementById(id), shown = () => [...doc.querySelectorAll(".item")].filter(i => i.offsetHeight > 0);
		const r = {items: shown().length, over: doc.documentElement.scrollWidth - doc.documentElement.clientWidth};
		const fold = [...doc.querySelectorAll("details")].find(d => d.offsetHeight > 0), before = fold.offsetHeight;
		fold.querySelector("summary").click();
		r.unfolds = fold.open && fold.offsetHeight > before;
		$("unfold").click();
		r.all = [...doc.querySelectorAll("details")].every(d => d.open);
		$("unfold").click();
		r.none = [...doc.querySelectorAll("details")].every(d => !d.open);
		$("find").value = "NEEDLE"; $("find").oninput();
		r.told = $("told").textContent; r.found = shown().length; r.marked = win.CSS.highlights.get("hit").size;
		r.texts = [...win.CSS.highlights.get("hit")].every(h => h.toString().toLowerCase() == "needle");
		r.opened = [...doc.querySelectorAll("details")].filter(d => d.open).length;
		$("find").onkeydown({key: "Enter"}); r.here = $("told").textContent;
		$("find").value = "nothing has this"; $("find").oninput(); r.nothing = shown().length;
		$("find").onkeydown({key: "Escape"}); r.back = shown().length;
		r.closed = [...doc.querySelectorAll("details")].every(d => !d.open);
		const colour = () => win.getComputedStyle(doc.body).backgroundColor;
		r.light = colour(); $("look").click(); r.dark = colour();
		const img = doc.querySelectorAll("img"); r.images = img.length; r.loaded = img[0].naturalWidth; r.fits = img[0].offsetWidth <= doc.querySelector("main").offsetWidth;
		r.ugly = win.owned === true || doc.title != "Fix <it>";
		await wait(300);
		return r;`)
	for name, want := range map[string]any{"over": 0.0, "unfolds": true, "all": true, "none": true, "texts": true, "nothing": 0.0, "back": wide.Said["items"], "closed": true,
		"images": 1.0, "loaded": 900.0, "fits": true, "light": "rgb(251, 250, 248)", "dark": "rgb(21, 24, 28)", "ugly": false, "here": "1 of 10", "found": 3.0, "marked": 10.0} {
		if wide.Said[name] != want {
			t.Errorf("%s: %v, want %v", name, wide.Said[name], want)
		}
	}
	if n := wide.Number(t, "opened"); n < 1 {
		t.Error("the search opens no fold")
	}
	phone := browsertest.Look(t, all, 390, true, `
		const r = {width: win.innerWidth, over: doc.documentElement.scrollWidth - doc.documentElement.clientWidth};
		doc.getElementById("unfold").click();
		r.open = doc.documentElement.scrollWidth - doc.documentElement.clientWidth;
		r.size = parseFloat(win.getComputedStyle(doc.querySelector("pre")).fontSize);
		r.back = win.getComputedStyle(doc.body).backgroundColor;
		r.cut = [...doc.querySelectorAll("pre")].filter(p => p.offsetHeight > 0 && p.scrollWidth > p.clientWidth + 1).length;
		return r;`)
	for name, want := range map[string]any{"width": 390.0, "over": 0.0, "open": 0.0, "back": "rgb(21, 24, 28)"} {
		if phone.Said[name] != want {
			t.Errorf("on a phone: %s: %v, want %v", name, phone.Said[name], want)
		}
	}
	if n := phone.Number(t, "size"); n < 10 {
		t.Errorf("letters of %v px on a phone", n)
	}
	if n := phone.Number(t, "cut"); n > 0 {
		t.Errorf("%v texts are wider than a phone", n)
	}
	for _, s := range []browsertest.Seen{wide, phone} {
		if len(s.Leaks) > 0 {
			t.Errorf("requests leave the page: %v", s.Leaks)
		}
	}
}

// The browser's own policy stops what a text could still make of itself.
func TestBrowserSeesLeaks(t *testing.T) {
	open := browsertest.Look(t, `<!doctype html><title>x</title><img src="http://leak.test/a.png">`, 800, false, `await wait(300); return {}`)
	if len(open.Leaks) != 1 {
		t.Fatalf("a page without a policy: %v", open.Leaks)
	}
	planted := strings.Replace(page(t, hostile), "</main>", `<img src="http://leak.test/a.png" onerror="window.owned=true"><script>window.owned=true;fetch("http://leak.test/b")</script><style>body{background:url(http://leak.test/c)}</style></main>`, 1)
	s := browsertest.Look(t, planted, 800, false, `await wait(500); return {owned: win.owned === true, buttons: !!doc.getElementById("find").oninput}`)
	if len(s.Leaks) > 0 || s.Said["owned"] != false || s.Said["buttons"] != true {
		t.Errorf("%v, leaks %v", s.Said, s.Leaks)
	}
}
