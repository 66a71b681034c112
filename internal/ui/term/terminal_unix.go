//go:build unix

package term

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	xterm "golang.org/x/term"
)

// watched are the signals that a Terminal listens to.
var watched = []os.Signal{syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT}

// sizeUntold says that no signal tells of another size.
const sizeUntold = false

func kindOf(s os.Signal) signalKind {
	switch s {
	case syscall.SIGWINCH:
		return sizeChanged
	case syscall.SIGTSTP:
		return stopped
	case syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT:
		return ended
	}
	return nothing
}

func stopSignals(c chan os.Signal) { signal.Stop(c) }

// stopSelf stops this process's group as Ctrl+Z does, and returns when it runs
// again. It does nothing where no shell could continue the group. The signal is
// SIGSTOP: a Go program that was ever told of SIGTSTP is not stopped by it any
// more.
func stopSelf() {
	parent := syscall.Getppid()
	session, err := unix.Getsid(0)
	if theirs, perr := unix.Getsid(parent); err != nil || perr != nil || theirs != session {
		return
	}
	if group, err := syscall.Getpgid(parent); err != nil || group == syscall.Getpgrp() {
		return
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	defer signal.Stop(again)
	if err := syscall.Kill(0, syscall.SIGSTOP); err == nil {
		select {
		case <-again:
		case <-time.After(time.Second):
		}
	}
}

func raw(in, _ *os.File) (*xterm.State, error) { return makeRaw(int(in.Fd())) }

func restore(in, _ *os.File, st *xterm.State) error { return xterm.Restore(int(in.Fd()), st) }
