package proc

import (
	"bytes"
	"os"
	"strconv"
)

// loads measures the commands ps. What a process has resident is cheap to
// read and counts what it shares with others once for each. So that is only
// the first look: when it comes to half of limit, what belongs to nobody but
// processes is counted, swapped out or not, and when that is above limit,
// what forked processes share is counted once.
func (t *tableOS) loads(ps []*Process, limit int64) map[*Process]load {
	tasks := t.owned(ps)
	out := make(map[*Process]load, len(ps))
	sum := func(of func(p *Process, t task) int64) (total int64) {
		for p, ms := range tasks {
			u := load{processes: len(ms)}
			for _, m := range ms {
				u.memory += of(p, m)
				u.pids += m.pid
				u.cpu += m.cpu
			}
			out[p] = u
			total += u.memory
		}
		return total
	}
	total := sum(func(_ *Process, m task) int64 { return m.resident })
	if limit == 0 || total <= limit/2 && !swaps() {
		return out
	}
	total = sum(func(_ *Process, m task) int64 { return private(m.pid, m.resident) })
	if total > limit {
		sum(func(p *Process, m task) int64 {
			own := private(m.pid, m.resident)
			if len(tasks[p]) == 1 {
				return own // shared with nobody
			}
			return proportional(m.pid, own)
		})
	}
	return out
}

// owned lists the live processes of each of ps. It looks once for all of them.
func (t *tableOS) owned(ps []*Process) map[*Process][]task {
	bySession, byTag := map[int]*Process{}, map[tag]*Process{}
	for _, p := range ps {
		p.mu.Lock()
		if !p.reaped { // else its number may be another's
			bySession[p.Pid] = p
		}
		p.mu.Unlock()
		if p.os.tag != (tag{}) {
			byTag[p.os.tag] = p
		}
	}
	owner, out := map[int]*Process{}, map[*Process][]task{}
	for _, m := range t.near() {
		p := owner[m.ppid]
		if p == nil {
			p = bySession[m.sid]
		}
		if p == nil {
			p = byTag[tagOf(m.pid)]
		}
		if p == nil {
			continue
		}
		owner[m.pid] = p
		if !m.zombie {
			out[p] = append(out[p], m)
		}
	}
	return out
}

// swaps reports whether memory may be swapped out, which nothing resident
// tells. The first line of the table is its heading.
func swaps() bool {
	b, err := os.ReadFile("/proc/swaps")
	return err == nil && bytes.Count(b, []byte("\n")) > 1
}

// private is the memory of a process that is no file's, in bytes, with what
// is swapped out (proc_pid_status(5)); resident where that is not told.
func private(pid int, resident int64) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return resident
	}
	anon, ok := kilobytes(b, "RssAnon:") // since Linux 4.5
	if !ok {
		return resident
	}
	shared, _ := kilobytes(b, "RssShmem:")
	swapped, _ := kilobytes(b, "VmSwap:")
	return anon + shared + swapped
}

// proportional is private with what n processes share counted at one n-th
// (/proc/pid/smaps_rollup, since Linux 4.14; by kinds since 5.3). The kernel
// walks all of the process's pages for it. own where it is not told.
func proportional(pid int, own int64) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return own
	}
	anon, ok := kilobytes(b, "Pss_Anon:")
	if !ok {
		return own
	}
	shared, _ := kilobytes(b, "Pss_Shmem:")
	swapped, _ := kilobytes(b, "SwapPss:")
	return anon + shared + swapped
}

// kilobytes finds the line "name   123 kB" and returns it in bytes.
func kilobytes(b []byte, name string) (int64, bool) {
	i := bytes.Index(b, []byte(name))
	if i < 0 || i > 0 && b[i-1] != '\n' {
		return 0, false
	}
	f := bytes.Fields(b[i+len(name):])
	if len(f) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(f[0]), 10, 64)
	return n * 1024, err == nil
}
