package proc

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Hide takes the environment this process was started with out of its memory,
// where every program of the same user reads it in /proc/PID/environ, and
// keeps such programs from looking into this process at all: its memory, its
// open files, a core dump. Go has a copy of the environment of its own, which
// stays as it is. Root, and a process that may trace any other, can still
// look. What it starts is not hidden, unless it hides itself.
//
// A process that was hidden cannot write the settings of its own that are in
// /proc/self (oom_score_adj, uid_map) unless it is root's.
func Hide() {
	clearEnviron()
	// A kernel that refuses this has no such flag.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// clearEnviron overwrites the block of the environment in place. Where there
// is no /proc, nobody can read the block there either.
func clearEnviron() {
	start, end := environBlock()
	if start <= 0 || end <= start {
		return
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer mem.Close()
	_, _ = mem.WriteAt(make([]byte, end-start), start) // what stays is in the hands of PR_SET_DUMPABLE
}

// environBlock is where the kernel reads the environment for /proc: fields 50
// and 51 of proc_pid_stat(5).
func environBlock() (start, end int64) {
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // from field 3
	if len(f) < 49 {
		return 0, 0
	}
	start, err = strconv.ParseInt(string(f[47]), 10, 64)
	if err != nil {
		return 0, 0
	}
	end, err = strconv.ParseInt(string(f[48]), 10, 64)
	if err != nil || end-start > 16<<20 { // more than execve(2) takes
		return 0, 0
	}
	return start, end
}
