//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
)

// A terminal is adze in a pseudo-terminal whose other side only keeps the
// bytes, so that no emulator takes the time that is measured.
type terminal struct {
	cmd   *exec.Cmd
	tty   *os.File
	start time.Time
	gone  chan struct{} // closed when adze has ended

	mu   sync.Mutex // guards what follows
	out  []byte
	last time.Time     // when the last of it came
	more chan struct{} // closed and made anew with each read
}

// patience bounds how long anything may take to appear.
const patience = 60 * time.Second

// probed ends the questions that adze asks a terminal; said answers them as
// one with synchronized output and a dark background does.
const (
	probed = "\x1b[16t\x1b[c"
	said   = "\x1b]11;rgb:1010/1010/1414\x1b\\\x1b[?2026;2$y\x1b[?62c"
)

// A stage is where adze is shown: its folder, its home, and its model.
type stage struct{ home, work string }

func (b *bench) stage(name string) stage {
	s := stage{filepath.Join(b.dir, "home"), filepath.Join(b.dir, name)}
	check(os.MkdirAll(s.home, 0o755))
	check(os.MkdirAll(s.work, 0o755))
	check(os.MkdirAll(filepath.Join(s.home, ".adze"), 0o700))
	check(os.WriteFile(filepath.Join(s.home, ".adze", "settings.json"), []byte("{}"), 0o600)) // no first start, which asks
	return s
}

// show opens the terminal UI on a script.
func (b *bench) show(s stage, script string, args ...string) *terminal {
	b.n++
	file := filepath.Join(b.dir, fmt.Sprint("script", b.n))
	check(os.WriteFile(file, []byte(script), 0o644))
	c := exec.Command(b.bin, append([]string{"--model", "script/" + file, "--sandbox", "off"}, args...)...)
	c.Dir = s.work
	c.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + b.dir, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}
	x := &terminal{cmd: c, gone: make(chan struct{}), more: make(chan struct{}), start: time.Now()}
	tty, err := pty.StartWithSize(c, &pty.Winsize{Cols: 120, Rows: 40})
	check(err)
	x.tty = tty
	go x.read() // ends with adze
	return x
}

func (x *terminal) read() {
	buf := make([]byte, 256<<10)
	for {
		n, err := x.tty.Read(buf)
		x.mu.Lock()
		asked := bytes.Contains(buf[:n], []byte(probed))
		x.out, x.last = append(x.out, buf[:n]...), time.Now()
		close(x.more)
		x.more = make(chan struct{})
		x.mu.Unlock()
		if asked {
			x.keys(said)
		}
		if err != nil {
			_ = x.cmd.Wait()
			close(x.gone)
			return
		}
	}
}

func (x *terminal) keys(s string) {
	_, err := x.tty.WriteString(s)
	check(err)
}

// at is how much was written so far.
func (x *terminal) at() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.out)
}

// until waits for a text among what was written after a place, and returns
// when it came.
func (x *terminal) until(text string, after int) time.Time {
	limit := time.After(patience)
	for {
		x.mu.Lock()
		found, last, more := bytes.Contains(x.out[after:], []byte(text)), x.last, x.more
		if !found { // the next search begins where a part of it may stand
			after = max(after, len(x.out)-len(text))
		}
		x.mu.Unlock()
		if found {
			return last
		}
		select {
		case <-more:
		case <-x.gone:
			check(fmt.Errorf("adze ended before it showed %q:\n%s", text, x.out[max(0, len(x.out)-2000):]))
		case <-limit:
			check(fmt.Errorf("adze never showed %q:\n%s", text, x.out[max(0, len(x.out)-2000):]))
		}
	}
}

// settled waits until nothing was written for a while, and returns when the
// last bytes came.
func (x *terminal) settled(quiet time.Duration) time.Time {
	for {
		x.mu.Lock()
		last, more := x.last, x.more
		x.mu.Unlock()
		select {
		case <-more:
		case <-x.gone:
			check(errors.New("adze ended"))
		case <-time.After(time.Until(last.Add(quiet))):
			return last
		}
	}
}

// open waits for the session, which the placeholder of the prompt box tells.
func (x *terminal) open() *terminal {
	x.until("What shall be done here", 0)
	x.settled(200 * time.Millisecond)
	return x
}

func (x *terminal) close() {
	_ = x.cmd.Process.Kill()
	<-x.gone
	_ = x.tty.Close()
}

// A load is what a process has used.
type load struct {
	cpu   time.Duration
	wakes int   // how often one of its threads stopped waiting
	rss   int64 // bytes, now
	peak  int64 // bytes, the most so far; rss where the system does not tell
}

func (x *terminal) load() (l load, ok bool) { return loadOf(x.cmd.Process.Pid) }

// loadOf asks the system about a process and those that it started; ok says whether it
// tells of CPU and wake-ups, too.
func loadOf(pid int) (l load, ok bool) {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	check(err)
	l.rss, err = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	check(err)
	l.rss *= 1024
	l.peak = l.rss
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
		_, after, _ := strings.Cut(string(status), "\nVmHWM:")
		if n, err := strconv.ParseInt(strings.Fields(after + " 0")[0], 10, 64); err == nil {
			l.peak = n * 1024
		}
	}
	if runtime.GOOS != "linux" {
		return l, false
	}
	return l, l.addThreads(pid)
}

func (l *load) addThreads(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	check(err)
	for _, dir := range threads {
		sched, err := os.ReadFile(filepath.Join(dir, "schedstat"))
		if err != nil {
			return false
		}
		var ns int64
		_, _ = fmt.Sscan(string(sched), &ns)
		l.cpu += time.Duration(ns)
		status, _ := os.ReadFile(filepath.Join(dir, "status"))
		_, after, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
		n := 0
		_, _ = fmt.Sscan(after, &n)
		l.wakes += n
		children, _ := os.ReadFile(filepath.Join(dir, "children"))
		for _, f := range strings.Fields(string(children)) {
			if id, err := strconv.Atoi(f); err == nil {
				_ = l.addThreads(id)
			}
		}
	}
	return len(threads) > 0
}
