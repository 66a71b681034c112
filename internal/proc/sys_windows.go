package proc

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// On Windows a command lives in a job object, which its children cannot leave
// and which ends them all when it is closed. Windows has no TERM: Stop kills
// at once.

type tableOS struct{ guardian guardian }

type processOS struct{ job windows.Handle }

func (*tableOS) init()       {}
func (*tableOS) aside([]int) {}
func (*tableOS) sweep()      {}

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
	}
}

// started puts the command into a job. A child it started before that, in its
// first microseconds, would be outside.
func (p *processOS) started(pr *Process, _ *tableOS) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		var h windows.Handle
		h, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pr.Pid))
		if err == nil {
			err = windows.AssignProcessToJobObject(job, h)
			_ = windows.CloseHandle(h)
		}
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return
	}
	p.job = job
}

// loads counts processes; their memory is not seen.
func (*tableOS) loads(ps []*Process, _ int64) map[*Process]load {
	out := map[*Process]load{}
	for _, p := range ps {
		out[p] = load{processes: p.os.count(p)}
	}
	return out
}

func (*processOS) clean() bool      { return false }
func (*processOS) guard(*Process)   {}
func (*processOS) unguard(*Process) {}

// ended returns at once: the end of a process is waited for in the call that reaps it.
func ended(int) {}

// childDeaths tells nothing here: nobody is handed orphans.
func childDeaths() (told <-chan os.Signal, stop func()) { return nil, func() {} }

func (*processOS) reaped(*Process) {}

func (p *processOS) release(*Process, bool) {
	if p.job != 0 {
		_ = windows.CloseHandle(p.job)
		p.job = 0
	}
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION (winnt.h).
type accounting struct {
	userTime, kernelTime, periodUser, periodKernel int64
	pageFaults, total, active, terminated          uint32
}

const basicAccounting = 1 // JobObjectBasicAccountingInformation

func (p *processOS) count(*Process) int {
	if p.job == 0 {
		return 0
	}
	var a accounting
	err := windows.QueryInformationJobObject(p.job, basicAccounting,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	if err != nil {
		return 0
	}
	return int(a.active)
}

func (p *processOS) names(pr *Process) []string {
	if p.count(pr) == 0 {
		return nil
	}
	return []string{"processes of its job"}
}

func (*processOS) term(*Process) bool { return false }

func (p *processOS) kill(pr *Process) {
	if p.job == 0 {
		_ = pr.cmd.Process.Kill()
		return
	}
	_ = windows.TerminateJobObject(p.job, 1)
	for deadline := time.Now().Add(stuck); p.count(pr) > 0 && time.Now().Before(deadline); {
		time.Sleep(2 * time.Millisecond) // a killed process needs a moment to be gone
	}
}

func exitStatus(s *os.ProcessState) (code int, signal string) {
	if s == nil {
		return -1, ""
	}
	return s.ExitCode(), ""
}

// Control groups are Linux's.
func (*processOS) enclose(*Process) bool    { return false }
func (*processOS) admit(*Process, int) bool { return false }
func (*processOS) disclose()                {}

func (t *tableOS) close() { t.guardian.close() }
