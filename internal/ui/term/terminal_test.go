//go:build unix

package term

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/creack/pty"
	xterm "golang.org/x/term"
)

func TestMain(m *testing.M) {
	if how := os.Getenv("TERM_TEST_CHILD"); how != "" {
		child(how)
		return
	}
	os.Exit(m.Run())
}

// child is a program with a terminal that ends in some way. It says each
// event that it gets in its live area.
func child(how string) {
	th, _ := draw.Named("dark", true)
	t, err := Open(Options{In: os.Stdin, Out: os.Stdout, Env: os.Getenv, Theme: th, Profile: draw.Profile{Depth: draw.TrueColor}})
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	defer t.Recover()
	live := func(s string) { t.Screen.Live([]draw.Line{draw.L(draw.S(s, draw.Accent)), nil}, Cursor{Col: 3}) }
	say := func(s string) { t.Screen.Print([]draw.Line{draw.L(draw.S(s, draw.Plain))}) }
	live("ready.")
	t.Probe()
	t.Title("a title")
	for ev := range t.Events() {
		switch ev := ev.(type) {
		case Key:
			say("key " + ev.String() + ".")
			switch ev.String() {
			case "q":
				if err := t.Close(how == "keep"); err != nil {
					fmt.Println(err)
				}
				return
			case "p":
				panic("boom")
			case "g":
				go func() {
					defer t.Recover()
					panic("boom")
				}()
			case "f":
				t.Screen.Full(true)
				t.Mouse(true)
				live("full.")
			case "ctrl+z":
				t.Suspend()
			}
		case Paste:
			say(fmt.Sprintf("paste %q.", ev.Text))
		case Resize:
			say(fmt.Sprintf("size %d %d.", t.Size().Cols, t.Size().Rows))
		case Background:
			say(fmt.Sprintf("dark %v.", ev.Dark))
		case Caps:
			say(fmt.Sprintf("caps %+v.", ev.Caps))
		case Focus:
			say(fmt.Sprintf("focus %v.", ev.In))
		case Wheel:
			say(fmt.Sprintf("wheel down %v.", ev.Down))
		case Resumed:
			say("resumed.")
		case Stop:
			_ = t.Close(true)
			fmt.Printf("stopped by %q.\n", ev.Signal)
			os.Exit(7)
		}
	}
}

// A session is a child in a pseudo-terminal.
type session struct {
	t        *testing.T
	cmd      *exec.Cmd
	ptm, tty *os.File
	before   *xterm.State
	mu       sync.Mutex
	out      bytes.Buffer
	more     chan struct{} // closed when more came
	exited   chan error
	stop     atomic.Bool // the reader ends with what it reads next
	stopped  chan struct{}
}

func start(t *testing.T, how string) *session {
	t.Helper()
	ptm, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	s := &session{t: t, ptm: ptm, tty: tty, exited: make(chan error, 1), stopped: make(chan struct{}), more: make(chan struct{})}
	if err := pty.Setsize(ptm, &pty.Winsize{Cols: 160, Rows: 12}); err != nil {
		t.Fatal(err)
	}
	if s.before, err = xterm.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append(os.Environ(), "TERM_TEST_CHILD="+how, "TERM=xterm-256color", "TMUX=", "STY=", "NO_COLOR=")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends when the terminal is closed
		defer close(s.stopped)
		buf := make([]byte, 4096)
		for {
			n, err := ptm.Read(buf)
			s.mu.Lock()
			s.out.Write(buf[:n])
			close(s.more)
			s.more = make(chan struct{})
			s.mu.Unlock()
			if err != nil || s.stop.Load() {
				return
			}
		}
	}()
	go func() { s.exited <- s.cmd.Wait() }() // ends with the child
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = tty.Close()
		_ = ptm.Close()
	})
	s.wait("ready.")
	return s
}

func (s *session) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func (s *session) wait(text string) {
	s.t.Helper()
	for late := time.After(time.Minute); ; {
		s.mu.Lock()
		there, more := strings.Contains(s.out.String(), text), s.more
		s.mu.Unlock()
		if there {
			return
		}
		select {
		case <-more:
		case <-late:
			s.t.Fatalf("%q never came: %q", text, s.said())
		}
	}
}

func (s *session) send(b string) {
	s.t.Helper()
	if _, err := s.ptm.WriteString(b); err != nil {
		s.t.Fatal(err)
	}
}

var mode = regexp.MustCompile(`\x1b\[\?(\d+)([hl])`)

// restored fails when a mode is still on, or the lines are not cooked.
func (s *session) restored() {
	s.t.Helper()
	if _, err := s.tty.WriteString("(end)"); err != nil { // behind all that the child wrote
		s.t.Fatal(err)
	}
	s.wait("(end)")
	on := map[string]bool{"7": true, "25": true}
	for _, m := range mode.FindAllStringSubmatch(s.said(), -1) {
		on[m[1]] = m[2] == "h"
	}
	for m, is := range on {
		if want := m == "7" || m == "25"; is != want {
			s.t.Errorf("mode %s is %v: %q", m, is, s.said())
		}
	}
	after, err := xterm.GetState(int(s.tty.Fd()))
	if err != nil {
		s.t.Fatal(err)
	}
	if !reflect.DeepEqual(s.before, after) {
		s.t.Errorf("the lines of the terminal were %v, and are %v", s.before, after)
	}
}

func (s *session) ends() int {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(time.Minute):
		s.t.Fatalf("the child does not end: %q", s.said())
	}
	return s.cmd.ProcessState.ExitCode()
}

func TestTheTerminalIsPutBack(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		sig        syscall.Signal
		code       int
	}{
		{"normal", "q", 0, 0}, {"keep", "q", 0, 0}, {"panic", "p", 0, 2}, {"panic in a goroutine", "g", 0, 2}, {"panic in full screen", "fp", 0, 2},
		{"sigterm", "", syscall.SIGTERM, 7}, {"sighup", "f", syscall.SIGHUP, 7}, {"sigint", "", syscall.SIGINT, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, c.name)
			for _, k := range c.keys {
				s.send(string(k))
				if k == 'f' {
					s.wait("full.")
				}
			}
			if c.sig != 0 {
				if err := s.cmd.Process.Signal(c.sig); err != nil {
					t.Fatal(err)
				}
			}
			if code := s.ends(); code != c.code {
				t.Errorf("it ended with %d, not %d: %q", code, c.code, s.said())
			}
			if c.code == 2 {
				s.wait("boom")
			}
			s.restored()
		})
	}
}

func TestTheTerminalIsGone(t *testing.T) {
	s := start(t, "gone")
	s.stop.Store(true)
	s.send("a")
	<-s.stopped // a terminal that is being read cannot be closed
	_ = s.tty.Close()
	_ = s.ptm.Close()
	if code := s.ends(); code != 7 && code != -1 {
		t.Errorf("it ended with %d", code)
	}
}

func TestSuspendAndResume(t *testing.T) {
	s := start(t, "suspend")
	s.send("\x1a")
	// Of a child that is being waited for, nothing tells that it was stopped.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		var st syscall.WaitStatus
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
		if err != nil {
			t.Skip("no /proc here", st)
		}
		if f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); f[0] == "T" {
			break
		}
		if strings.Contains(s.said(), "resumed.") {
			break // nobody could continue it, so that it was not stopped
		}
		if time.Now().After(deadline) {
			t.Fatal("it was not stopped")
		}
	}
	if !strings.Contains(s.said(), "resumed.") {
		s.restored()
		if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	s.wait("resumed.")
	s.send("x")
	s.wait("key x.")
	s.send("q")
	s.ends()
	s.restored()
}

func TestWhatTheTerminalSays(t *testing.T) {
	s := start(t, "events")
	for _, c := range []struct{ send, want string }{
		{"a", "key a."}, {"A", "key A."}, {"é", "key é."}, {"\r", "key enter."}, {"\t", "key tab."}, {"\x1b[Z", "key shift+tab."}, {"\x7f", "key backspace."}, {" ", "key space."},
		{"\x01", "key ctrl+a."}, {"\x1b[A", "key up."}, {"\x1bOB", "key down."}, {"\x1b[1;5C", "key ctrl+right."}, {"\x1bx", "key alt+x."}, {"\x1b\r", "key alt+enter."}, {"\x1b[13;2u", "key shift+enter."},
		{"\x1b[3~", "key delete."}, {"\x1b[H", "key home."}, {"\x1bOP", "key f1."}, {"\x0a", "key ctrl+j."}, {"\x1f", "key ctrl+_."}, {"\x1b", "key esc."},
		{"\x1b[200~a\rb\x1b[31m\x1b[201~", `paste "a\nb".`}, {"\x1b[I", "focus true."}, {"\x1b[O", "focus false."},
		{"\x1b]11;rgb:ffff/ffff/eeee\x1b\\", "dark false."}, {"\x1b]11;rgb:1010/1010/1010\x07", "dark true."},
		{"\x1b[?2026;2$y\x1b[?1u\x1bP>|kitty(0.35)\x1b\\\x1b[6;20;10t\x1b[?62;4c", "caps {Version:kitty(0.35) Sync:true Keyboard:true Sixel:true Cell:{Cols:10 Rows:20}}."},
	} {
		s.send(c.send)
		s.wait(c.want)
	}
	if err := pty.Setsize(s.ptm, &pty.Winsize{Cols: 50, Rows: 11}); err != nil {
		t.Fatal(err)
	}
	s.wait("size 50 11.")
	s.send("f")
	s.wait("full.")
	s.send("\x1b[<0;5;3M") // a click
	s.send("\x1b[<65;5;3M")
	s.send("\x1b[<64;5;3M")
	s.send("q")
	s.ends()
	s.restored()
	// What is said in full screen is printed once full screen has ended. "key f." may be on the screen before it began.
	full, after, ended := strings.Cut(s.said(), "\x1b[?1049l")
	if !ended || strings.Contains(full, "wheel") || !inOrder(after, "wheel down true.", "wheel down false.", "key q.") || strings.Count(s.said(), "key f.") != 1 {
		t.Errorf("what was said in full screen is not printed in order after it: %q", s.said())
	}
}

// inOrder reports whether text has the parts one after the other.
func inOrder(text string, parts ...string) bool {
	for _, p := range parts {
		_, rest, ok := strings.Cut(text, p)
		if !ok {
			return false
		}
		text = rest
	}
	return true
}
