//go:build unix

package cli_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// A terminal is adze in a pseudo-terminal, and an emulator that shows what a
// person would see.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	done chan error

	mu    sync.Mutex // guards what follows
	emu   *vt.Emulator
	bytes []byte // all that was written to it
	more  chan struct{}
}

// waitFor bounds how long a screen may take to show something.
const waitFor = time.Minute

// ui starts adze in a terminal with a script as its model.
func (p *place) ui(cols, rows int, model string, flags ...string) *terminal {
	p.t.Helper()
	p.startedBefore()
	c := p.adze(append([]string{"--model", "script/" + p.put("model.txt", model), "--sandbox", "off"}, flags...)...)
	return p.inTerminal(c, cols, rows)
}

// startedBefore makes this not the person's first start.
func (p *place) startedBefore() {
	p.t.Helper()
	settings := filepath.Join(p.home, ".adze", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte("{}"), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) inTerminal(c *exec.Cmd, cols, rows int, env ...string) *terminal {
	p.t.Helper()
	c.Env = append(append(c.Env, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"), env...)
	x := &terminal{t: p.t, cmd: c, emu: vt.NewEmulator(cols, rows), done: make(chan error, 1), more: make(chan struct{}, 1)}
	tty, err := pty.StartWithSize(c, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		p.t.Fatal(err)
	}
	x.tty = tty
	go x.read() // ends with the process
	go func() { // answers of the emulator; ends when its pipe is closed
		_, _ = io.Copy(tty, x.emu)
	}()
	p.t.Cleanup(func() {
		_ = c.Process.Kill()
		<-x.done
		_ = tty.Close()
		if c, ok := x.emu.InputPipe().(io.Closer); ok { // Close of the emulator itself races with its Read
			_ = c.Close()
		}
	})
	return x
}

func (x *terminal) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := x.tty.Read(buf)
		x.mu.Lock()
		_, _ = x.emu.Write(buf[:n])
		x.bytes = append(x.bytes, buf[:n]...)
		x.mu.Unlock()
		select {
		case x.more <- struct{}{}:
		default:
		}
		if err != nil {
			x.done <- x.cmd.Wait()
			close(x.done)
			return
		}
	}
}

// screen is what is seen, row by row.
func (x *terminal) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return trimmed(x.emu.String())
}

// all is the scrollback and the screen.
func (x *terminal) all() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var b strings.Builder
	for i := range x.emu.Scrollback().Len() {
		b.WriteString(x.emu.Scrollback().Line(i).String() + "\n")
	}
	return trimmed(b.String() + x.emu.String())
}

func trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// until waits for the screen to match.
func (x *terminal) until(pattern string) string {
	x.t.Helper()
	return x.when(pattern, func(s string) bool { return regexp.MustCompile(pattern).MatchString(s) })
}

// gone waits for the screen not to match any more.
func (x *terminal) gone(pattern string) string {
	x.t.Helper()
	return x.when("no "+pattern, func(s string) bool { return !regexp.MustCompile(pattern).MatchString(s) })
}

func (x *terminal) when(what string, holds func(string) bool) string {
	x.t.Helper()
	limit, look := time.After(waitFor), time.NewTicker(50*time.Millisecond)
	defer look.Stop()
	for {
		s := x.screen()
		if holds(s) {
			return s
		}
		select {
		case <-x.more:
		case <-look.C: // what holds may be of files, not of the screen
		case <-limit:
			x.t.Fatalf("the screen never showed %s:\n%s", what, x.all())
		}
	}
}

// made waits for a file.
func (x *terminal) made(path string) {
	x.t.Helper()
	limit, look := time.After(waitFor), time.NewTicker(10*time.Millisecond)
	defer look.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-look.C:
		case <-limit:
			x.t.Fatalf("%s was never made:\n%s", path, x.all())
		}
	}
}

// keys types, each string in one write.
func (x *terminal) keys(keys ...string) {
	x.t.Helper()
	for _, k := range keys {
		if _, err := x.tty.WriteString(k); err != nil {
			x.t.Fatal(err)
		}
	}
}

// dialog waits for a dialog and until it takes keys.
func (x *terminal) dialog(pattern string) string {
	x.t.Helper()
	s := x.until(pattern)
	time.Sleep(650 * time.Millisecond) // the guard against keys that were meant for something else: a person's pace, not a race
	return s
}

func (x *terminal) resize(cols, rows int) {
	x.t.Helper()
	x.mu.Lock()
	x.emu.Resize(cols, rows)
	x.mu.Unlock()
	if err := pty.Setsize(x.tty, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		x.t.Fatal(err)
	}
}

// ended waits for the process and returns its exit code.
func (x *terminal) ended() int {
	x.t.Helper()
	select {
	case <-x.done:
	case <-time.After(waitFor):
		x.t.Fatalf("adze does not end:\n%s", x.all())
	}
	return x.cmd.ProcessState.ExitCode()
}

// restored checks that every mode that was set was taken back.
func (x *terminal) restored() {
	x.t.Helper()
	x.off(2004, 1004, 1049, 1000, 1006)
	x.mu.Lock()
	defer x.mu.Unlock()
	out := string(x.bytes)
	if strings.LastIndex(out, "\x1b[?25l") > strings.LastIndex(out, "\x1b[?25h") {
		x.t.Error("the cursor is hidden")
	}
	if n, m := strings.Count(out, "\x1b[>1u"), strings.Count(out, "\x1b[<u"); n > m {
		x.t.Error("the keyboard mode is still on")
	}
}

// off checks that modes are off.
func (x *terminal) off(modes ...int) {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	out := string(x.bytes)
	for _, mode := range modes {
		on, off := fmt.Sprintf("\x1b[?%dh", mode), fmt.Sprintf("\x1b[?%dl", mode)
		if strings.LastIndex(out, on) > strings.LastIndex(out, off) {
			x.t.Errorf("mode %d is still on", mode)
		}
	}
}
