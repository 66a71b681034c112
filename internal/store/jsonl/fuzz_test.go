package jsonl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

// Whatever is in the file: it opens, loses no byte, takes new events, and they
// are there when it is opened again.
func FuzzOpen(f *testing.F) {
	var good strings.Builder
	for _, e := range evs(1, 4) {
		line, err := event.AppendLine(nil, e)
		if err != nil {
			f.Fatal(err)
		}
		good.Write(append(line, '\n'))
	}
	for _, s := range []string{
		"", "\n", "\x00", "{}\n", good.String(), good.String() + "\x00\x00", good.String() + `{"seq":5`,
		good.String() + "\x00\n\x00\nx\n", strings.Repeat(good.String(), 2), `{"seq":18446744073709551615,"time":"2026-01-02T03:04:05Z","type":"noted"}` + "\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "log.jsonl")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		l := mustOpen(t, jsonl.Options{Dir: dir, Self: self(1, "a")})
		before := read(t, l, 0)
		rest, _ := os.ReadFile(path)
		torn, _ := os.ReadFile(filepath.Join(dir, "log.torn"))
		if string(rest)+string(torn) != string(raw) {
			t.Fatalf("%q became %q and %q", raw, rest, torn)
		}
		next := event.Seq(1)
		for _, e := range before {
			if e.Seq < next {
				t.Fatalf("seq %d comes after %d", e.Seq, next-1)
			}
			next = e.Seq + 1
		}
		if next == 0 {
			return // no seq is left
		}
		e := ev(3)
		e.Seq = next
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		want(t, mustOpen(t, jsonl.Options{Dir: dir, Self: self(1, "a")}), 0, append(before, e))
	})
}
