package llmtest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

func squeeze(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, s)
	_ = z.Close()
	return b.Bytes()
}

func packed(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say("all is well"), Raw: func(w http.ResponseWriter, frames []string) {
		w.Header().Set("Content-Encoding", "gzip")
		stream(w, string(squeeze(strings.Join(frames, ""))))
	}}, Step{Raw: func(w http.ResponseWriter, _ []string) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(400)
		_, _ = w.Write(squeeze(a.Wire.ErrorBody(400, "prompt is too long: 3 > 2")))
	}})
	if g := f.send(t, f.ask("hi")); g.Err != nil || g.Text != "all is well" {
		t.Errorf("%q %v", g.Text, g.Err)
	}
	f.fail(t, f.ask("hi"), llm.TooLong)
}

func bigText(t *testing.T, a Adapter, n int) {
	s := strings.Repeat("0123456789abcdef", n/16)
	f := newFixture(t, a, 0, Step{Reply: Reply{Stop: llm.EndTurn, Parts: []Part{{Part: llm.Text{S: s}, Pieces: []string{s}}}}})
	if g := f.send(t, f.ask("hi")); g.Err != nil || g.Text != s {
		t.Errorf("%d bytes, want %d: %v", len(g.Text), len(s), g.Err)
	}
}

func bigEvent(t *testing.T, a Adapter) { bigText(t, a, 1<<20) }

func bigLine(t *testing.T, a Adapter) { bigText(t, a, 10<<20) }

func bomb(t *testing.T, a Adapter) {
	if testing.Short() {
		t.Skip("unpacks a lot")
	}
	junk := squeeze(strings.Repeat("a", 24<<20))
	f := newFixture(t, a, 0, Step{Raw: func(w http.ResponseWriter, _ []string) {
		w.Header().Set("Content-Encoding", "gzip")
		stream(w, string(squeeze("data: "))+string(junk))
	}}, Step{Raw: func(w http.ResponseWriter, _ []string) {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(500)
		_, _ = w.Write(junk)
	}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f.fail(t, f.ask("hi"), llm.BadReply)
	f.fail(t, f.ask("hi"), llm.ServerError)
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 160 {
		t.Errorf("a bomb made us allocate %d MB", got)
	}
}
