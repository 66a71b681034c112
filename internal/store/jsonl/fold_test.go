package jsonl_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/store/jsonl"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/view"
)

// session makes the events of a long session: turns of ten steps with a call
// each, whose results are size bytes. Old results are cleared every 100 turns,
// as a loop does when the window fills.
func session(n, size int, yield func(event.Body)) {
	body := strings.Repeat("line of a file that was read\n", size/29+1)[:size]
	var calls []string
	yield(event.SessionStarted{ID: "s", Schema: 1})
	for i, turn := 1, 0; i < n; turn++ {
		id := fmt.Sprintf("t%d", turn)
		yield(event.InputAccepted{ID: id, Text: "please look at the next part and tell me what it does"})
		yield(event.TurnStarted{ID: id, Model: "anthropic/x", Mode: policy.Default})
		i += 3
		for step := range 10 {
			call := fmt.Sprintf("%s-%d", id, step)
			in := json.RawMessage(fmt.Sprintf(`{"file_path":"/src/pkg/file%d.go","limit":200}`, i%200))
			yield(event.Replied{
				Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "Let me read it."}, llm.ToolUse{ID: call, Name: "Read", Input: in}}},
				Stop:    llm.WantTools, Usage: llm.Usage{In: 100, Out: 50, CacheRead: 10000}, Model: "anthropic/x", Cost: 0.01, Priced: true,
			})
			yield(event.ToolStarted{Call: call, Name: "Read", Input: in, Title: "Read file"})
			yield(event.ToolFinished{
				Call: call, Name: "Read", Text: body, View: view.Code{Path: "/src/file.go", First: 1, S: body},
				Effects: []effect.Effect{effect.Saw{Files: []effect.File{{Path: fmt.Sprintf("/src/pkg/file%d.go", i%200), Size: int64(size), Hash: "0123456789abcdef"}}}},
			})
			i += 3
			calls = append(calls, call)
		}
		if turn%100 == 99 {
			yield(event.Cleared{Calls: calls[:len(calls)-5]})
			calls, i = calls[len(calls)-5:], i+1
		}
		yield(event.TurnEnded{ID: id, How: event.Done})
	}
}

func writeSession(tb testing.TB, n, size int) (dir string) {
	dir = tb.TempDir()
	f, err := os.Create(filepath.Join(dir, "log.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	seq, buf := event.Seq(0), []byte(nil)
	session(n, size, func(b event.Body) {
		seq++
		if buf, err = event.AppendLine(buf, event.Event{Seq: seq, Time: at, Body: b}); err != nil {
			tb.Fatal(err)
		}
		if buf = append(buf, '\n'); len(buf) > 1<<20 {
			if _, err := f.Write(buf); err != nil {
				tb.Fatal(err)
			}
			buf = buf[:0]
		}
	})
	if _, err := f.Write(buf); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func foldDir(tb testing.TB, dir string) transcript.State {
	r, err := jsonl.OpenReader(jsonl.Options{Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	var s transcript.State
	for e, err := range r.After(tb.Context(), 0) {
		if err != nil {
			tb.Fatal(err)
		}
		s = s.Apply(e)
	}
	return s
}

// Memory grows with what can still be sent, not with the log.
func TestFault18_FoldKeepsOnlyTheWindow(t *testing.T) {
	slowtest.Turn(t)
	dir := writeSession(t, 8_000, 4000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	s := foldDir(t, dir)
	took := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	info, err := os.Stat(filepath.Join(dir, "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d events, %d MB: %v, %d KB held", s.Seq, info.Size()>>20, took, held>>10)
	if held > info.Size()/4 {
		t.Errorf("%d of %d bytes are held", held, info.Size())
	}
	runtime.KeepAlive(s)
}

func BenchmarkFold(b *testing.B) {
	for _, size := range []int{400, 2000} {
		b.Run(fmt.Sprintf("100000events/%dB", size), func(b *testing.B) {
			dir := writeSession(b, 100_000, size)
			info, _ := os.Stat(filepath.Join(dir, "log.jsonl"))
			b.SetBytes(info.Size())
			b.ResetTimer()
			for b.Loop() {
				s := foldDir(b, dir)
				if s.Seq < 100_000 {
					b.Fatal(s.Seq)
				}
			}
			b.ReportMetric(rss(b), "peakMB")
		})
	}
}

// rss is the largest resident size of this process so far, in MB.
func rss(tb testing.TB) float64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip("no /proc here")
	}
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	var kb float64
	_, _ = fmt.Sscan(rest, &kb)
	return kb / 1024
}
