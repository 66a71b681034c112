package proc

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// The end of a child is waited for, and the child is left to whoever reaps it.
func TestEnded(t *testing.T) {
	cmd := exec.Command("sleep", "0.2")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	ended(cmd.Process.Pid)
	if took := time.Since(begun); took < 100*time.Millisecond {
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
	p, _ := start(t, tab, "(sleep 1.5 &) ; exec sleep 60", false)
	orphans := func(dead bool) int {
		return len(slices.DeleteFunc(everybody(), func(o task) bool {
			return o.ppid != os.Getpid() || o.pid == p.Pid || o.zombie != dead || tagOf(o.pid) != p.os.tag
		}))
	}
	until := func(what string, ok func() bool) {
		for begun := time.Now(); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > 10*time.Second {
				t.Fatal(what)
			}
		}
	}
	until("there is no orphan", func() bool { return orphans(false) == 1 })
	until("the orphan does not end", func() bool { return orphans(false) == 0 })
	until("the dead orphan stays", func() bool { return orphans(true) == 0 })
}
