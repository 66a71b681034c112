package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// groups puts each command into a control group of its own (cgroups(7),
// version 2), where that is ours to do: then its limits are the kernel's. Only
// the subtree below our own group is used, because everything else would take
// commands out of what somebody else bounded. A group either holds processes
// or divides its means among groups below it, so this process first moves out
// of the way, which it does only when it has the group for itself.
type groups struct {
	mu   sync.Mutex // guards the fields below
	open bool       // it was tried
	base string     // where groups are made; "" when it cannot be had
	home string     // the group this process moved to; "" when it did not
	n    int
}

// A group is that of one command.
type group struct {
	dir string
	f   *os.File // dir, for the start
}

// tasksEach is how many threads pids.max, which counts them, allows for each
// process of Limits.
const tasksEach = 8

// groupName is what leftovers of a killed adze are called.
var groupName = pattern.Lazy(`^adze-[0-9]+-[0-9]+$`)

// prepare looks for a place for groups once; mount is where the file system
// of groups is, /sys/fs/cgroup.
func (g *groups) prepare(mount string) {
	if g.open {
		return
	}
	g.open = true
	b, err := os.ReadFile("/proc/self/cgroup")
	_, own, found := strings.Cut("\n"+string(b), "\n0::/")
	if err != nil || !found {
		return
	}
	own, _, _ = strings.Cut(own, "\n")
	dir := filepath.Join(mount, own)
	if !paths.Within(mount, dir) || !lists(dir, "cgroup.controllers") {
		return
	}
	if !lists(dir, "cgroup.subtree_control") && !g.divide(dir) {
		return
	}
	g.base = dir
	entries, _ := os.ReadDir(dir) // nothing to remove, then
	for _, e := range entries {
		if groupName().MatchString(e.Name()) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // only an empty one can be
		}
	}
}

// lists reports whether a file of a group names the controllers that limits need.
func lists(dir, file string) bool {
	b, err := os.ReadFile(filepath.Join(dir, file))
	names := strings.Fields(string(b))
	return err == nil && slices.Contains(names, "memory") && slices.Contains(names, "pids")
}

// divide moves this process and what it started from dir to a group below it,
// and has dir hand its controllers down.
func (g *groups) divide(dir string) bool {
	mine := map[int]bool{os.Getpid(): true}
	kids := map[int][]task{}
	for _, t := range everybody() {
		kids[t.ppid] = append(kids[t.ppid], t)
	}
	for all := kids[os.Getpid()]; len(all) > 0; all = all[1:] {
		mine[all[0].pid] = true
		all = append(all, kids[all[0].pid]...)
	}
	pids := members(dir)
	if len(pids) == 0 || slices.ContainsFunc(pids, func(pid int) bool { return !mine[pid] }) {
		return false // somebody else lives here
	}
	home := filepath.Join(dir, fmt.Sprintf("adze-%d-0", os.Getpid()))
	if err := os.Mkdir(home, 0o755); err != nil {
		return false
	}
	g.home = home
	if !move(pids, home) || put(dir, "cgroup.subtree_control", "+memory +pids") != nil {
		g.back(dir)
		return false
	}
	return true
}

// back undoes divide.
func (g *groups) back(dir string) {
	_ = put(dir, "cgroup.subtree_control", "-memory -pids")
	move(members(g.home), dir)
	_ = os.Remove(g.home)
	g.home = ""
}

// close leaves everything as it was found.
func (g *groups) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.home != "" {
		g.back(g.base)
	}
	g.base = ""
}

// members lists the processes of a group.
func members(dir string) (pids []int) {
	b, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	for _, f := range strings.Fields(string(b)) {
		if pid, err := strconv.Atoi(f); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func move(pids []int, dir string) bool {
	ok := true
	for _, pid := range pids {
		if err := put(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil && !errors.Is(err, unix.ESRCH) {
			ok = false
		}
	}
	return ok
}

func put(dir, file, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// make makes a group with limits, nil where it cannot.
func (g *groups) make(l Limits) *group {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prepare("/sys/fs/cgroup")
	if g.base == "" {
		return nil
	}
	g.n++
	dir := filepath.Join(g.base, fmt.Sprintf("adze-%d-%d", os.Getpid(), g.n))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil
	}
	c := &group{dir: dir}
	err := put(dir, "pids.max", strconv.Itoa(tasksEach*l.Processes))
	if l.Memory > 0 {
		err = errors.Join(err, put(dir, "memory.max", strconv.FormatInt(l.Memory, 10)))
		_ = put(dir, "memory.swap.max", "0")  // not there without swap
		_ = put(dir, "memory.oom.group", "1") // since Linux 4.19; else it takes one by one
	}
	if err == nil {
		c.f, err = os.Open(dir)
	}
	if err != nil {
		c.remove()
		return nil
	}
	return c
}

// ranOut reports whether the kernel killed something for want of memory.
func (c *group) ranOut() bool {
	b, _ := os.ReadFile(filepath.Join(c.dir, "memory.events"))
	for _, line := range bytes.Split(b, []byte("\n")) {
		if f := bytes.Fields(line); len(f) == 2 && string(f[0]) == "oom_kill" && string(f[1]) != "0" {
			return true
		}
	}
	return false
}

// kill ends everything in the group at once, a fork bomb too (since Linux 5.14).
func (c *group) kill() { _ = put(c.dir, "cgroup.kill", "1") }

// remove removes the group when its processes are gone. One that a stuck
// process is in stays, and goes with the next adze here.
func (c *group) remove() {
	if c.f != nil {
		_ = c.f.Close()
	}
	for range 50 {
		if err := os.Remove(c.dir); !errors.Is(err, unix.EBUSY) {
			return
		}
		time.Sleep(2 * time.Millisecond) // a killed process needs a moment to be gone
	}
}
