package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox/zygote"
)

// A command alone has processes of its own, and the kernel ends them with it. In a room
// are a command in the background and those that begin while it runs: they see each
// other's processes and can end them, so `kill $(cat server.pid)` works. They reach no
// more of each other, as each has a user namespace of its own: no memory, no open files,
// no environment, no mounts. All come from one zygote, so the same files, network and
// system calls are open to all of them.
//
// That the processes of one are ended with it does not rest on any of them. Each has the
// user namespace that its command was born with, which nothing inside can change, and the
// kernel tells when the last one that has the command's filter is gone. Where they do not
// end in time, the room ends, and all in there with it.

// A lobby holds the room of a zygote.
type lobby struct {
	mu   sync.Mutex // guards the fields below
	now  *room      // where commands go that begin now; nil: each is alone
	cold bool       // there can be no room here
}

// A room is a PID namespace for several commands.
type room struct {
	lobby   *lobby
	process *os.Process // the first one
	hold    *os.File    // the room ends when it is closed
	over    chan struct{}
	guests  int  // lobby.mu guards it
	stopped bool // and this
}

// A guest is a command in a room.
type guest struct {
	room *room
	pid  int
	mark string   // its user namespace
	gone *os.File // tells when no process is left
}

// Times of a guest's end.
const (
	// ending is how long its processes may take to go, before the room goes.
	ending = time.Second
	// pause is how long each look at what is left waits for that.
	pause = 2 * time.Millisecond
)

// join starts a command in a room: in one that is there, or in a new one if the command
// is to stay. Pid 0 without an error says that it is to be alone.
func (p *parent) join(stays bool, r zygote.Request, gate, lock *os.File, files []*os.File) (proc.Launched, error) {
	in := p.rooms.enter(stays, func() (*room, error) { return p.open(lock) })
	if in == nil {
		return proc.Launched{}, nil
	}
	pid, gone, err := p.client.Join(r, gate, lock, files)
	if err == nil {
		g := &guest{room: in, pid: pid, gone: gone}
		if g.mark, err = os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/user"); err == nil {
			return proc.Launched{Pid: pid, End: g.end}, nil
		}
		_ = unix.Kill(pid, unix.SIGKILL) // it has not begun
		_, _ = unix.Wait4(pid, nil, 0, nil)
		_ = gone.Close()
	}
	in.leave()
	in.lobby.failed(in)
	if errors.Is(err, zygote.ErrStale) || errors.Is(err, zygote.ErrGone) {
		return proc.Launched{}, err
	}
	return proc.Launched{}, nil
}

// enter counts a command in; nil says that it is to be alone.
func (l *lobby) enter(stays bool, open func() (*room, error)) *room {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil && stays && !l.cold {
		r, err := open()
		if err != nil {
			l.cold = true
			return nil
		}
		l.now = r
	}
	if l.now != nil {
		l.now.guests++
	}
	return l.now
}

// failed has no room tried again where its only command could not be started in it.
func (l *lobby) failed(in *room) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cold = l.cold || in.guests == 0
}

// open opens a room.
func (p *parent) open(lock *os.File) (*room, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	pid, err := p.client.Open(r, lock)
	if err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("open a room: %w", err)
	}
	in := &room{lobby: &p.rooms, hold: w, over: make(chan struct{})}
	if in.process, err = os.FindProcess(pid); err != nil {
		_ = w.Close() // the room ends
		return nil, err
	}
	go func() { // ends with the first process, which ends when hold is closed
		defer close(in.over)
		_, _ = in.process.Wait() // however it ended
	}()
	return in, nil
}

// leave counts a command out. With the last one the room ends, and whatever is left in it.
func (r *room) leave() {
	r.lobby.mu.Lock()
	r.guests--
	last := r.guests == 0
	if last && r.lobby.now == r {
		r.lobby.now = nil
	}
	r.lobby.mu.Unlock()
	if last {
		_ = r.hold.Close()
		r.wait()
	}
}

// stop ends the room and all in there.
func (r *room) stop() {
	r.lobby.mu.Lock()
	if r.lobby.now == r {
		r.lobby.now = nil
	}
	r.stopped = true
	r.lobby.mu.Unlock()
	_ = r.process.Kill() // it may have ended
}

// wait waits until the kernel has ended what is in the room. The first process of a command
// that cannot be killed now keeps it from that.
func (r *room) wait() {
	t := time.NewTimer(ending)
	defer t.Stop()
	select {
	case <-r.over:
	case <-t.C:
	}
}

// end ends what is left of a command whose first process was reaped. It says so when
// that was ended because another one in the room would not end.
func (g *guest) end() (why string) {
	defer g.gone.Close()
	defer g.room.leave()
	alone, stopped := g.room.state()
	if stopped {
		why = "a command whose processes it shared would not end"
	}
	if zygote.Gone(g.gone, 0) || alone {
		return why
	}
	seen := map[int]bool{}
	for late := time.Now().Add(ending); !zygote.Gone(g.gone, pause); {
		if time.Now().After(late) {
			g.room.stop()
			_ = zygote.Gone(g.gone, ending)
			break
		}
		g.strike(seen)
	}
	return why
}

// state says whether no other command is in the room, so that all ends with that, and
// whether it was stopped.
func (r *room) state() (alone, stopped bool) {
	r.lobby.mu.Lock()
	defer r.lobby.mu.Unlock()
	alone = r.guests == 1
	if alone && r.lobby.now == r { // none comes any more
		r.lobby.now = nil
	}
	return alone, r.stopped
}

// strike stops the processes of the command that were not seen before, so that none
// forks between being seen and being killed, and kills all when there is no such.
func (g *guest) strike(seen map[int]bool) {
	all := g.processes()
	fresh := false
	for _, p := range all {
		if !seen[p.pid] {
			seen[p.pid], fresh = true, true
			_ = unix.PidfdSendSignal(p.fd, unix.SIGSTOP, nil, 0)
		}
	}
	for _, p := range all {
		if !fresh {
			_ = unix.PidfdSendSignal(p.fd, unix.SIGKILL, nil, 0)
		}
		_ = unix.Close(p.fd)
	}
}

// An inmate is a process that cannot become another one while it is looked at.
type inmate struct{ pid, fd int }

// processes are those of the command that one look finds.
func (g *guest) processes() (out []inmate) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read so far is still right
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil || !g.owns(n) {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it has ended
		}
		if !g.owns(n) { // the number may be another one's by now
			_ = unix.Close(fd)
			continue
		}
		out = append(out, inmate{pid, fd})
	}
	return out
}

func (g *guest) owns(pid string) bool {
	is, err := os.Readlink("/proc/" + pid + "/ns/user")
	return err == nil && is == g.mark
}
