package proc

import (
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// How the processes of a command are known on Linux: right after its start
// the command gets limits for POSIX message queue bytes (RLIMIT_MSGQUEUE)
// that nothing else has. Limits are inherited through fork, exec, setsid,
// double forks and `env -i`, and /proc shows them to everybody, for zombies
// too, so they are a tag that cannot be lost by accident. As this process
// is the subreaper, whatever is orphaned becomes our child and stays below us
// in the tree.

// tableOS is the Linux part of a Table.
type tableOS struct {
	guardian guardian
	groups   groups

	// reaping is held by who reaps orphans, and read-locked by who looks for
	// processes: what is reaped in between leaves no trace of its children.
	reaping sync.RWMutex

	helpers atomic.Pointer[[]int] // that confine commands

	mu     sync.Mutex // guards tags and direct
	tags   map[tag]bool
	direct map[int]bool // our commands that exec.Cmd has not reaped
	hard   uint64       // our own hard limit; tags lie below it
}

// A tag is the soft and the hard limit of a command's processes. The hard one
// lies in the upper quarter of what there is, and leaves programs the room.
type tag struct{ soft, hard uint64 }

// processOS is the Linux part of a Process.
type processOS struct {
	table *tableOS
	tag   tag           // zero: could not be set, only the session id tells
	group *group        // nil: it has none of its own
	told  map[told]bool // whom term has asked; used by own only
}

func (t *tableOS) init() {
	// Without it (Linux before 3.4) orphans go to init, and only those in the
	// command's session are found.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	var l unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_MSGQUEUE, nil, &l); err == nil {
		t.hard = min(l.Max, 1<<40)
	}
	t.tags, t.direct = map[tag]bool{}, map[int]bool{}
}

// attributes give the command a session: its own process group, no
// controlling terminal.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// enclose makes a group and has the command start in it.
func (p *processOS) enclose(pr *Process) bool {
	if p.group = pr.table.os.groups.make(pr.table.limits); p.group == nil {
		return false
	}
	pr.cmd.SysProcAttr.UseCgroupFD, pr.cmd.SysProcAttr.CgroupFD = true, int(p.group.f.Fd())
	return true
}

// admit makes a group and moves a process there.
func (p *processOS) admit(pr *Process, pid int) bool {
	p.group = pr.table.os.groups.make(pr.table.limits)
	return p.group != nil && move([]int{pid}, p.group.dir)
}

func (p *processOS) disclose() {
	if p.group != nil {
		p.group.remove()
	}
	p.group = nil
}

func (t *tableOS) close() {
	t.guardian.close()
	t.groups.close()
}

func (p *processOS) started(pr *Process, t *tableOS) {
	p.table = t
	t.mu.Lock()
	t.direct[pr.Pid] = true // before it has a tag, so that sweep never takes it
	t.mu.Unlock()
	if t.hard > 4096 {
		p.tag = t.newTag()
		l := unix.Rlimit{Cur: p.tag.soft, Max: p.tag.hard}
		if err := unix.Prlimit(pr.Pid, unix.RLIMIT_MSGQUEUE, &l, nil); err != nil {
			p.tag = tag{}
		}
	}
	// When memory runs out the kernel takes the command, not us.
	if fd, err := unix.Open("/proc/"+strconv.Itoa(pr.Pid)+"/oom_score_adj", unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil { // it may be over
		_, _ = unix.Write(fd, []byte("500"))
		_ = unix.Close(fd)
	}
}

func (p *processOS) guard(pr *Process)   { p.table.guardian.watchOver(ward{pr.Pid, p.tag}) }
func (p *processOS) unguard(pr *Process) { p.table.guardian.let(pr.Pid) }

func (t *tableOS) newTag() tag {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		quarter := t.hard / 4
		g := tag{soft: quarter + rand.Uint64N(quarter), hard: t.hard - 1 - rand.Uint64N(quarter)}
		if !t.tags[g] {
			t.tags[g] = true
			return g
		}
	}
}

// ended waits for the end of a child, and does not reap it. It waits as for data:
// a call that blocks in the system takes one of the processors this program may
// use with it until the runtime notices, which can be 10 ms later, and several
// commands that begin at once would begin late. It returns too early where
// processes cannot be waited for like that (before Linux 5.10).
func ended(pid int) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(fd), "process")
	defer f.Close()
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Read(func(fd uintptr) bool { // an error is the same as the end: whoever called waits again
		for {
			err := unix.Waitid(unix.P_PIDFD, int(fd), nil, unix.WEXITED|unix.WNOWAIT, nil)
			if err != unix.EINTR {
				return err != unix.EAGAIN
			}
		}
	})
}

// childDeaths tells when children of this process end, until stop is called.
// Orphans are its children. Of several deaths it may tell once.
func childDeaths() (told <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGCHLD)
	return c, func() { signal.Stop(c) }
}

// reaped notes that the pid is free.
func (p *processOS) reaped(pr *Process) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	delete(p.table.direct, pr.Pid)
}

// release forgets the tag of a command that is over. Tags of commands that
// left a process behind stay, for the next sweep.
func (p *processOS) release(pr *Process, clean bool) {
	if p.group != nil {
		if p.group.ranOut() {
			pr.exceeded(pr.table.limits.over(load{memory: pr.table.limits.Memory + 1}))
		}
		p.group.remove()
	}
	if p.tag == (tag{}) || !clean && len(p.members(pr, true)) > 0 {
		return
	}
	p.table.mu.Lock()
	delete(p.table.tags, p.tag)
	p.table.mu.Unlock()
}

// clean reports whether a command that ended is known to have left nothing,
// not even a process that is dead. It is the cheap answer for most commands.
func (p *processOS) clean() bool { return p.table.alone() }

// maxLooks bounds how often members looks: each look but the last has seen a
// process die.
const maxLooks = 100

// members lists the processes of a command, with zombies also those that are
// dead and not yet reaped.
//
// A process may fork while the process table is read, and be dead when it is
// looked at itself: its child is in no list then. So nobody is left only when a
// look shows no dead one that the look before did not show.
func (p *processOS) members(pr *Process, zombies bool) []task {
	p.table.reaping.RLock()
	defer p.table.reaping.RUnlock()
	dead := map[int]bool{}
	var all []task
	for range maxLooks {
		all = p.look(pr)
		alive := slices.DeleteFunc(slices.Clone(all), func(t task) bool { return t.zombie })
		if len(alive) > 0 && !zombies {
			return alive
		}
		fresh := false
		for _, t := range all {
			if t.zombie && !dead[t.pid] {
				dead[t.pid], fresh = true, true
			}
		}
		if len(alive) > 0 || !fresh {
			break
		}
	}
	if !zombies {
		return nil
	}
	return all
}

// look finds those with the command's tag, those in its session, and everything
// below either, dead or not.
func (p *processOS) look(pr *Process) (out []task) {
	all := p.table.below()
	pr.mu.Lock()
	reaped := pr.reaped
	pr.mu.Unlock()
	session := pr.Pid
	for _, t := range all {
		if reaped && t.pid == pr.Pid {
			session = -1 // the number was given to another process
		}
	}
	in := map[int]bool{}
	for _, t := range all {
		if in[t.ppid] || t.sid == session || p.tag != (tag{}) && tagOf(t.pid) == p.tag {
			in[t.pid] = true
			out = append(out, t)
		}
	}
	return out
}

// count returns how many processes of the command are alive and reaps orphans
// that are not.
func (p *processOS) count(pr *Process) int {
	p.table.sweep()
	return len(p.members(pr, false))
}

// names lists what is alive, by command line. When there is nothing, not even a dead
// one, the command counts as clean from then on: each look is at every process of the
// machine.
func (p *processOS) names(pr *Process) []string {
	all := p.members(pr, true)
	pr.clean = len(all) == 0
	var out []string
	for _, t := range all {
		if t.zombie {
			continue
		}
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(t.pid) + "/cmdline")
		line := strings.TrimSpace(strings.ReplaceAll(string(b), "\x00", " "))
		if line == "" {
			line = t.name
		}
		out = append(out, line)
	}
	return out
}

// told is a process as it was when it was asked to end: one that runs another
// program since then, which a shell's child does right after its fork, has
// not heard it.
type told struct {
	pid  int
	name string
}

// term asks all processes to end that it has not asked before; false when
// there is none at all. A process may appear after the others were asked, so
// it is called again until they are gone.
func (p *processOS) term(pr *Process) bool {
	ms := p.members(pr, false)
	if p.told == nil {
		p.told = map[told]bool{}
	}
	for _, t := range ms {
		if p.told[told{t.pid, t.name}] || pr.first && t.pid == pr.Pid && len(ms) > 1 {
			continue
		}
		p.told[told{t.pid, t.name}] = true
		_ = unix.Kill(t.pid, unix.SIGTERM)
		_ = unix.Kill(t.pid, unix.SIGCONT) // a stopped process hears nothing
	}
	return len(ms) > 0
}

// kill ends all processes. They are stopped first, so that none can fork
// between being seen and being killed.
func (p *processOS) kill(pr *Process) {
	if p.group != nil {
		p.group.kill()
	}
	end(func() []task { return p.members(pr, false) })
	p.table.sweep()
}

// end kills what list returns until that is nothing. What appears while
// others are stopped was forked before that, so a fork bomb comes to rest;
// only when it has, the killing begins. It gives up on what does not go away
// in the time of stuck.
func end(list func() []task) {
	stopped := map[int]bool{}
	deadline := time.Now().Add(stuck)
	for ms := list(); len(ms) > 0 && time.Now().Before(deadline); ms = list() {
		fresh := false
		for _, t := range ms {
			if len(ms) > 1 && !stopped[t.pid] {
				fresh, stopped[t.pid] = true, true
				_ = unix.Kill(t.pid, unix.SIGSTOP)
			}
		}
		if fresh {
			deadline = time.Now().Add(stuck)
			continue
		}
		killAll(ms)
		time.Sleep(2 * time.Millisecond) // a killed process needs a moment to be gone
	}
	killAll(list()) // whatever happened, nothing stays stopped
}

func killAll(ms []task) {
	for _, t := range ms {
		_ = unix.Kill(t.pid, unix.SIGKILL)
	}
}

// sweep reaps dead orphans. Only adopted processes may be reaped here: a
// direct child belongs to the exec.Cmd that waits for it. A direct child is
// in our session or leads its own; any other child was adopted. A leader of
// its own session with one of our tags was adopted as well, unless it is one
// of our commands, which reap themselves.
func (t *tableOS) sweep() {
	if t.alone() {
		return
	}
	t.reaping.Lock()
	defer t.reaping.Unlock()
	self := os.Getpid()
	mine, err := unix.Getsid(0)
	if err != nil {
		return
	}
	for _, c := range t.below() {
		if !c.zombie || c.ppid != self || c.sid == mine {
			continue
		}
		if c.sid == c.pid && !t.adopted(c.pid) {
			continue
		}
		var ws unix.WaitStatus
		_, _ = unix.Wait4(c.pid, &ws, unix.WNOHANG, nil)
	}
}

func (t *tableOS) adopted(pid int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tags[tagOf(pid)] && !t.direct[pid]
}
