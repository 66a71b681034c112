//go:build unix

package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// GuardianArg is the first argument with which this program, started again by
// a Table, must call Guardian before anything else.
const GuardianArg = "__guardian"

// A guardian is a second process of this program that outlives it by a
// moment: when this process ends without having ended its commands, by
// kill -9 or a crash, the pipe between them ends, and the guardian ends the
// commands. It is told of each command before that does anything.
type guardian struct {
	mu   sync.Mutex // guards the fields below
	pipe *os.File   // nil before it was started, and after its end
	cmd  *exec.Cmd
	done chan struct{} // closed when it is gone
	gone bool          // it cannot be had
	told map[string]bool
}

// A ward is a command as its guardian knows it.
type ward struct {
	pid int // and session and process group, which the command leads
	tag tag
}

// watchOver tells the guardian of a command, and starts the guardian when
// there is none. Without one the command runs all the same.
func (g *guardian) watchOver(w ward) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone || g.pipe == nil && !g.start() {
		return
	}
	g.tell(fmt.Sprintf("+%d %d %d\n", w.pid, w.tag.soft, w.tag.hard))
}

// ahead starts the guardian when there is none.
func (g *guardian) ahead() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone && g.pipe == nil {
		g.start()
	}
}

// inherit tells the guardian what is left to see to when this process is killed.
func (g *guardian) inherit(estate string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.told[estate] || g.gone || g.pipe == nil && !g.start() {
		return
	}
	if g.told == nil {
		g.told = map[string]bool{}
	}
	g.told[estate] = true
	g.tell(fmt.Sprintf("=%q\n", estate))
}

// let tells the guardian that a command is over.
func (g *guardian) let(pid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tell(fmt.Sprintf("-%d\n", pid))
}

// tell writes to the guardian; one that is gone or stopped does not hold up
// anything.
func (g *guardian) tell(line string) {
	if g.pipe == nil {
		return
	}
	_ = g.pipe.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := g.pipe.WriteString(line); err != nil {
		_ = g.pipe.Close()
		g.pipe, g.gone = nil, true
	}
}

// start starts the guardian; g.mu is held.
func (g *guardian) start() bool {
	// A session of its own: what ends ours, a closed terminal or an interrupt,
	// does not end it.
	w, cmd, err := StartSelf(GuardianArg, &syscall.SysProcAttr{Setsid: true})
	if err != nil {
		g.gone = true
		return false
	}
	done := make(chan struct{})
	go func() { // ends with the guardian, which close and our death end
		defer close(done)
		ended(cmd.Process.Pid)
		_ = cmd.Wait() // nobody asks how it ended
	}()
	g.pipe, g.cmd, g.done = w, cmd, done
	return true
}

// StartSelf starts this program again, to wait for our death: pipe is the other
// end of its standard input, and files are its descriptors from 3 on. The caller
// waits for cmd.
func StartSelf(arg string, attr *syscall.SysProcAttr, files ...*os.File) (pipe *os.File, cmd *exec.Cmd, err error) {
	self, err := os.Executable()
	if runtime.GOOS == "linux" {
		self, err = "/proc/self/exe", nil // also when the file was replaced since
	}
	if err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	// One processor, because it waits; and with the race detector not another second at its end.
	env := []string{"GOMAXPROCS=1", "GORACE=atexit_sleep_ms=0"}
	cmd = &exec.Cmd{Path: self, Args: []string{"adze", arg}, Dir: "/", Env: env, Stdin: r, ExtraFiles: files, SysProcAttr: attr}
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return nil, nil, err
	}
	return w, cmd, nil
}

// pid is the guardian's, 0 when there is none.
func (g *guardian) pid() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cmd == nil {
		return 0
	}
	return g.cmd.Process.Pid
}

// close dismisses the guardian and waits until it is gone.
func (g *guardian) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
	g.tell(".\n")
	if g.pipe != nil {
		_ = g.pipe.Close()
		g.pipe = nil
	}
	if g.cmd == nil {
		return
	}
	select {
	case <-g.done:
	case <-time.After(stuck): // it was stopped, or cannot get to run
		_ = g.cmd.Process.Kill()
		<-g.done
	}
	g.cmd = nil
}

// Guardian is what this program does when a Table started it again: it reads
// which commands run, until in ends with the process that writes it, then ends
// those that still run, and has what that process left seen to, each by its
// Estate, unless it was dismissed. It returns the exit code.
func Guardian(in io.Reader, settle func(estate string)) int {
	wards := map[int]ward{}
	var estates []string
	dismissed := false
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var w ward
		var estate string
		if lines.Text() == "." {
			dismissed = true
		} else if _, err := fmt.Sscanf(lines.Text(), "=%q", &estate); err == nil {
			estates = append(estates, estate)
		} else if _, err := fmt.Sscanf(lines.Text(), "+%d %d %d", &w.pid, &w.tag.soft, &w.tag.hard); err == nil && w.pid > 1 {
			wards[w.pid] = w
		} else if _, err := fmt.Sscanf(strings.TrimSpace(lines.Text()), "-%d", &w.pid); err == nil {
			delete(wards, w.pid)
		}
	}
	if len(wards) > 0 {
		orphaned(wards)
	}
	for _, e := range estates {
		if !dismissed {
			settle(e)
		}
	}
	return 0
}
