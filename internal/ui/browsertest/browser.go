// Package browsertest looks at a page in a headless Chromium, for tests. The
// page is in a frame of another one, whose script does what a person would and
// says what it saw. It changes nothing of the page and reaches no network.
package browsertest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Seen is what a browser did with a page.
type Seen struct {
	Said map[string]any // what the script said
	// Leaks are requests for anything but the page, with the host they were for.
	Leaks []string
}

// Number is a number that the script said; it fails the test when it is none.
func (s Seen) Number(t *testing.T, name string) float64 {
	t.Helper()
	n, ok := s.Said[name].(float64)
	if !ok {
		t.Fatalf("%s is %v; all that was said: %v", name, s.Said[name], s.Said)
	}
	return n
}

// frame is the page around the page. A script gets the window of the page and
// returns an object; it may wait.
const frame = `<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="f" src="/page.html" style="border:0;width:%dpx;height:800px"></iframe><pre id="said"></pre>
<script>
const wait = ms => new Promise(r => setTimeout(r, ms));
const say = o => document.getElementById("said").textContent = JSON.stringify(o);
document.getElementById("f").onload = async () => {
  try { say(await (async (win, doc) => { %s })(f.contentWindow, f.contentDocument)); }
  catch (e) { say({failed: String(e)}); }
};
</script>`

var said = regexp.MustCompile(`(?s)<pre id="said">(.*?)</pre>`)

// chromium is the browser's path. Without one the test is skipped.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium is installed (apt-get install chromium): the page is looked at in no browser")
	return ""
}

// Look shows a page in a frame of a width, in pixels, and runs a script in it.
func Look(t *testing.T, page string, width int, dark bool, script string) Seen {
	t.Helper()
	browser := chromium(t)
	var mu sync.Mutex
	var out Seen
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch {
		case r.URL.Path == "/page.html" && r.URL.RawQuery == "":
			_, _ = w.Write([]byte(page))
		case r.URL.Path == "/frame.html":
			_, _ = fmt.Fprintf(w, frame, width, script)
		case r.URL.Path == "/favicon.ico": // of the frame
		default:
			mu.Lock()
			out.Leaks = append(out.Leaks, r.Host+r.URL.Path)
			mu.Unlock()
		}
	}))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	scheme := "1"
	if dark {
		scheme = "0"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// Whatever host is asked for, this server is.
	c := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--user-data-dir="+t.TempDir(), "--window-size=1400,1000",
		"--blink-settings=preferredColorScheme="+scheme, "--host-resolver-rules=MAP * "+host, "--timeout=30000", "--virtual-time-budget=20000",
		"--dump-dom", srv.URL+"/frame.html")
	c.WaitDelay = 5 * time.Second
	dom, err := c.Output()
	if err != nil {
		t.Skipf("%s does not start here: %v", browser, err)
	}
	m := said.FindSubmatch(dom)
	if m == nil || json.Unmarshal([]byte(html.UnescapeString(string(m[1]))), &out.Said) != nil {
		t.Fatalf("the script said nothing:\n%.3000s", dom)
	}
	mu.Lock()
	defer mu.Unlock()
	out.Leaks = slices.DeleteFunc(out.Leaks, func(l string) bool { // the browser's own
		h, _, _ := strings.Cut(l, "/")
		return strings.HasSuffix(h, ".googleapis.com") || strings.HasSuffix(h, ".google.com")
	})
	if f := out.Said["failed"]; f != nil {
		t.Fatalf("the script failed: %v", f)
	}
	return out
}
