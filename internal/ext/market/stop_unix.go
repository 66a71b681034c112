//go:build unix

package market

import (
	"os/exec"
	"syscall"
)

// together has what a program starts end with it: git leaves its helpers running when
// it is killed.
func together(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
