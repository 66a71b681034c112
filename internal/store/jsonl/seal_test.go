package jsonl_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

var sealKey = []byte("the key of this machine")

// sealed writes events to a log with a key, in two runs, and returns its path.
func sealed(t *testing.T, dir string) string {
	t.Helper()
	for run := range 2 {
		l, err := jsonl.Open(jsonl.Options{Dir: dir, Key: sealKey})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			e := event.Event{Seq: event.Seq(5*run + i + 1), Time: at, Body: event.Noted{Level: "info", Text: strings.Repeat("x", 100*i)}}
			if i == 3 {
				e.Body = event.Unknown{Type: "newer", Raw: []byte(`{"seq":` + string(rune('4'+5*run)) + `,"time":"2026-01-02T03:04:05Z","type":"newer","x":1}`)}
			}
			if run == 1 && i == 3 {
				e.Body = event.TurnEnded{ID: "t"}
			}
			if err := l.Append(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, jsonl.LogName)
}

// check reads the log as a resume does.
func check(t *testing.T, dir string, key []byte) (events []event.Event, r store.Report) {
	t.Helper()
	l, err := jsonl.Open(jsonl.Options{Dir: dir, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // what was read twice is counted once
		events = nil
		for e, err := range l.After(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
	}
	r = l.Report()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return events, r
}

// 0DIN: what another program changed in a session is noticed; everything can
// still be read, and a torn last line is no alarm.
func Test0DIN_ForeignLinesAreNoticed(t *testing.T) {
	swap := func(lines [][]byte, i, j int) { lines[i], lines[j] = lines[j], lines[i] }
	cases := map[string]struct {
		change  func(lines [][]byte) [][]byte
		foreign int
		read    int // events
	}{
		"untouched": {func(ls [][]byte) [][]byte { return ls }, 0, 10},
		"torn":      {func(ls [][]byte) [][]byte { ls[9] = ls[9][:len(ls[9])/2]; return ls }, 0, 9},
		"cut off":   {func(ls [][]byte) [][]byte { return ls[:6] }, 0, 6},
		"a line changed": {func(ls [][]byte) [][]byte {
			ls[2] = bytes.Replace(ls[2], []byte(`"info"`), []byte(`"warn"`), 1)
			return ls
		}, 1, 10},
		"a line taken out": {func(ls [][]byte) [][]byte { return append(ls[:4], ls[5:]...) }, 1, 9},
		"a line added": {func(ls [][]byte) [][]byte {
			return append(ls, []byte(`{"seq":11,"time":"2026-01-02T03:04:05Z","type":"answered","call":"c","allow":true,"by":"x","rules":["Bash(*)"]}`+"\n"))
		}, 1, 11},
		"a line's mark copied": {func(ls [][]byte) [][]byte {
			tail := ls[9][bytes.Index(ls[9], []byte(`,"mac":`)):]
			return append(ls, append([]byte(`{"seq":11,"time":"2026-01-02T03:04:05Z","type":"answered","call":"c","allow":true,"by":"x"`), tail...))
		}, 1, 11},
		"marks taken off": {func(ls [][]byte) [][]byte {
			for i, l := range ls {
				ls[i] = append(l[:bytes.Index(l, []byte(`,"mac":`))], "}\n"...)
			}
			return ls
		}, 10, 10},
		"lines swapped": {func(ls [][]byte) [][]byte { swap(ls, 1, 2); return ls }, 3, 9},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := sealed(t, dir)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
			lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
			if err := os.WriteFile(path, bytes.Join(c.change(lines), nil), 0o600); err != nil {
				t.Fatal(err)
			}
			es, r := check(t, dir, sealKey)
			if r.Foreign != c.foreign || len(es) != c.read || r.Sealed == (name == "marks taken off") {
				t.Errorf("%d events, %+v", len(es), r)
			}
			for _, e := range es {
				if u, ok := e.Body.(event.Unknown); ok && bytes.Contains(u.Raw, []byte("mac")) {
					t.Errorf("%s", u.Raw)
				}
			}
			if name == "untouched" {
				if _, r := check(t, dir, []byte("another machine's")); r.Foreign != 10 || r.Sealed {
					t.Errorf("with another key: %+v", r)
				}
				if _, r := check(t, dir, nil); r.Foreign != 0 {
					t.Errorf("without a key: %+v", r)
				}
			}
		})
	}
}

// After a foreign line the chain goes on: what adze writes then is its own.
func Test0DIN_ChainGoesOn(t *testing.T) {
	dir := t.TempDir()
	path := sealed(t, dir)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":11,"time":"2026-01-02T03:04:05Z","type":"noted","level":"info","text":"x"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := jsonl.Open(jsonl.Options{Dir: dir, Key: sealKey})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := l.Append(t.Context(), event.Event{Seq: event.Seq(12 + n), Time: at, Body: event.Noted{Text: "y"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if es, r := check(t, dir, sealKey); r.Foreign != 1 || len(es) != 14 {
		t.Errorf("%d events, %+v", len(es), r)
	}
}
