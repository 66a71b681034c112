//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// perFolder is how many files of a made tree are in each folder.
const perFolder = 40

// makeTree makes a repository of so many files, twelve folders in each, and commits it.
func makeTree(dir string, files int) {
	for f := range files / perFolder {
		in := filepath.Join(dir, fmt.Sprint("pkg", f/144), fmt.Sprint("mod", f/12%12), fmt.Sprint("part", f%12))
		check(os.MkdirAll(in, 0o755))
		for n := range perFolder {
			check(os.WriteFile(filepath.Join(in, fmt.Sprint("file", n, ".go")), fmt.Appendf(nil, "package part%d\n\nvar V%d = %d\n", f%12, n, f), 0o644))
		}
	}
	check(os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello\n"), 0o644))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "one"}} {
		git := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "gc.auto=0"}, args...)...)
		git.Stderr = os.Stderr
		check(git.Run())
	}
}

// tree measures what a large repository costs beside a small one: each figure is that
// of the large one, with that of the small one behind it: of time, what a run takes beyond
// one that only says hello. A step is one of twenty after
// the first.
func (b *bench) tree() []figure {
	const steps = 21
	say1 := func(_ int, w io.Writer) { say(w, "Hello.") }
	echo := func(n int) func(int, io.Writer) {
		return func(step int, w io.Writer) {
			if step > n {
				say(w, "Done.")
				return
			}
			use(w, step, fmt.Sprintf("echo step %d", step))
		}
	}
	one := func(command string) func(int, io.Writer) {
		return func(step int, w io.Writer) {
			if step > 1 {
				say(w, "Done.")
				return
			}
			use(w, step, command)
		}
	}
	type costs struct {
		first, echo, step, sed, script time.Duration
		echoRSS, sedRSS, scriptRSS     int64
	}
	measure := func(files int) (c costs) {
		b.work = filepath.Join(b.dir, fmt.Sprint("tree", files))
		defer func() { b.work = "" }()
		if _, err := os.Stat(b.work); err != nil {
			makeTree(b.work, files)
		}
		args := []string{"-p", "go", "--model", "anthropic/claude-sonnet-4-6"}
		hello := b.with(5, say1, args...)
		base, c0 := durations(hello, wall), durations(hello, first)
		c.first = c0
		single, many := b.with(5, echo(1), args...), b.with(3, echo(steps), args...)
		c.echo, c.echoRSS = durations(single, wall)-base, sizes(single, own)
		c.step = (durations(many, wall) - durations(single, wall)) / (steps - 1)
		sed := b.with(5, one("sed -i s/hello/hello/ hello.txt"), args...)
		c.sed, c.sedRSS = durations(sed, wall)-base, sizes(sed, own)
		script := b.with(3, one(`sh -c 'echo hello >> hello.txt'; sh ./none.sh; true`), args...)
		c.script, c.scriptRSS = durations(script, wall)-base, sizes(script, own)
		return c
	}
	var out []figure
	small := measure(2 * perFolder)
	sizes := []int{144_000}
	if b.files > 0 {
		sizes = append(sizes, b.files)
	}
	for _, n := range sizes {
		large := measure(n)
		name := fmt.Sprintf("%d,000 files: ", n/1000)
		two := func(a, b time.Duration) string {
			return fmt.Sprintf("%s (%s)", ms(a), strings.TrimSuffix(ms(b), " ms"))
		}
		more := func(a, b int64) string { return "+" + mb(a-b) }
		out = append(out,
			figure{name + "first request", two(large.first, small.first), "<= 30 ms"},
			figure{name + "first command", two(large.echo, small.echo), "(no target)"},
			figure{name + "each step, in the sandbox", two(large.step, small.step), "<= 8 ms"},
			figure{name + "sed -i of one file", two(large.sed, small.sed), "<= 60 ms"},
			figure{name + "sed -i: peak RSS", more(large.sedRSS, small.sedRSS), "<= 20 MB more"},
			figure{name + "any other command", two(large.script, small.script), "(no target)"},
			figure{name + "any other command: peak RSS", more(large.scriptRSS, small.scriptRSS), "(no target)"},
		)
	}
	return out
}
