//go:build unix

package term

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/proc"
)

// A guard is a second process of this program that outlives it by a moment:
// when this process is killed, or ends by a panic that nobody recovered, the
// pipe between them ends, and the guard puts the terminal back as it was. It
// is told of each change of the modes.
type guard struct {
	pipe *os.File
	cmd  *exec.Cmd
	done chan struct{} // closed when it is gone
}

// termios are the modes of a terminal that the kernel keeps.
type termios = unix.Termios

// A duty is what a guard would have to do now.
type duty struct {
	Saved termios // as it was
	Raw   termios // as adze has it
	Reset string  // bytes that switch modes off
	Group int     // adze's process group
	Shell int     // that of adze's parent
}

// startGuard starts the guard of a terminal; nil when it cannot be had.
func startGuard(tty *os.File) *guard {
	// A process group of its own in adze's session: it may ask who has the
	// terminal, and keys that end adze do not end it.
	pipe, cmd, err := proc.StartSelf(GuardArg, &syscall.SysProcAttr{Setpgid: true}, tty)
	if err != nil {
		return nil
	}
	g := &guard{pipe, cmd, make(chan struct{})}
	go func() { // ends with the guard, which close and our death end
		defer close(g.done)
		_ = cmd.Wait() // nobody asks how it ended
	}()
	return g
}

// tell says what there is to do, nil for nothing. A guard that does not read
// holds up nothing.
func (g *guard) tell(d *duty) {
	raw, err := json.Marshal(d)
	if err != nil {
		return
	}
	_ = g.pipe.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = g.pipe.Write(append(raw, '\n'))
}

// close dismisses the guard.
func (g *guard) close() {
	g.tell(nil)
	_ = g.pipe.Close()
	select {
	case <-g.done:
	case <-time.After(patience):
		_ = g.cmd.Process.Kill()
	}
}

// guarded tells the guard how the terminal is now; t.mu is held.
func (t *Terminal) guarded() {
	switch {
	case t.guard == nil:
	case !t.modes.on || t.before == nil:
		t.guard.tell(nil)
	default:
		now := modesOf(t.o.In)
		if now == nil {
			return
		}
		d := duty{Saved: *t.before, Raw: *now, Group: syscall.Getpgrp(), Reset: string(t.ways())}
		if t.Screen.alternate() {
			d.Reset = "\x1b[?1049l" + d.Reset
		}
		d.Shell, _ = syscall.Getpgid(syscall.Getppid())
		t.guard.tell(&d)
	}
}

// watchOver starts the guard.
func (t *Terminal) watchOver() {
	g := startGuard(t.o.In)
	if g == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.guard = g
	t.guarded()
}

// modesOf is how a terminal is set now, nil when it does not say.
func modesOf(in *os.File) *termios {
	now, err := unix.IoctlGetTermios(int(in.Fd()), getModes)
	if err != nil {
		return nil
	}
	return now
}

// settled is how long a shell may take to see that its job ended and to set
// the terminal for itself.
const settled = 50 * time.Millisecond

// Guard is what this program does when a Terminal started it again: it reads
// how the terminal is, until in ends with the process that writes it, and then
// puts it back, unless another program has the terminal by then. It returns the
// exit code.
func Guard(in io.Reader) int {
	signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN, syscall.SIGTSTP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGPIPE)
	tty := os.NewFile(3, "terminal")
	var last *duty
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var d *duty
		if err := json.Unmarshal(lines.Bytes(), &d); err == nil {
			last = d
		}
	}
	if last == nil || tty == nil {
		return 0
	}
	if last.Shell != last.Group { // a shell with jobs: it sets the terminal anew
		time.Sleep(settled)
	}
	fd := int(tty.Fd())
	if front, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && front != last.Group && front != last.Shell {
		return 0
	}
	out := last.Reset
	if now := modesOf(tty); now != nil && *now == last.Raw { // nobody has set it since
		_ = unix.IoctlSetTermios(fd, setModes, &last.Saved)
		out += "\x1b[?2004l\r\n\x1b[J"
	}
	_ = within(patience, func() error {
		_, err := tty.WriteString(out)
		return err
	})
	return 0
}
