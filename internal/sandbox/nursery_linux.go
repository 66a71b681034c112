package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox/seccomp"
	"github.com/adze-agent/adze/internal/sandbox/zygote"
)

// A nursery keeps zygotes for the layouts that commands run in now: one for those that
// may need the secrets of the workspace, one for those that they are hidden from. So most
// commands need no bubblewrap of their own. Whatever is wrong with a zygote, bubblewrap
// starts the command.
type nursery struct {
	mu     sync.Mutex // guards the fields below
	now    []*parent  // the one used last is the first
	missed string     // the layout of the last command that none was for
	poll   *os.File   // tells that something was mounted outside
	mounts int        // how often that was so
	tried  bool
	closed bool
	why    error // why there is no zygote here at all
	births int   // how many commands zygotes have started
}

// A parent is a zygote.
type parent struct {
	nursery   *nursery
	layout    string
	client    *zygote.Client
	process   *os.Process
	openFiles [2]uint64
	rooms     lobby
}

// A layout of a command, as one text and as what must be mount points in it.
type laid struct {
	key    string
	steps  []step
	mounts []string
}

// newLayout describes steps, links that are held, and whatever else the helper
// of the session has mounted so far.
func newLayout(steps []step, links []string, helped int) laid {
	l := laid{steps: steps, mounts: slices.Clone(links)}
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte(byte('0' + s.do))
		b.WriteString(s.path)
		b.WriteByte(0)
		l.mounts = append(l.mounts, s.path)
	}
	for _, link := range links {
		b.WriteString("l" + link)
		b.WriteByte(0)
	}
	b.WriteString(strconv.Itoa(helped) + " ")
	l.key = b.String()
	return l
}

// at is the zygote for a layout, nil when bubblewrap is to start the command:
// when none can be had, and for a layout that was not seen before, because most
// of those are not seen again. usual: the layout is not that of one command alone.
func (n *nursery) at(b *bubblewrap, l laid, usual bool) *parent {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.why != nil || !usual || b.s.config.cold {
		return nil
	}
	l.key += strconv.Itoa(n.outside())
	if i := slices.IndexFunc(n.now, func(p *parent) bool { return p.layout == l.key }); i >= 0 {
		p := n.now[i]
		n.now = slices.Insert(slices.Delete(n.now, i, i+1), 0, p)
		return p
	}
	if n.tried && n.missed != l.key {
		n.missed = l.key
		return nil
	}
	n.tried = true
	n.end(maxZygotes - 1)
	p, err := b.parent(l)
	if err != nil {
		n.why = err
		if b.working {
			b.isCold(err)
		}
		return nil
	}
	p.nursery = n
	n.now, n.missed = slices.Insert(n.now, 0, p), ""
	return p
}

// maxZygotes bounds the layouts for which there is a zygote.
const maxZygotes = 2

// isCold tells why commands are each started from nothing.
func (b *bubblewrap) isCold(why error) {
	if told := b.s.config.Cold; told != nil {
		told(why.Error())
	}
}

// outside counts how often the mounts outside have changed; n.mu is held.
func (n *nursery) outside() int {
	if n.poll == nil {
		f, err := os.Open("/proc/self/mounts")
		if err != nil {
			return 0
		}
		n.poll = f
	}
	fds := []unix.PollFd{{Fd: int32(n.poll.Fd()), Events: unix.POLLPRI}}
	if k, err := unix.Poll(fds, 0); err == nil && k > 0 && fds[0].Revents&(unix.POLLPRI|unix.POLLERR) != 0 {
		n.mounts++
	}
	return n.mounts
}

func (n *nursery) count() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.births++
}

// drop forgets a zygote that is of no use any more.
func (n *nursery) drop(p *parent) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i := slices.Index(n.now, p); i >= 0 {
		n.tried = false
		n.now = slices.Delete(n.now, i, i+1)
		p.end()
	}
}

// end ends all zygotes but the first few; what they have started goes on. n.mu is held.
func (n *nursery) end(but int) {
	for len(n.now) > but {
		last := len(n.now) - 1
		n.now[last].end()
		n.now = n.now[:last]
	}
}

func (p *parent) end() {
	_ = p.client.Close()
	_ = p.process.Kill()
	_, _ = p.process.Wait() // it was killed
}

func (n *nursery) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.end(0)
	if n.poll != nil {
		_ = n.poll.Close()
	}
}

// parent starts a zygote: bubblewrap lays out its files, ends, and leaves it to
// this process, whose child then also is what it starts.
func (b *bubblewrap) parent(l laid) (*parent, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("adopt a zygote: %w", err)
	}
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("ask for the slack of timers: %w", err)
	}
	setup, err := json.Marshal(zygote.Setup{Filter: b.filter, Mounts: l.mounts, User: os.Geteuid(), Group: os.Getegid(), Slack: slack, SealProc: ownsProc()})
	if err != nil {
		return nil, err
	}
	told, err := memfile(setup)
	if err != nil {
		return nil, err
	}
	defer told.Close()
	said, err := memfile(nil)
	if err != nil {
		return nil, err
	}
	defer said.Close()
	// This program as it runs, whatever lies at its path now.
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	defer self.Close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("talk to a zygote: %w", err)
	}
	client, theirs := zygote.NewClient(pair[0]), os.NewFile(uintptr(pair[1]), "zygote")
	defer theirs.Close()
	path, before, err := b.enter()
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: path, Args: slices.Concat([]string{filepath.Base(path)}, before, b.zygoteArguments(l.steps)), Env: []string{"GOMAXPROCS=2"}, Dir: "/",
		Stdout: said, Stderr: said, ExtraFiles: []*os.File{theirs, told, self}, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	p := &parent{layout: l.key, client: client}
	if err := p.start(cmd, theirs); err != nil {
		_ = client.Close()
		text := make([]byte, 500)
		if n, _ := said.ReadAt(text, 0); n > 0 {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(text[:n])))
		}
		return nil, fmt.Errorf("start a zygote: %w", err)
	}
	return p, nil
}

// tryZygote says why there can be none here.
func tryZygote(path string) error {
	f, err := filter(seccomp.Policy{})
	if err != nil {
		return err
	}
	b := &bubblewrap{s: &Sandbox{}, path: path, filter: f}
	p, err := b.parent(laid{})
	if err != nil {
		return err
	}
	b.nursery.now = []*parent{p}
	b.nursery.close()
	return nil
}

// start starts cmd, which is bubblewrap, waits for the zygote, and ends bubblewrap.
func (p *parent) start(cmd *exec.Cmd, theirs io.Closer) error {
	if err := startSlack(cmd); err != nil {
		return err
	}
	_ = theirs.Close() // so that its end is seen
	var limit unix.Rlimit
	_ = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &limit) // this process has another, as every Go program
	p.openFiles = [2]uint64{limit.Cur, limit.Max}
	pid, err := p.client.Ready()
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	if err != nil {
		return err
	}
	if p.process, err = os.FindProcess(pid); err != nil {
		return err
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	if f := strings.Fields(rest); len(f) < 2 || f[1] != strconv.Itoa(os.Getpid()) {
		return errors.New("it was not left to this process")
	}
	return nil
}

// lazy is by how many nanoseconds timers of a zygote may be late. It has none of its own,
// but Go's runtime looks at what its threads do, every 20 µs while any of them is at work:
// that, and the interrupts for it, took as long as all else that a zygote does.
const lazy = 2_000_000

// startSlack starts cmd, whose timers may be late.
func startSlack(cmd *exec.Cmd) error {
	runtime.LockOSThread() // what it starts has its slack, and so has what that becomes (prctl(2))
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, lazy, 0, 0, 0) // without it, more is spent
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }()
	return cmd.Start()
}

// zygoteArguments are bwrap's for a zygote. What belongs to one command alone, the
// zygote makes; and nothing that it shares between commands can be written but
// what can be written outside as well.
func (b *bubblewrap) zygoteArguments(steps []step) []string {
	args := []string{
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
		"--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--new-session", "--uid", "0", "--gid", "0", "--cap-add", "ALL",
	}
	if b.net == nil {
		args = append(args, "--unshare-net")
	}
	args = append(args, b.mounts(steps)...)
	args = append(args, "--remount-ro", "/dev")
	for _, s := range steps {
		if s.do == hideDir {
			args = append(args, "--remount-ro", s.path)
		}
	}
	return append(args, "--", "/proc/self/fd/5", HelperArg, "zygote")
}

// launch has the zygote start c.
func (p *parent) launch(c proc.Command, lock *os.File, files []*os.File) (proc.Launched, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return proc.Launched{}, err
	}
	defer r.Close()
	args := append([]string{c.Path}, c.Args[min(1, len(c.Args)):]...)
	request := zygote.Request{Dir: c.Dir, Path: c.Path, Args: args, Env: proc.Set(c.Env, "PWD="+c.Dir), OpenFiles: p.openFiles}
	l, err := p.join(c.Keep, request, r, lock, files)
	if l.Pid == 0 && err == nil {
		l.Pid, err = p.client.Launch(request, r, lock, files)
	}
	if err != nil {
		_ = w.Close()
		if errors.Is(err, zygote.ErrStale) || errors.Is(err, zygote.ErrGone) {
			p.nursery.drop(p)
		}
		return proc.Launched{}, err
	}
	p.nursery.count()
	l.Begin = func(yes bool) {
		if yes {
			_, _ = w.WriteString("\n") // it may be over
		}
		_ = w.Close()
	}
	return l, nil
}
