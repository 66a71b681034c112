package proc

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// orphaned ends commands whose adze is gone: they are asked, and what is left
// after a moment is killed. Their processes are no longer below one of ours,
// but session and tag are still theirs.
func orphaned(wards map[int]ward) {
	left := func() []task { return orphans(wards, everybody()) }
	for _, t := range left() {
		_ = unix.Kill(t.pid, unix.SIGTERM)
		_ = unix.Kill(t.pid, unix.SIGCONT) // a stopped process hears nothing
	}
	for until := time.Now().Add(leftoverGrace); len(left()) > 0 && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	end(left)
}

// orphans finds the live processes of wards among all: those in the session
// of one or with its tag, and what is below them.
func orphans(wards map[int]ward, all []task) []task {
	tags := map[tag]bool{}
	for _, w := range wards {
		if w.tag != (tag{}) {
			tags[w.tag] = true
		}
	}
	self := os.Getpid()
	in := map[int]bool{}
	for _, t := range all {
		_, session := wards[t.sid]
		in[t.pid] = t.pid != self && (session || tags[tagOf(t.pid)])
	}
	for grown := true; grown; {
		grown = false
		for _, t := range all {
			if in[t.ppid] && !in[t.pid] && t.pid != self {
				in[t.pid], grown = true, true
			}
		}
	}
	var out []task
	for _, t := range all {
		if in[t.pid] && !t.zombie {
			out = append(out, t)
		}
	}
	return out
}
