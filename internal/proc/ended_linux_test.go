package proc

import (
	"os/exec"
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
