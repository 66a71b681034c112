//go:build unix && !linux

package proc

import (
	"os"
	"syscall"
	"time"
)

// Without a subreaper only the process group of a command is known: a child
// that leaves it by setsid or setpgid is not found.

type tableOS struct{ guardian guardian }

type processOS struct {
	table *tableOS
	told  bool
}

func (*tableOS) init()       {}
func (*tableOS) aside([]int) {}
func (*tableOS) sweep()      {}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// loads knows nothing here: one group is one process, and what it uses is
// not seen.
func (*tableOS) loads([]*Process, int64) map[*Process]load { return nil }

func (o *processOS) started(_ *Process, t *tableOS) { o.table = t }

func (o *processOS) guard(pr *Process)   { o.table.guardian.watchOver(ward{pid: pr.Pid}) }
func (o *processOS) unguard(pr *Process) { o.table.guardian.let(pr.Pid) }

// ended returns at once: the end of a process is waited for in the call that reaps it.
func ended(int) {}

// childDeaths tells nothing here: nobody is handed orphans.
func childDeaths() (told <-chan os.Signal, stop func()) { return nil, func() {} }

func (*processOS) reaped(*Process)        {}
func (*processOS) release(*Process, bool) {}
func (*processOS) clean() bool            { return false }

// count is 1 while the group exists. The number of a group is not given to a
// new process while the group has members.
func (o *processOS) count(pr *Process) int {
	if syscall.Kill(-pr.Pid, 0) == nil {
		return 1
	}
	return 0
}

func (o *processOS) names(pr *Process) []string {
	if o.count(pr) == 0 {
		return nil
	}
	return []string{"processes of its group"}
}

func (o *processOS) term(pr *Process) bool {
	if o.count(pr) == 0 {
		return false
	}
	if !o.told {
		_ = syscall.Kill(-pr.Pid, syscall.SIGTERM)
		_ = syscall.Kill(-pr.Pid, syscall.SIGCONT)
		o.told = true
	}
	return true
}

func (o *processOS) kill(pr *Process) {
	for deadline := time.Now().Add(stuck); o.count(pr) > 0 && time.Now().Before(deadline); {
		_ = syscall.Kill(-pr.Pid, syscall.SIGKILL)
		time.Sleep(2 * time.Millisecond) // a killed process needs a moment to be gone
	}
}

// Control groups are Linux's.
func (*processOS) enclose(*Process) bool    { return false }
func (*processOS) admit(*Process, int) bool { return false }
func (*processOS) disclose()                {}

func (t *tableOS) close() { t.guardian.close() }
