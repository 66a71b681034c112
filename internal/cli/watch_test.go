package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

// What is written stands above the line that goes away, which is there again
// behind each whole line, and not when it was taken away.
func TestAbove(t *testing.T) {
	var b strings.Builder
	a := &above{to: &b}
	step := func(want string, do func()) {
		t.Helper()
		b.Reset()
		if do(); b.String() != want {
			t.Errorf("wrote %q, want %q", b.String(), want)
		}
	}
	write := func(s string) func() {
		return func() {
			if n, err := a.Write([]byte(s)); n != len(s) || err != nil {
				t.Error(n, err)
			}
		}
	}
	stand := func(s string) func() {
		return func() {
			var line []byte
			if s != "" {
				line = []byte(s)
			}
			if err := a.stand(line); err != nil {
				t.Error(err)
			}
		}
	}
	step("one\n", write("one\n"))
	step("runs", stand("runs"))
	step("\r\x1b[Ka notice\nruns", write("a notice\n"))
	step("\r\x1b[Kruns on", stand("runs on"))
	step("\r\x1b[Khalf", write("half"))
	step(" a line\n", write(" a line\n"))
	step("runs", stand("runs"))
	step("\r\x1b[K", stand(""))
	step("two\n", write("two\n"))
}

// What an event came to is printed above the line of what runs, which counts seconds
// and is gone with the turn.
func TestWatcherAround(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var b strings.Builder
	w := watching(System{Stdout: &Output{File: null}, Stderr: &above{to: &b}, Environ: []string{"TERM=xterm"}})
	now := time.Unix(0, 0)
	w.now, w.color = func() time.Time { return now }, painter{theme: w.color.theme}
	step := func(want string, do func()) {
		t.Helper()
		b.Reset()
		if do(); b.String() != want {
			t.Errorf("wrote %q, want %q", b.String(), want)
		}
	}
	around := func(body event.Body, says string) func() {
		return func() {
			w.around(event.Event{Time: now, Body: body}, func() { w.st.Apply(event.Event{Time: now, Body: body}); b.WriteString(says) })
		}
	}
	blanks := strings.Repeat
	step("said\n", around(event.TurnStarted{ID: "t"}, "said\n"))
	now = now.Add(3 * time.Second)
	step("○ waits for the model"+blanks(" ", 53)+"3 s", func() { w.mu.Lock(); w.running(); w.mu.Unlock() })
	step("\r\x1b[Kmore\n○ Bash   ls", around(event.ToolStarted{Call: "1", Name: "Bash", Title: "Bash ls"}, "more\n"))
	now = now.Add(2 * time.Second)
	step("\r\x1b[K○ Bash   ls"+blanks(" ", 63)+"2 s", func() { w.mu.Lock(); w.running(); w.mu.Unlock() })
	step("\r\x1b[Kover\n", around(event.TurnEnded{ID: "t"}, "over\n"))
	step("", w.stop)
	var none *watcher
	step("all the same", func() { none.around(event.Event{}, func() { b.WriteString("all the same") }); none.stop() })
}
