//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// What the terminal UI promises, measured in a pseudo-terminal of 120 x 40.
func (b *bench) terminal() []measurement {
	return []measurement{
		{"ui start", b.uiStart}, {"ui idle", b.uiIdle}, {"ui keys", b.uiKeys}, {"ui stream", b.uiStream},
		{"ui open", b.uiOpen}, {"ui huge", b.uiHuge}, {"ui files", b.uiFiles}, {"ui paste", b.uiPaste},
	}
}

func pick(long, short time.Duration, quick bool) time.Duration {
	if quick {
		return short
	}
	return long
}

func middle(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// spread is the median and the 95th percentile.
func spread(ds []time.Duration) string {
	m := middle(ds)
	return fmt.Sprintf("%s (p95 %s)", ms(m), ms(ds[len(ds)*95/100]))
}

func (b *bench) uiStart() []figure {
	s := b.stage("start")
	b.show(s, "> Hello.\n").open().close() // warms the cache
	var drawn, ready []time.Duration
	for range b.runs {
		x := b.show(s, "> Hello.\n")
		drawn = append(drawn, x.until("╰", 0).Sub(x.start))
		ready = append(ready, x.until("What shall be done here", 0).Sub(x.start))
		x.close()
	}
	return []figure{
		{"ui: start to prompt drawn", spread(drawn), "< 40 ms"},
		{"ui: start to session open", spread(ready), "(no target)"},
	}
}

func (b *bench) uiIdle() []figure {
	x := b.show(b.stage("idle"), "> Hello.\n").open()
	defer x.close()
	span := pick(30*time.Second, 10*time.Second, b.quick)
	time.Sleep(2 * time.Second)
	from, ok := x.load()
	at := x.at()
	figures := []figure{{"ui: RSS, idle after start", mb(from.rss), "< 40 MB"}}
	if !ok {
		return append(figures, figure{"ui: idle", "needs /proc", ""})
	}
	time.Sleep(span)
	to, _ := x.load()
	return append(figures,
		figure{fmt.Sprintf("ui: idle %.0f s: CPU", span.Seconds()), ms(to.cpu - from.cpu), "0.0 s"},
		figure{"ui: idle: wake-ups per second", fmt.Sprintf("%.2f", float64(to.wakes-from.wakes)/span.Seconds()), "0"},
		figure{"ui: idle: bytes written", fmt.Sprint(x.at() - at), "0"},
	)
}

// A typist types letters that stand nowhere else, so that each is found in
// the frame that shows it.
type typist struct {
	x    *terminal
	next rune
}

func (t *typist) key() time.Duration {
	r := string(t.next)
	t.next++
	at := t.x.at()
	start := time.Now()
	t.x.keys(r)
	return t.x.until(r, at).Sub(start)
}

func (b *bench) uiKeys() []figure {
	x := b.show(b.stage("keys"), "> Hello.\n").open()
	defer x.close()
	t := typist{x, '一'}
	var ds []time.Duration
	for range 100 {
		ds = append(ds, t.key())
		time.Sleep(20 * time.Millisecond)
	}
	return []figure{{"ui: key to frame, idle", spread(ds), "< 5 ms"}}
}

// page is Markdown of every kind, one line of a script each.
const page = `> ## A part with a **heading**
> 
> Some *prose* of a usual length, with ` + "`code`" + ` in it, a [link](https://example.com/a) and
> enough words to be wrapped more than once on a terminal of a hundred and twenty columns.
> 
> * a first point that says something, and goes on for a while
> * a second point with **strong** words
> 
> ` + "```go" + `
> // Sum adds the numbers.
> func Sum(nums []int) (sum int) {
> 	for i, n := range nums {
> 		sum += n * len("text") // every one of them
> 	}
> 	return sum
> }
> ` + "```" + `
> 
> | name | count |
> |---|---|
> | alpha | 12 |
> | beta | 7 |
> 
`

func (b *bench) uiStream() []figure {
	span := pick(60*time.Second, 10*time.Second, b.quick)
	const perPage = 100 // words of a page, about
	pages := int(span.Seconds())*200/perPage + 1
	text := strings.Repeat(page, pages)
	x := b.show(b.stage("stream"), "> Begin.\n---\n~5ms\n"+text+"> The end, ☙.\n").open()
	defer x.close()
	x.keys("warm up\r")
	x.until("Begin.", 0)
	x.settled(500 * time.Millisecond)
	t := typist{x, '一'}
	from, ok := x.load()
	at, start := x.at(), time.Now()
	x.keys("go\r")
	x.until("heading", at)
	var ds []time.Duration
	typed := time.Now().Add(span / 4) // keys cost frames of their own: only in a part of the time
	for time.Now().Before(typed) {
		ds = append(ds, t.key())
		time.Sleep(100 * time.Millisecond)
	}
	end := x.until("☙", at)
	took := end.Sub(start)
	to, _ := x.load()
	chars := utf8.RuneCountInString(strings.ReplaceAll(text, "\n> ", "\n"))
	words := len(strings.Fields(strings.ReplaceAll(text, "\n> ", "\n")))
	figures := []figure{
		{"ui: streamed", fmt.Sprintf("%.0f deltas/s", float64(words)/took.Seconds()), fmt.Sprintf("200, for %.0f s", took.Seconds())},
		{"ui: streaming: bytes per character", fmt.Sprintf("%.1f", float64(x.at()-at)/float64(chars)), "< 12"},
		{"ui: key to frame, streaming", spread(ds), "< 16 ms"},
		{"ui: streaming: RSS at the end", mb(to.rss), "(no target)"},
	}
	if ok {
		share := 100 * float64(to.cpu-from.cpu) / float64(took)
		figures = append(figures, figure{"ui: streaming: CPU", fmt.Sprintf("%.1f %% of a core", share), "< 10 %"})
	}
	return figures
}

func (b *bench) uiOpen() []figure {
	s := b.stage("open")
	id := b.longSession(s, 10_000)
	var ds []time.Duration
	var rss []int64
	written := 0
	for range 5 {
		x := b.show(s, "> Hello.\n", "--resume", id)
		ds = append(ds, x.until(lastWord, 0).Sub(x.start))
		x.settled(500 * time.Millisecond)
		l, _ := x.load()
		rss = append(rss, l.rss)
		written = x.at()
		x.close()
	}
	slices.Sort(rss)
	return []figure{
		{"ui: open 10,000 messages", spread(ds), "< 300 ms"},
		{"ui: open 10,000 messages: RSS", mb(rss[len(rss)/2]), "< 120 MB"},
		{"ui: open 10,000 messages: written", kb(written), "(no target)"},
	}
}

func (b *bench) uiFiles() []figure {
	s := b.stage("files")
	for d := range 1000 {
		dir := filepath.Join(s.work, fmt.Sprintf("group%02d", d%40), fmt.Sprintf("package%03d", d))
		check(os.MkdirAll(dir, 0o755))
		for f := range 100 {
			check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("source_%03d_part%02d.go", d, f)), nil, 0o644))
		}
	}
	x := b.show(s, "> Hello.\n").open()
	defer x.close()
	at, start := x.at(), time.Now()
	x.keys("@")
	listed := x.until("group", at).Sub(start)
	x.settled(2 * time.Second) // all of them are read
	var first, last []time.Duration
	for _, word := range []string{"source_517_part33", "s7p4", "package9part12", "group3source"} {
		for _, r := range word {
			start := time.Now()
			at := x.at()
			x.keys(string(r))
			x.until("\x1b", at)
			x.mu.Lock()
			first = append(first, x.last.Sub(start))
			x.mu.Unlock()
			last = append(last, x.settled(150*time.Millisecond).Sub(start))
		}
		x.keys("\x15@") // Ctrl+U
		x.settled(300 * time.Millisecond)
	}
	return []figure{
		{"ui: @ in 100,000 files: first list", ms(listed), "(no target)"},
		{"ui: @ in 100,000 files: key to frame", spread(first), "< 10 ms"},
		{"ui: @ in 100,000 files: key to last frame", spread(last), "< 10 ms"},
	}
}

func (b *bench) uiPaste() []figure {
	line := "a line of a text that somebody pastes into the prompt, 64 bytes\n"
	text := strings.Repeat(line, 1<<20/len(line))
	var shown, answered []time.Duration
	for range min(b.runs, 7) {
		x := b.show(b.stage("paste"), "> Hello.\n").open()
		at, start := x.at(), time.Now()
		x.keys("\x1b[200~" + text + "\x1b[201~Ѐ")
		shown = append(shown, x.until("[Pasted", at).Sub(start))
		answered = append(answered, x.until("Ѐ", at).Sub(start))
		x.close()
	}
	return []figure{
		{"ui: paste 1 MB: drawn", spread(shown), "< 100 ms"},
		{"ui: paste 1 MB: the key behind it", spread(answered), "(no target)"},
	}
}

// stageRun runs adze without a terminal.
func stageRun(b *bench, s stage, args ...string) (rss int64) {
	c := exec.Command(b.bin, args...)
	c.Dir, c.Env, c.Stderr = s.work, []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + b.dir}, os.Stderr
	check(c.Run())
	return maxRSS(c.ProcessState)
}
