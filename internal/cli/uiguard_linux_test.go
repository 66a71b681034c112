package cli_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// killed ends adze without a chance to do anything.
func (x *terminal) killed(pid int, how syscall.Signal) {
	x.t.Helper()
	if err := syscall.Kill(pid, how); err != nil {
		x.t.Fatal(err)
	}
}

// last waits until each sequence was written after the one before it.
func (x *terminal) last(seqs ...string) {
	x.t.Helper()
	x.when("the end of its modes", func(string) bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		at := -1
		for _, seq := range seqs {
			next := strings.LastIndex(string(x.bytes), seq)
			if next < at || next < 0 {
				return false
			}
			at = next
		}
		return true
	})
}

// cooked waits until the terminal's modes are those of a shell, and every mode
// of the terminal's own was taken back.
func (x *terminal) cooked() {
	x.t.Helper()
	x.last("\x1b[?1004h", "\x1b[?1004l", "\x1b[?25h", "\x1b[?2004l", "\x1b[J")
	x.restored()
	m, err := unix.IoctlGetTermios(int(x.tty.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	if m.Lflag&unix.ICANON == 0 || m.Lflag&unix.ECHO == 0 || m.Lflag&unix.ISIG == 0 {
		x.t.Errorf("the terminal is still raw: %x", m.Lflag)
	}
}

// front is the process group that has the terminal.
func (x *terminal) front() int {
	x.t.Helper()
	pid, err := unix.IoctlGetInt(int(x.tty.Fd()), unix.TIOCGPGRP)
	if err != nil {
		x.t.Fatal(err)
	}
	return pid
}

// kill -9 of adze puts the terminal back, also out of the alternate screen, and
// so does a crash that no code of adze's sees, such as a panic somewhere
// (SIGABRT ends a Go program in the same way).
func TestUIIsKilled(t *testing.T) {
	for name, c := range map[string]struct {
		keys string
		how  syscall.Signal
	}{
		"prompt": {"half a line", syscall.SIGKILL}, "transcript": {"\x0f", syscall.SIGKILL}, "crash": {"half a line", syscall.SIGABRT},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			x := p.ui(80, 24, "> Yes.\n")
			x.until(`What shall be done here`)
			x.keys("ask", enter)
			x.until(`● Yes\.`)
			x.keys(c.keys)
			x.until(`half a line|q closes|Esc closes|transcript`)
			x.killed(x.cmd.Process.Pid, c.how)
			x.cooked()
		})
	}
}

// A shell that adze was started from has the terminal again, and goes on.
func TestUIIsKilledBelowAShell(t *testing.T) {
	for name, shell := range map[string]*exec.Cmd{
		"bash": exec.Command("bash", "--norc", "--noprofile", "-i"),
		"sh":   exec.Command("sh", "-i"),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.startedBefore()
			adze := p.adze("--model", "script/"+p.put("model.txt", "> Back again.\n"), "--sandbox", "off")
			shell.Dir, shell.Env = adze.Dir, append(adze.Env, "PS1=shell$ ")
			x := p.inTerminal(shell, 80, 24)
			x.until(`shell\$`)
			x.keys(strings.Join(adze.Args, " ") + enter)
			x.until(`What shall be done here`)
			x.keys("half a line") // behind what the terminal answers at the start
			x.until(`half a line`)
			x.killed(x.front(), syscall.SIGKILL)
			x.last("\x1b[?1004h", "\x1b[?1004l", "\x1b[?25h")
			x.keys("echo it-''works" + enter)
			x.until(`(?m)^it-works`)
			x.off(1049, 1000)
		})
	}
}
