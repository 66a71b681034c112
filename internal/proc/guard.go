package proc

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/text/clip"
)

// MaxProcesses is how many processes one command may have at once unless
// Limits says otherwise.
const MaxProcesses = 4096

// Limits are what commands may use. A command above one is killed, with
// everything it started, and its Status names the limit.
//
// They are watched, not walls: between two looks a command can pass a limit.
// The time between looks follows from how far away the limits are, see pace.
// Memory is counted where it belongs to processes: files in a tmpfs are not.
type Limits struct {
	// Memory is in bytes, for one command and for all together, those of tables
	// with the same Account too, of which the largest is killed; 0 is no limit.
	// Watched on Linux only.
	Memory int64
	// Processes of one command; 0 means MaxProcesses. Counted on Linux and
	// Windows only.
	Processes int
}

// The time between two looks of guard.
const (
	soonest = 20 * time.Millisecond // also from the start of a command to the first look
	latest  = 250 * time.Millisecond
	// calmest is the longest time between two looks while nothing changes, where
	// there is no limit on memory (MCP servers and monitors, which run as long as
	// a session): what was idle before may start so many more processes until it
	// is seen.
	calmest = 4 * time.Second
	// share is what part of the time looking may take, one in this, as long
	// as that lets it look every latest.
	share = 20
	// fill is more than a core fills of memory in a second, in bytes (measured
	// in a virtual machine: 3.2 GB). spawn is what one starts of processes
	// (19,600); more cores start more, but then a late look costs little.
	fill  = 8_000_000_000
	spawn = 20_000
)

// A load is what the processes of a command use now.
type load struct {
	processes int
	memory    int64         // bytes
	pids      int           // their sum: another one tells of other processes
	cpu       time.Duration // of their whole lives; Linux only
}

// calm reports whether commands did next to nothing for as long as since: they
// have the same processes, which used less than a fiftieth of a core.
func calm(before, now map[*Process]load, since time.Duration) bool {
	if len(before) != len(now) {
		return false
	}
	var cpu time.Duration
	for p, u := range now {
		b, ok := before[p]
		if !ok || u.processes != b.processes || u.pids != b.pids {
			return false
		}
		cpu += u.cpu - b.cpu
	}
	return cpu <= since/50
}

// over says which limit a command passes with a load, "" for none.
func (l Limits) over(u load) string {
	switch {
	case u.processes > l.Processes:
		return fmt.Sprintf("it had more than %d processes", l.Processes)
	case l.Memory > 0 && u.memory > l.Memory:
		return fmt.Sprintf("its processes used more than %s of memory", clip.Size(l.Memory))
	}
	return ""
}

// pace is how long guard may wait until the next look: the busiest command
// must not get from where it is to a limit meanwhile, with all cores, and the
// looks, of which the last took this long, must not cost much.
func (l Limits) pace(most load, total int64, took time.Duration, cores int) time.Duration {
	wait := latest
	until := func(room, perSecond int64) {
		if s := float64(max(0, room)) / float64(perSecond); s < wait.Seconds() {
			wait = time.Duration(s * float64(time.Second))
		}
	}
	until(int64(l.Processes-most.processes), spawn)
	if l.Memory > 0 {
		until(l.Memory-total, fill*int64(cores))
	}
	return max(wait, soonest, min(share*took, latest))
}

// An Account adds up the memory that commands of several tables use, so that
// they share one limit. The zero value is of use.
type Account struct {
	mu   sync.Mutex
	uses map[*Table]use
}

// A use is what a table's commands used at its last look, in bytes: all of them,
// and the largest.
type use struct{ total, largest int64 }

// others is what all other tables use, and the largest of their commands.
func (a *Account) others(t *Table) (u use) {
	if a == nil {
		return u
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for other, x := range a.uses {
		if other != t {
			u.total, u.largest = u.total+x.total, max(u.largest, x.largest)
		}
	}
	return u
}

// note says what a table uses now.
func (a *Account) note(t *Table, u use) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.uses == nil {
		a.uses = map[*Table]use{}
	}
	if a.uses[t] = u; u == (use{}) {
		delete(a.uses, t)
	}
}

// watched makes sure that guard looks at a process that just came; t.mu is held.
func (t *Table) watched() {
	if t.guards {
		t.wake()
		return
	}
	t.guards = true
	t.wg.Add(1)
	go t.guard() // ends when no process is left
}

func (t *Table) wake() {
	select {
	case t.poke <- struct{}{}:
	default: // it is awake already
	}
}

// guard kills commands that use more than the limits.
func (t *Table) guard() {
	defer t.wg.Done()
	defer t.account.note(t, use{})
	timer := time.NewTimer(soonest)
	defer timer.Stop()
	var last map[*Process]load
	var at time.Time // of last
	longest := latest
	for {
		select {
		case <-t.poke:
			if len(t.running(true)) == 0 {
				return
			}
			longest = latest
			timer.Reset(soonest)
			continue
		case <-timer.C:
		}
		ps := t.running(false)
		begun := time.Now()
		others, room := t.account.others(t), t.limits.Memory
		if room > 0 {
			room = max(1, room-others.total)
		}
		loads := t.os.loads(ps, room)
		took := time.Since(begun)
		var most load
		var sum use
		var largest *Process
		for p, u := range loads {
			if why := t.limits.over(u); why != "" {
				p.exceed(why)
			}
			if sum.total += u.memory; largest == nil || u.memory > sum.largest {
				largest, sum.largest = p, u.memory
			}
			most.processes = max(most.processes, u.processes)
		}
		t.account.note(t, sum)
		if room > 0 && sum.total > room && sum.largest >= others.largest {
			largest.exceed(fmt.Sprintf("the commands that ran used more than %s of memory together, and this one most", clip.Size(t.limits.Memory)))
		}
		wait := t.limits.pace(most, others.total+sum.total, took, runtime.NumCPU())
		if t.limits.Memory > 0 || !calm(last, loads, begun.Sub(at)) {
			longest = latest
		} else if longest = min(2*longest, calmest); wait > latest/2 { // far from the limit
			wait = longest
		}
		last, at = loads, begun
		timer.Reset(wait)
	}
}

// running lists the processes that are not Done. With last, guard ends when
// there are none.
func (t *Table) running(last bool) []*Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]*Process, 0, len(t.procs))
	for p := range t.procs {
		out = append(out, p)
	}
	if last && len(out) == 0 {
		t.guards = false
	}
	return out
}

// exceed kills p because of a limit.
func (p *Process) exceed(why string) {
	p.exceeded(why)
	p.Stop(0)
}

// exceeded notes that p was killed because of a limit.
func (p *Process) exceeded(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.status.Over == "" {
		p.status.Over = why
	}
}
