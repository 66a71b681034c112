//go:build unix

// Command bench measures what adze promises about speed, memory and size, and
// prints each figure beside its target. It builds adze, drives the real binary
// against a provider of its own on the loopback interface, and never fails
// because a figure is bad: it reports.
//
//	go run ./bench            everything
//	go run ./bench -only hello
//	go run ./bench -quick -only ui     the terminal UI, in a pseudo-terminal
//	go run ./bench -only huge -huge 1024     a session whose log has 1 GB
//	go run ./bench -only tree -files 1000000 repositories of 144,000 and of a million files
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/text/order"
)

func main() {
	only := flag.String("only", "", "measure only what has this in its name")
	bin := flag.String("adze", "", "measure this binary instead of building one")
	runs := flag.Int("runs", 15, "runs of each short measurement; the median counts")
	quick := flag.Bool("quick", false, "stream and idle for 10 seconds only")
	huge := flag.Int("huge", 0, "also make a session whose log has so many megabytes, and open it")
	files := flag.Int("files", 0, "also measure a repository of so many files, beside one of 144,000")
	fold := flag.String("fold", "", "fold the log in this folder and exit (used by the program itself)")
	flag.Parse()
	if *fold != "" {
		check(foldLog(*fold))
		return
	}
	dir, err := os.MkdirTemp("", "adze-bench-")
	check(err)
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, bin: *bin, runs: *runs, quick: *quick, huge: *huge, files: *files}
	if b.bin == "" {
		b.bin = filepath.Join(dir, "adze")
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.bin, "./cmd/adze")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		check(build.Run())
	}
	fmt.Printf("%s/%s, %d CPUs, %s, median of %d%s\n\n%-42s %22s   %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), b.runs, busy(), "what", "measured", "target")
	for _, m := range append(b.all(), b.terminal()...) {
		if !strings.Contains(m.name, *only) {
			continue
		}
		for _, f := range m.run() {
			fmt.Printf("%-42s %22s   %s\n", f.what, f.got, f.target)
		}
	}
}

// busy says how much else the machine does, where that can be read.
func busy() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	one, _, _ := strings.Cut(string(b), " ")
	return ", load " + one
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type bench struct {
	dir, bin string
	home     string // of runs, "" for the usual one
	runs     int
	quick    bool
	huge     int          // megabytes
	files    int          // of a tree
	work     string       // where runs work, "" for a fresh folder each
	n        int          // runs
	pid      atomic.Int64 // of the newest
}

type measurement struct {
	name string
	run  func() []figure
}

type figure struct{ what, got, target string }

// A sample is one run of the binary.
type sample struct {
	wall, cpu, first time.Duration
	rss              int64 // bytes, of the largest process
	own              int64 // bytes, of adze alone; 0 where that cannot be read
	bodies           [][]byte
}

// run starts adze against a provider, in a fresh folder or the one that is set, but a
// warm HOME.
func (b *bench) run(p *provider, args ...string) sample {
	b.n++
	work := cmp.Or(b.work, filepath.Join(b.dir, fmt.Sprint("work", b.n)))
	home := cmp.Or(b.home, filepath.Join(b.dir, "home"))
	check(os.MkdirAll(work, 0o755))
	check(os.MkdirAll(home, 0o755))
	cmd := exec.Command(b.bin, args...)
	cmd.Dir = work
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + b.dir, "ANTHROPIC_API_KEY=sk-bench"}
	if p != nil {
		cmd.Env = append(cmd.Env, "ANTHROPIC_BASE_URL="+p.url)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	start := time.Now()
	err := cmd.Start()
	check(err)
	b.pid.Store(int64(cmd.Process.Pid))
	peak := watchPeak(cmd.Process.Pid)
	err = cmd.Wait()
	wall := time.Since(start)
	if err != nil {
		check(fmt.Errorf("adze %v: %w\n%s", args, err, errs.String()))
	}
	s := sample{wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss: maxRSS(cmd.ProcessState), own: peak()}
	if p != nil {
		p.mu.Lock()
		s.bodies, s.first = p.bodies, p.first.Sub(start)
		p.mu.Unlock()
	}
	return s
}

// watchPeak reads every few milliseconds how much memory a process has had at most, without
// its children. What it returns ends that, and is the newest figure: 0 where the system
// does not tell.
func watchPeak(pid int) (end func() int64) {
	var peak int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { // ends with end
		defer close(done)
		tick := time.NewTicker(3 * time.Millisecond)
		defer tick.Stop()
		for {
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may be over
			if _, rest, ok := strings.Cut(string(b), "VmHWM:"); ok {
				var kb int64
				if _, err := fmt.Sscan(rest, &kb); err == nil {
					peak = kb * 1024
				}
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-done
		return peak
	}
}

func median[T any](xs []sample, of func(sample) T, less func(a, b T) int) T {
	vs := make([]T, 0, len(xs))
	for _, x := range xs {
		vs = append(vs, of(x))
	}
	order.By(vs, less)
	return vs[len(vs)/2]
}

func durations(xs []sample, of func(sample) time.Duration) time.Duration {
	return median(xs, of, func(a, b time.Duration) int { return int(a - b) })
}

func sizes(xs []sample, of func(sample) int64) int64 {
	return median(xs, of, func(a, b int64) int { return int(a - b) })
}

func wall(s sample) time.Duration  { return s.wall }
func first(s sample) time.Duration { return s.first }
func cpu(s sample) time.Duration   { return s.cpu }
func rss(s sample) int64           { return s.rss }
func own(s sample) int64           { return cmp.Or(s.own, s.rss) }

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
func mb(n int64) string         { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
func kb(n int) string           { return fmt.Sprintf("%.1f KB", float64(n)/1e3) }
