//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
)

// longSteps is how many steps the long session has.
const longSteps = 2000

// A stretch is what a strict provider saw of a long session.
type stretch struct {
	took           []time.Duration // between a reply and the next request
	cpu            []time.Duration // used until then, where the system says so
	pid            func() int
	prompt, cached int // bytes, but of requests after a compaction
	before, last   int // bytes that had been sent with the request before
	fullest        int // tokens, the most that a request and its reply had
	compactions    int
	anew           bool // the next request is the first after one
}

func (s *stretch) saw(a llmtest.Asked) {
	s.fullest = max(s.fullest, a.Prompt/4+a.MaxTokens)
	if s.took = append(s.took, a.Took); !s.anew {
		s.prompt += a.Prompt
		s.cached += a.Cached
		s.before += s.last
	}
	s.anew, s.last = false, a.Prompt
	s.cpu = append(s.cpu, cpuOf(s.pid()))
}

// reply answers a step with a call, and a request for a summary with one.
func (s *stretch) reply(_ int, body []byte) llmtest.Reply {
	if bytes.Contains(body, []byte("under these nine headings")) {
		s.took, s.cpu = s.took[:len(s.took)-1], s.cpu[:len(s.cpu)-1] // it is no step
		s.compactions++
		s.anew = true
		return llmtest.Say(strings.Repeat("what was done, and what is left to do. ", 60))
	}
	n := len(s.took) - 1
	if n >= longSteps {
		return llmtest.Say("Done.")
	}
	call := llm.ToolUse{ID: fmt.Sprint("toolu_", n), Name: "Bash"}
	in := any(obj{"command": fmt.Sprintf("echo step %d; seq 1 150", n)})
	switch {
	case n%4 == 1:
		call.Name, in = "Read", obj{"file_path": "big.txt", "offset": 1 + n, "limit": 60}
	case n%4 == 3:
		call.Name, in = "Grep", obj{"pattern": fmt.Sprintf("line %d1", n), "output_mode": "content"}
	}
	call.Input, _ = json.Marshal(in)
	return llmtest.Reply{Stop: llm.WantTools, ID: "msg_1", Parts: []llmtest.Part{
		{Part: llmtest.Signed(fmt.Sprint("what comes after step ", n, "?"))}, {Part: llm.Text{S: fmt.Sprintf("Step %d of the work.", n)}}, {Part: call},
	}}
}

// long runs a session of 2,000 steps against models of two windows.
func (b *bench) long() (out []figure) {
	for _, window := range []int{200_000, 32_000} {
		s := stretch{pid: func() int { return int(b.pid.Load()) }}
		srv := &llmtest.Strict{Wire: llmtest.Anthropic{}, Window: window, Every: 50, Play: s.reply, Seen: s.saw}
		ln := httptest.NewServer(srv)
		check(os.MkdirAll(filepath.Join(b.dir, fmt.Sprint("work", b.n+1)), 0o755))
		check(os.WriteFile(filepath.Join(b.dir, fmt.Sprint("work", b.n+1), "big.txt"), []byte(manyLines(3*longSteps)), 0o644))
		settings := fmt.Sprintf(`{"sandbox": {"enabled": false}, "models": {"anthropic/bench-1": {"window": %d, "output": 8192}}}`, window)
		x := b.run(&provider{url: ln.URL}, "-p", "go on until all is done", "--model", "anthropic/bench-1", "--allowed-tools", "Bash", "--settings", settings)
		ln.Close()
		what := fmt.Sprintf("2,000 steps, %d,000 tokens", window/1000)
		out = append(out,
			figure{what + ": wall", fmt.Sprintf("%.1f s", x.wall.Seconds()), "(no target)"},
			figure{what + ": steps, compactions", fmt.Sprintf("%d, %d", len(s.took)-1, s.compactions), "2000"},
			figure{what + ": refused, too long", fmt.Sprintf("%d, %d", len(srv.Refused()), srv.TooLong()), "0, 0"},
			figure{what + ": fullest request", fmt.Sprintf("%d tokens", s.fullest), fmt.Sprintf("<= %d", window)},
			figure{what + ": of what was sent before, cached", fmt.Sprintf("%.1f %%", 100*float64(s.cached)/float64(s.before)), ">= 95 %"},
			figure{what + ": of all that was sent, cached", fmt.Sprintf("%.1f %%", 100*float64(s.cached)/float64(s.prompt)), ">= 95 %"},
			figure{what + ": peak RSS", mb(x.rss), "< 80 MB"},
			figure{what + ": a step, first 100", ms(pace(s.took[1:101])), ""},
			figure{what + ": a step, last 100", ms(pace(s.took[len(s.took)-100:])), "<= 1.2 x the first"},
			figure{what + ": CPU of a step, first 100", ms((s.cpu[101] - s.cpu[1]) / 100), ""},
			figure{what + ": CPU of a step, last 100", ms((s.cpu[len(s.cpu)-1] - s.cpu[len(s.cpu)-101]) / 100), "<= 1.2 x the first"},
		)
		for _, r := range srv.Refused() {
			fmt.Println("refused:", r)
		}
	}
	return out
}

// cpuOf is how long a process was on a CPU, to 10 ms; 0 where the system does not say.
func cpuOf(pid int) time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, ok := strings.Cut(string(raw), ") ")
	f := strings.Fields(rest)
	if err != nil || !ok || len(f) < 15 {
		return 0
	}
	ticks := 0
	for _, x := range f[11:13] {
		n, _ := strconv.Atoi(x)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// pace is the median.
func pace(ds []time.Duration) time.Duration {
	ds = slices.Sorted(slices.Values(ds))
	return ds[len(ds)/2]
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of a file that is read bit by bit, with some words in it\n", i)
	}
	return b.String()
}
