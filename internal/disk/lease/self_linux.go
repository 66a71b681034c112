package lease

import (
	"bytes"
	"os"
	"strconv"
)

// started is field 22 of /proc/PID/stat: clock ticks from boot to the start
// of the process (proc_pid_stat(5)). It tells a process from a later one with
// the same ID. A zombie counts as gone.
func started(pid int) int64 {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	i := bytes.LastIndexByte(raw, ')') // the name before it may hold anything
	if i < 0 {
		return 0
	}
	f := bytes.Fields(raw[i+1:])
	if len(f) < 20 {
		return 0
	}
	if len(f[0]) == 1 && (f[0][0] == 'Z' || f[0][0] == 'X') {
		return -1
	}
	n, err := strconv.ParseInt(string(f[19]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
