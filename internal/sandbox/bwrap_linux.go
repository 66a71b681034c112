package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox/seccomp"
	"github.com/adze-agent/adze/internal/text/paths"
)

// bubblewrap confines by namespaces: files by mounts, processes by a PID
// namespace, the network by an empty one.
type bubblewrap struct {
	s       *Sandbox
	path    string
	filter  []byte
	blank   string    // an empty file nobody may read
	net     *netspace // with the proxy in it; nil: commands have no network
	space   *netspace // net, or one that only holds links and covers sockets
	working bool      // it was seen to work here
	early   *helper   // becomes space when that is needed; nil: it is started then
	links   links
	prlimit string // the program, "" when it is missing
	loose   bool   // links cannot be held here, and the level says so
	nursery nursery
	cached  bool     // the helper has mounted layers of caches
	claim   *os.File // keeps other sessions from doing so; nil: it is not held
}

// namespaces are what every command gets for itself. The network's comes
// with the session when there is a proxy in it.
var namespaces = []string{
	"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--disable-userns",
	"--die-with-parent", "--new-session", "--cap-drop", "ALL",
}

// findBwrap looks in PATH, but never in a folder of the workspace.
func findTool(c Config, name string) string {
	dirs := append(filepath.SplitList(c.Path), "/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin")
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) || paths.WithinAny(append(slices.Clone(c.Roots), c.Dir), real(dir)) {
			continue
		}
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// tryBwrap runs a command that does nothing the way commands will run.
func tryBwrap(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	args := append([]string{"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net"}, namespaces...)
	cmd := exec.CommandContext(ctx, path, append(args, "--", trueTool())...)
	cmd.Env = []string{}
	out, err := cmd.CombinedOutput()
	if err != nil {
		text, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		if text == "" {
			text = err.Error()
		}
		return errors.New(text)
	}
	return nil
}

func trueTool() string {
	for _, p := range []string{"/bin/true", "/usr/bin/true", "/run/current-system/sw/bin/true"} {
		if exists(p) {
			return p
		}
	}
	return "/bin/true"
}

func startBwrap(ctx context.Context, s *Sandbox, path string, early *helper) (mechanism, error) {
	defer early.drop()
	b := &bubblewrap{s: s, path: path, early: early, blank: filepath.Join(s.config.Run, "blank"), prlimit: findTool(s.config, "prlimit")}
	err := os.MkdirAll(s.config.Run, 0o700)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(b.blank, nil, 0); err != nil && !errors.Is(err, os.ErrPermission) {
		return nil, err
	}
	if b.filter, err = filter(seccomp.Policy{Unix: s.policy.Network.AllUnix || len(s.policy.Network.Unix) > 0, UDP: true, Inet: true, SetGID: setgid(s.policy)}); err != nil {
		return nil, err
	}
	closeOnExec()
	if n := s.policy.Network; !n.Off() || len(n.Ports) > 0 {
		b.network(ctx)
	}
	b.holdFirst(ctx)
	if err := b.coverSockets(ctx); err != nil {
		return b, errors.Join(b.works(ctx), err)
	}
	b.warmCaches(ctx)
	if err := b.works(ctx); err != nil {
		return b, err
	}
	if b.net != nil {
		s.serve(b.net.l)
		b.ports()
	}
	return b, nil
}

func filter(p seccomp.Policy) ([]byte, error) {
	arch, ok := seccomp.ArchOf(runtime.GOARCH)
	if !ok {
		return nil, fmt.Errorf("there is no system call filter for %s", runtime.GOARCH)
	}
	prog, err := seccomp.Assemble(arch, p)
	return seccomp.Bytes(prog), err
}

// closeOnExec keeps descriptors that whoever started adze left open out of
// what it starts. Go opens its own this way already.
func closeOnExec() { _ = unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) }

func (b *bubblewrap) wrap(c *proc.Command, p Policy, h held) error {
	closeOnExec()
	steps, links := p.layout()
	h.mounted(steps, links)
	if !b.loose {
		if err := b.hold(context.Background(), links); err != nil { // bounded by the helper's start
			return err
		}
	}
	if err := b.coverSockets(context.Background()); err != nil { // bounded as well
		return err
	}
	limitProcesses(c, b.s.config.Processes, b.prlimit)
	c.Keeper = true
	if h.itself || b.s.config.cold {
		return b.bwrap(c, steps, h.lock)
	}
	w := b.nursery.at(b, newLayout(steps, links, b.links.count()), !p.once)
	if w == nil {
		return b.bwrap(c, steps, h.lock)
	}
	c.Helpers = b.helpers(w)
	inside := *c
	c.Launch = func(files []*os.File) (proc.Launched, error) { return w.launch(inside, h.lock, files) }
	c.Otherwise = func(c *proc.Command) error {
		c.Path, c.Args = inside.Path, inside.Args
		return b.bwrap(c, steps, h.lock)
	}
	c.Path, c.Args = "", nil // who does not know of Launch starts nothing
	return nil
}

// helpers are the processes that commands from a zygote are confined with.
func (b *bubblewrap) helpers(w *parent) []int {
	pids := []int{w.process.Pid}
	b.links.mu.Lock()
	defer b.links.mu.Unlock()
	if b.space != nil {
		pids = append(pids, b.space.cmd.Process.Pid)
	}
	return pids
}

// bwrap has bubblewrap itself start a command.
func (b *bubblewrap) bwrap(c *proc.Command, steps []step, journal *os.File) (err error) {
	own := c.Files // they stay 3, 4, … for the command; bwrap's come after them
	var files []*os.File
	defer func() {
		if err != nil {
			for _, f := range files {
				_ = f.Close()
			}
		}
	}()
	lock, err := again(journal)
	if err != nil {
		return err
	}
	files = append(files, lock)
	filter, err := memfile(b.filter)
	if err != nil {
		return err
	}
	files = append(files, filter)
	path, before, err := b.enter()
	if err != nil {
		return err
	}
	info, begin, heard, err := offer()
	if err != nil {
		return err
	}
	args := append([]string{filepath.Base(path)}, before...)
	args = append(args, b.arguments(steps, 3+len(own))...)
	args = append(args, "--chdir", c.Dir, "--", c.Path)
	if len(c.Args) > 1 {
		args = append(args, c.Args[1:]...)
	}
	c.Path, c.Args, c.Files = path, args, slices.Concat(own, files, []*os.File{info, begin})
	after := c.After
	c.After = func() {
		heard()
		if after != nil {
			after()
		}
	}
	return nil
}

// enter is the program to start and its first arguments: bwrap itself, or what
// enters the shared network, and the table of mounts with held links, before.
func (b *bubblewrap) enter() (path string, args []string, err error) {
	held := b.cached || b.holds() || b.listsSockets()
	if b.net == nil && !held {
		return b.path, nil, nil
	}
	if !b.space.alive() {
		return "", nil, errors.New("the network of the sandbox ended")
	}
	if held { // its mounts are complete once it listens
		if err := b.space.listens(); err != nil {
			return "", nil, err
		}
	}
	return b.space.enter, b.space.args(b.path, b.net != nil, held), nil
}

// again is another descriptor of an open file, which shares its lock.
func again(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("hold %s: %w", f.Name(), err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// arguments are bwrap's, but for the command. It gets the journal, whose lock
// bwrap holds and hands to nobody, as descriptor fd, the filter as the next, and
// tells its child's number on the one after; the child waits for the last.
func (b *bubblewrap) arguments(steps []step, fd int) []string {
	args := append([]string{"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}, namespaces...)
	if ownsProc() {
		args = append(args, "--remount-ro", "/proc")
	}
	if b.net == nil {
		args = append(args, "--unshare-net")
	}
	args = append(args, "--sync-fd", strconv.Itoa(fd), "--seccomp", strconv.Itoa(fd+1), "--info-fd", strconv.Itoa(fd+2), "--block-fd", strconv.Itoa(fd+3))
	return append(args, b.mounts(steps)...)
}

// ownsProc reports whether this user owns what is in /proc/sys: its owner needs no
// capability to write there. It is root, by whatever number a namespace shows it.
func ownsProc() bool {
	var st unix.Stat_t
	return os.Geteuid() == 0 || unix.Stat("/proc/sys", &st) != nil || int(st.Uid) == os.Geteuid()
}

// mounts are bwrap's arguments for steps. bwrap reads the whole table of
// mounts for each bind and not for a tmpfs, so binds come first.
func (b *bubblewrap) mounts(steps []step) []string {
	var hidden, out, later []string
	for i, s := range steps {
		to := &out
		if paths.WithinAny(hidden, s.path) {
			to = &later
		}
		switch s.do {
		case write, pin:
			*to = append(*to, "--bind", s.path, s.path)
		case keep, reveal:
			*to = append(*to, "--ro-bind", s.path, s.path)
		case hideDir:
			mode := "0000"
			if i+1 < len(steps) && paths.Within(s.path, steps[i+1].path) {
				mode = "0111" // something inside can be reached by its name
			}
			later = append(later, "--perms", mode, "--size", "65536", "--tmpfs", s.path)
			hidden = append(hidden, s.path)
		case hideFile:
			*to = append(*to, "--ro-bind", b.blank, s.path)
		}
	}
	return append(out, later...)
}

// memfile is a file without a name that holds data.
func memfile(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("adze", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memfd:"+strconv.Itoa(fd))
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return nil, err
	}
	if _, err := f.Seek(0, 0); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (b *bubblewrap) close() error {
	var ended sync.WaitGroup
	defer ended.Wait()
	ended.Go(b.nursery.close)
	var err error
	if b.space != nil {
		err = b.space.close()
	}
	if b.claim != nil {
		_ = b.claim.Close()
	}
	return err
}
