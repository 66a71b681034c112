//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/store/jsonl"
	"github.com/adze-agent/adze/internal/transcript"
)

func (b *bench) all() []measurement {
	return []measurement{
		{"version", b.version}, {"hello", b.hello}, {"extensions", b.extensions}, {"steps", b.steps}, {"deltas", b.deltas},
		{"long", b.long}, {"parallel", b.parallel}, {"builds", b.builds}, {"size", b.size}, {"fold", b.fold}, {"grep", b.grep}, {"tree", b.tree}, {"agents", b.agents},
	}
}

func (b *bench) version() []figure {
	var xs []sample
	for range b.runs {
		xs = append(xs, b.run(nil, "--version"))
	}
	return []figure{{"adze --version", ms(durations(xs, wall)), "<= 6 ms"}}
}

// with plays one run of adze for each sample.
func (b *bench) with(n int, play func(int, io.Writer), args ...string) []sample {
	var xs []sample
	for range n {
		p, err := serve(play)
		check(err)
		xs = append(xs, b.run(p, args...))
		p.close()
	}
	return xs
}

func (b *bench) hello() []figure {
	play := func(_ int, w io.Writer) { say(w, "Hello.") }
	args := []string{"-p", "hello", "--model", "anthropic/claude-sonnet-4-6"}
	b.with(1, play, args...) // warms the cache
	xs := b.with(b.runs, play, args...)
	small := b.with(1, play, append(args, "--settings", `{"profile": "small"}`)...)
	return []figure{
		{"start to first request bytes", ms(durations(xs, first)), "< 40 ms"},
		{"hello: wall", ms(durations(xs, wall)), "<= 22 ms"},
		{"hello: peak RSS", mb(sizes(xs, rss)), "<= 22 MB"},
		{"hello: first request", kb(len(xs[0].bodies[0])), "<= 24 KB"},
		{"hello: first request, profile small", kb(len(small[0].bodies[0])), "<= 8 KB"},
	}
}

// noSandbox leaves confinement out, to measure it apart.
var noSandbox = []string{"--settings", `{"sandbox": {"enabled": false}}`}

func (b *bench) steps() []figure {
	const n = 50
	play := func(step int, w io.Writer) {
		if step > n {
			say(w, "Done.")
			return
		}
		use(w, step, fmt.Sprintf("echo step %d", step))
	}
	args := []string{"-p", "go", "--model", "anthropic/claude-sonnet-4-6", "--allowed-tools", "Bash(echo:*)"}
	inside := b.with(5, play, args...)
	xs := b.with(5, play, append(args, noSandbox...)...)
	same, possible := prefixes(xs[0].bodies)
	in, out := durations(inside, wall), durations(xs, wall)
	return []figure{
		{"50 shell steps: wall, no sandbox", ms(out), "< 500 ms"},
		{"50 shell steps: wall, in the sandbox", ms(in), "<= 450 ms"},
		{"sandbox: added to each step", ms((in - out) / n), "<= 4 ms"},
		{"50 steps: prompt bytes sent before", fmt.Sprintf("%.2f %%", 100*float64(same)/float64(possible)), ">= 99 % of the possible"},
	}
}

// prefixes adds up how many bytes of each prompt stand at the beginning of the
// next one. Cache markers move from step to step and are no part of the prompt
// that a provider compares, so they are taken out first.
func prefixes(bodies [][]byte) (same, possible int) {
	last := ""
	for _, body := range bodies {
		var q struct {
			System, Tools json.RawMessage
			Messages      []json.RawMessage
		}
		check(json.Unmarshal(body, &q))
		now := strip(q.Tools) + strip(q.System)
		for _, m := range q.Messages {
			now += strip(m)
		}
		if last != "" {
			possible += len(last)
			n := 0
			for n < len(last) && n < len(now) && last[n] == now[n] {
				n++
			}
			same += n
		}
		last = now
	}
	return same, possible
}

func strip(raw json.RawMessage) string {
	return strings.ReplaceAll(string(raw), `,"cache_control":{"type":"ephemeral"}`, "")
}

func (b *bench) deltas() []figure {
	const n = 200_000
	play := func(_ int, w io.Writer) { deltas(w, n) }
	args := []string{"-p", "go", "--model", "anthropic/claude-sonnet-4-6"}
	text := b.with(3, play, args...)
	stream := b.with(3, play, append(args, "--output-format", "stream-json", "--include-partial-messages")...)
	return []figure{
		{"200,000 deltas: CPU", ms(durations(text, cpu)), "< 600 ms"},
		{"200,000 deltas: peak RSS", mb(sizes(text, rss)), "< 45 MB"},
		{"200,000 deltas, all streamed out: CPU", ms(durations(stream, cpu)), "(no target)"},
		{"200,000 deltas, all streamed out: RSS", mb(sizes(stream, rss)), "(no target)"},
	}
}

func (b *bench) parallel() []figure {
	play := func(step int, w io.Writer) {
		if step > 1 {
			say(w, "Done.")
			return
		}
		var cs []string
		for range 8 {
			cs = append(cs, "sleep 1")
		}
		use(w, step, cs...)
	}
	args := []string{"-p", "go", "--model", "anthropic/claude-sonnet-4-6", "--allowed-tools", "Bash(sleep:*)"}
	inside := b.with(3, play, args...)
	xs := b.with(3, play, append(args, noSandbox...)...)
	return []figure{
		{"8 parallel calls of 1 s, no sandbox", ms(durations(xs, wall)), "< 1150 ms"},
		{"8 parallel calls of 1 s, in the sandbox", ms(durations(inside, wall)), "<= 1080 ms"},
	}
}

// builds compares the first go test of a project inside with one outside, when
// what it depends on was built before.
func (b *bench) builds() []figure {
	const script = `printf 'module m\n\ngo 1.24\n' > go.mod && printf 'package m\n\nimport (\n\t"net/http"\n\t"testing"\n)\n\nfunc TestM(*testing.T) { _ = http.MethodGet }\n' > m_test.go && go test -count=1 ./...`
	play := func(step int, w io.Writer) {
		if step > 1 {
			say(w, "Done.")
			return
		}
		use(w, step, script)
	}
	args := []string{"-p", "go", "--model", "anthropic/claude-sonnet-4-6", "--allowed-tools", "Bash,Write,Edit"}
	b.with(1, play, append(args, noSandbox...)...) // builds the library
	var inside, outside []sample
	for range 5 {
		inside = append(inside, b.with(1, play, args...)...)
		outside = append(outside, b.with(1, play, append(args, noSandbox...)...)...)
	}
	in, out := durations(inside, wall), durations(outside, wall)
	return []figure{{"go test, first of a project: in the sandbox", fmt.Sprintf("%.2f x (%.0f ms)", float64(in)/float64(out), float64(in)/float64(time.Millisecond)), "<= 1.2 x outside"}}
}

func (b *bench) size() []figure {
	info, err := os.Stat(b.bin)
	check(err)
	return []figure{{"binary, stripped", mb(info.Size()), "< 26 MB"}}
}

func (b *bench) fold() []figure {
	dir := filepath.Join(b.dir, "log")
	check(writeLog(dir, 100_000))
	self, err := os.Executable()
	check(err)
	var xs []sample
	for range 3 {
		cmd := exec.Command(self, "-fold", dir)
		cmd.Stderr = os.Stderr
		start := time.Now()
		check(cmd.Run())
		xs = append(xs, sample{wall: time.Since(start), rss: maxRSS(cmd.ProcessState)})
	}
	return []figure{
		{"fold 100,000 events: wall", ms(durations(xs, wall)), "< 1000 ms"},
		{"fold 100,000 events: peak RSS", mb(sizes(xs, rss)), "< 150 MB"},
	}
}

// writeLog makes a session of about n events: turns of a prompt, replies with
// a call, and results of about 600 bytes.
func writeLog(dir string, n int) error {
	log, err := jsonl.Open(jsonl.Options{Dir: dir, Key: make([]byte, 32)})
	if err != nil {
		return err
	}
	ctx, seq := context.Background(), event.Seq(0)
	add := func(b event.Body) {
		seq++
		check(log.Append(ctx, event.Event{Seq: seq, Time: time.Unix(int64(seq), 0), Body: b}))
	}
	add(event.SessionStarted{ID: "bench", Schema: event.Schema, Dir: "/w"})
	text := strings.Repeat("some output of a command\n", 24)
	for turn := 1; int(seq) < n; turn++ {
		add(event.InputQueued{ID: fmt.Sprint("p", turn), Text: "do the next thing"})
		add(event.InputAccepted{ID: fmt.Sprint("p", turn), Text: "do the next thing"})
		add(event.TurnStarted{ID: fmt.Sprint("t", turn), Model: "a/b"})
		for step := range 300 {
			id := fmt.Sprint("c", turn, ".", step)
			call := llm.ToolUse{ID: id, Name: "Bash", Input: json.RawMessage(`{"command":"make"}`)}
			add(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "I run make."}, call}}, Stop: llm.WantTools, Usage: llm.Usage{In: 10, Out: 20}, Model: "a/b"})
			add(event.ToolFinished{Call: id, Name: "Bash", Text: text})
		}
		add(event.TurnEnded{ID: fmt.Sprint("t", turn), How: event.Done, Reason: "completed"})
	}
	return log.Close()
}

func foldLog(dir string) error {
	log, err := jsonl.Open(jsonl.Options{Dir: dir, Key: make([]byte, 32)})
	if err != nil {
		return err
	}
	defer log.Close()
	var st transcript.State
	for e, err := range log.After(context.Background(), 0) {
		if err != nil {
			return err
		}
		st = st.Apply(e)
	}
	if r := log.Report(); r.Foreign > 0 {
		return fmt.Errorf("%d lines are not sealed", r.Foreign)
	}
	if st.Seq < 100_000 || len(st.Messages()) == 0 {
		return fmt.Errorf("folded only %d events", st.Seq)
	}
	return nil
}

// grep compares the search engine with ripgrep on the Go source tree, with
// the rules of the Grep tool: ignore files, hidden files, no binary ones.
func (b *bench) grep() []figure {
	rg, err := exec.LookPath("rg")
	if err != nil {
		return []figure{{"grep against ripgrep", "no rg here", ""}}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	check(err)
	tree := filepath.Join(strings.TrimSpace(string(root)), "src")
	var out []figure
	for _, c := range []struct {
		name, pattern string
		fold          bool
	}{
		{"rare literal", "ErrUnexpectedEOF", false}, {"common literal", "return", false},
		{"regex", `func \(.*\) ServeHTTP\(`, false}, {"regex without a literal", `[A-Z][a-z]+Error\b`, false},
		{"-i", "readresponse", true}, {"-i alternation", "context|deadline|cancel", true},
	} {
		args := []string{"--hidden", "-c", "-e", c.pattern, "."}
		if c.fold {
			args = append([]string{"-i"}, args...)
		}
		var ours, theirs []sample
		for range 7 {
			cmd := exec.Command(rg, args...)
			cmd.Dir = tree
			start := time.Now()
			_ = cmd.Run()
			theirs = append(theirs, sample{wall: time.Since(start)})
			start = time.Now()
			check(count(tree, c.pattern, c.fold))
			ours = append(ours, sample{wall: time.Since(start)})
		}
		o, t := durations(ours, wall), durations(theirs, wall)
		out = append(out, figure{"grep, " + c.name, fmt.Sprintf("%.2f x (%s)", float64(o)/float64(t), ms(o)), "<= 1.5 x ripgrep, goal 1.3"})
	}
	return out
}

// count has our engine count the matching lines of every file, as rg -c does.
func count(tree, pattern string, fold bool) error {
	_, _, err := search.Grep(context.Background(), search.Tree{Root: tree}, search.Query{Pattern: pattern, Fold: fold, Counts: true, Names: true})
	return err
}

// maxRSS is the largest resident size of a process that has ended, in bytes.
func maxRSS(p *os.ProcessState) int64 {
	ru := p.SysUsage().(*syscall.Rusage)
	if runtime.GOOS == "darwin" {
		return ru.Maxrss
	}
	return ru.Maxrss * 1024
}
