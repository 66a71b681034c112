package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// The end of a child is waited for, and the child is left to whoever reaps it.
func TestEnded(t *testing.T) {
	cmd := exec.Command("sleep", "0.2")
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended(cmd.Process.Pid)
	if took := time.Since(begun); took < 200*time.Millisecond {
		t.Errorf("it did not wait: %v", took)
	}
	ended(cmd.Process.Pid) // at once: it is over, and not reaped
	if err := cmd.Wait(); err != nil || cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("it cannot be reaped: %v", err)
	}
	ended(cmd.Process.Pid) // there is no such child any more
}

// An orphan that dies while its command goes on is reaped soon, without looking
// for such ones again and again.
func TestOrphanIsReapedWhenItDies(t *testing.T) {
	tab := New(Config{})
	defer tab.Close(0)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	goes, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer goes.Close()
	p, _ := start(t, tab, "(cat <"+pipe+" >/dev/null &) ; exec sleep 600", false)
	orphans := func(dead bool) int { // those that have the pipe open, which the shell's child has not yet
		return len(slices.DeleteFunc(everybody(), func(o task) bool {
			return o.name != "cat" || o.ppid != os.Getpid() || o.pid == p.Pid || o.zombie != dead || tagOf(o.pid) != p.os.tag
		}))
	}
	until := func(what string, ok func() bool) {
		for begun := time.Now(); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatal(what)
			}
		}
	}
	until("there is no orphan", func() bool { return orphans(false) == 1 })
	goes.Close() // and the orphan ends
	until("the orphan does not end", func() bool { return orphans(false) == 0 })
	until("the dead orphan stays", func() bool { return orphans(true) == 0 })
}
