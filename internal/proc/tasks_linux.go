package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A task is one line of the process table.
type task struct {
	pid, ppid, sid int
	zombie         bool
	name           string
	resident       int64 // bytes, with what it shares with others
	cpu            time.Duration
}

// children reports whether this process has any child at all. Orphans are our
// children too, so when it has none no command left anything.
func children() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err != unix.ECHILD
}

// aside notes children of this process that are no commands.
func (t *tableOS) aside(pids []int) { t.helpers.Store(&pids) }

// ours are the children of this process that are no commands, and that start none.
func (t *tableOS) ours() (pids []int) {
	if h := t.helpers.Load(); h != nil {
		pids = slices.Clone(*h)
	}
	if g := t.guardian.pid(); g != 0 {
		pids = append(pids, g)
	}
	return pids
}

// alone reports whether this process has no child but the guardian and helpers,
// where that is cheap to know.
func (t *tableOS) alone() bool {
	if !children() {
		return true
	}
	known := t.ours()
	// The kernel's list may miss a child while another one is reaped
	// (proc_pid_children(5)). Reaping takes one only once, and both times
	// the list would have to be read in that moment.
	return len(known) > 0 && only(known) && only(known)
}

// only reports whether all children of this process are among known.
func only(known []int) bool {
	kids, ok := childrenOf(os.Getpid())
	return ok && !slices.ContainsFunc(kids, func(k int) bool { return !slices.Contains(known, k) })
}

// childrenOf is the kernel's list of the children of a process, which is not
// complete while some of them go (proc_pid_children(5)). ok is false when the
// process is gone, or on a kernel without that list (CONFIG_PROC_CHILDREN).
//
// This is asked after every command, of each thread of this process, which is
// why it goes past package os: that takes three times the system calls.
func childrenOf(pid int) (kids []int, ok bool) {
	dir, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(dir)
	var buf [4096]byte
	var threads []string
	for {
		n, err := unix.ReadDirent(dir, buf[:])
		if err != nil || n <= 0 {
			break // what was read so far is still right
		}
		_, _, threads = unix.ParseDirent(buf[:n], -1, threads)
	}
	for _, t := range threads {
		fd, err := unix.Openat(dir, t+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // the thread ended, or there is no such list
		}
		ok = true
		kids = numbers(fd, buf[:], kids)
		_ = unix.Close(fd)
	}
	return kids, ok
}

// numbers appends the decimal numbers in a file, each with a space behind it.
func numbers(fd int, buf []byte, to []int) []int {
	n := 0 // the one that is being read
	for {
		k, err := unix.Read(fd, buf)
		if err != nil || k <= 0 {
			return to
		}
		for _, c := range buf[:k] {
			if c >= '0' && c <= '9' {
				n = 10*n + int(c-'0')
			} else if n > 0 {
				to, n = append(to, n), 0
			}
		}
	}
}

// near lists the processes under this one as below does, from the kernel's
// lists of children: cheaper where there are many others, and without those
// that come and go this moment. Those that confine and guard commands are left
// out; to look into one makes who waits for its end wait longer.
func (t *tableOS) near() []task {
	if t.alone() {
		return nil
	}
	kids, ok := childrenOf(os.Getpid())
	if !ok {
		return t.below()
	}
	var out []task
	for known := t.ours(); len(kids) > 0; kids = kids[1:] {
		if slices.Contains(known, kids[0]) {
			continue
		}
		m, ok := readTask(strconv.Itoa(kids[0]))
		if !ok {
			continue
		}
		out = append(out, m)
		more, _ := childrenOf(m.pid)
		kids = append(kids, more...)
	}
	return out
}

// below lists all processes under this one, parents first.
func (t *tableOS) below() []task {
	if t.alone() {
		return nil
	}
	kids := map[int][]task{}
	for _, t := range everybody() {
		kids[t.ppid] = append(kids[t.ppid], t)
	}
	out := kids[os.Getpid()]
	for i := 0; i < len(out); i++ {
		out = append(out, kids[out[i].pid]...)
	}
	return out
}

// everybody lists all processes.
func everybody() []task {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(-1) // what was read so far is still right
	dir.Close()
	var out []task
	for _, n := range names {
		if n[0] < '0' || n[0] > '9' {
			continue
		}
		if t, ok := readTask(n); ok {
			out = append(out, t)
		}
	}
	return out
}

// readProc reads a small file of /proc as far as it fits into buf; nothing when it
// cannot be read. It goes past package os for the reason that childrenOf does: after
// a command that left something, every process of the machine is looked at.
func readProc(path string, buf []byte) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return nil
	}
	return buf[:n]
}

// readTask parses /proc/PID/stat (proc(5)): "pid (name) state ppid pgrp
// session …", where the name may hold spaces and parentheses.
func readTask(pid string) (task, bool) {
	var buf [1024]byte // a name has 64 bytes at most, and fifty numbers follow
	b := readProc("/proc/"+pid+"/stat", buf[:])
	open, shut := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || shut < open {
		return task{}, false
	}
	f := strings.Fields(string(b[shut+1:]))
	if len(f) < 22 {
		return task{}, false
	}
	t := task{name: string(b[open+1 : shut])}
	// While other threads still end, a dead first one is not the end.
	t.zombie = f[0] == "X" || f[0] == "Z" && (f[17] == "0" || f[17] == "1") // "num_threads"
	t.pid, _ = strconv.Atoi(pid)
	t.ppid, _ = strconv.Atoi(f[1])
	t.sid, _ = strconv.Atoi(f[3])
	user, _ := strconv.ParseInt(f[11], 10, 64) // "utime" and "stime", in hundredths of a second on every Linux that Go runs on
	system, _ := strconv.ParseInt(f[12], 10, 64)
	t.cpu = time.Duration(user+system) * (time.Second / 100)
	pages, _ := strconv.ParseInt(f[21], 10, 64) // "rss"
	t.resident = pages * int64(os.Getpagesize())
	return t, t.pid > 0
}

// tagOf reads the tag of a process: with one call, or from /proc/PID/limits where it
// belongs to somebody else.
func tagOf(pid int) (g tag) {
	var l unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_MSGQUEUE, nil, &l); err == nil {
		return tag{soft: l.Cur, hard: l.Max}
	}
	return tagFromFile(pid)
}

func tagFromFile(pid int) (g tag) {
	var buf [4096]byte // about 1,300 are used
	b := readProc("/proc/"+strconv.Itoa(pid)+"/limits", buf[:])
	const row = "Max msgqueue size"
	i := bytes.Index(b, []byte(row))
	if i < 0 {
		return tag{}
	}
	f := bytes.Fields(b[i+len(row):])
	if len(f) < 2 {
		return tag{}
	}
	g.soft, _ = strconv.ParseUint(string(f[0]), 10, 64) // "unlimited" is no tag
	g.hard, _ = strconv.ParseUint(string(f[1]), 10, 64)
	return g
}
