package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// netspace is the network that the commands of a session share: loopback and
// nothing else. A helper made it and listens in it for us; every command
// enters it, so one can talk to a server another one started. The helper keeps
// it alive. It also has a table of mounts of its own, in which it holds links
// in their place (see pin); commands enter that once there are any.
type netspace struct {
	enter string // nsenter, which joins it
	conn  *os.File
	cmd   *exec.Cmd
	pid   int // of the helper, a child of bwrap
	// listens waits until the helper does what it is told, and says why it does not.
	// Its namespaces can be entered before.
	listens func() error
	waited  func()       // ends what bounds that
	l       net.Listener // set once it listens
	said    strings.Builder

	mu             sync.Mutex // guards what follows
	refused, taken int64      // connections, when unheard was asked the last time
}

// network starts the netspace. Where that cannot be had, commands get no
// network at all, and the level says so.
func (b *bubblewrap) network(ctx context.Context) {
	enter := findTool(b.s.config, "nsenter")
	if enter == "" {
		b.noNetwork("nsenter is not installed", "install the package util-linux")
		return
	}
	n, err := b.helper(ctx, enter)
	if err != nil {
		b.noNetwork(err.Error(), "")
		return
	}
	b.net, b.space = n, n
}

// helper is the one that was started early, or a new one.
func (b *bubblewrap) helper(ctx context.Context, enter string) (*netspace, error) {
	if n, err, ok := b.early.take(); ok {
		return n, err
	}
	return startNetspace(ctx, b.path, b.s.config.Self, enter)
}

// works reports whether commands can run, and enter the network when there is one.
// A zygote for what is there now shows both; where none can be had, commands that
// do nothing show it.
func (b *bubblewrap) works(ctx context.Context) error {
	steps, links := b.s.policy.layout()
	w := b.nursery.at(b, newLayout(steps, links, b.links.count()), true)
	if b.net != nil {
		if err := b.net.listens(); err != nil {
			b.noNetwork(err.Error(), "")
			b.net, b.space = nil, nil
			b.nursery.drop(w) // it is in that network
			return b.works(ctx)
		}
	}
	if w != nil {
		b.working = true
		return nil
	}
	if err := tryBwrap(ctx, b.path); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	b.working = true
	if why := b.nursery.why; why != nil { // no command runs yet that could change it
		b.isCold(why)
	}
	if b.net != nil {
		if err := b.net.try(ctx, b.path); err != nil {
			b.noNetwork(err.Error(), "")
			b.net = nil
		}
	}
	return nil
}

func (b *bubblewrap) noNetwork(why, hint string) {
	b.s.level.Weaker = append(b.s.level.Weaker, "no network at all, also not through the proxy: "+why)
	if hint != "" {
		b.s.level.Hint = hint
	}
}

// startNetspace runs the helper, which sends a listener in its network. It returns as
// soon as that network can be entered.
func startNetspace(ctx context.Context, bwrap, self, enter string) (*netspace, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a network: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "netspace"), os.NewFile(uintptr(pair[1]), "netspace")
	defer theirs.Close()
	child, info, err := os.Pipe()
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("make a network: %w", err)
	}
	defer child.Close()
	defer info.Close()
	n := &netspace{enter: enter, conn: ours}
	n.cmd = exec.Command(bwrap, "--unshare-user", "--unshare-net", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_NET_BIND_SERVICE", "--dev-bind", "/", "/", "--die-with-parent", "--info-fd", "4", "--", self, HelperArg, "listen")
	n.cmd.Env = []string{}
	n.cmd.ExtraFiles = []*os.File{theirs, info}
	n.cmd.Stderr = &n.said
	n.cmd.WaitDelay = time.Second
	if err := n.cmd.Start(); err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("make a network: %w", err)
	}
	_, _ = theirs.Close(), info.Close()
	end := func() { _ = n.cmd.Process.Kill() } // which ends the waits below
	stop, late := context.AfterFunc(ctx, end), time.AfterFunc(5*time.Second, end)
	n.waited = func() { stop(); late.Stop() }
	n.listens = sync.OnceValue(func() error {
		defer n.waited()
		if err := n.receive(pair[0]); err != nil {
			return n.failed(err)
		}
		return nil
	})
	if n.pid, err = entered(child); err != nil {
		return nil, n.failed(err)
	}
	return n, nil
}

// failed ends the helper, and says why it could not be had.
func (n *netspace) failed(err error) error {
	_ = n.close()
	if text := strings.TrimSpace(n.said.String()); text != "" {
		err = errors.New(text)
	}
	return fmt.Errorf("make a network: %w", err)
}

// entered reads from info, where bwrap says its child, and waits until that is
// somebody in its namespaces, so that others can enter them.
func entered(info *os.File) (pid int, err error) {
	if pid, err = childOf(info); err != nil {
		return 0, errors.New("the helper ended")
	}
	// bwrap tells nobody that it wrote this map, which is the last that it writes.
	for {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/gid_map", pid))
		if err != nil {
			return 0, errors.New("the helper ended")
		}
		if len(b) > 0 {
			return pid, nil
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// receive takes the first listener, which comes with the helper's own number.
func (n *netspace) receive(fd int) error {
	text, l, err := received(fd)
	if err != nil {
		return err
	}
	if n.l = l; l == nil || text != strconv.Itoa(n.pid) {
		return errHelperEnded
	}
	return nil
}

var errHelperEnded = errors.New("the helper ended")

// received is what the helper says, and the listener that it sends along; nil when
// it sends none.
func received(fd int) (text string, l net.Listener, err error) {
	var data [512]byte
	oob := make([]byte, unix.CmsgSpace(4))
	m, k, _, _, err := unix.Recvmsg(fd, data[:], oob, unix.MSG_CMSG_CLOEXEC)
	for errors.Is(err, unix.EINTR) {
		m, k, _, _, err = unix.Recvmsg(fd, data[:], oob, unix.MSG_CMSG_CLOEXEC)
	}
	switch {
	case err != nil:
		return "", nil, err
	case m == 0:
		return "", nil, errHelperEnded
	case k > 0:
		l, err = listenerIn(oob[:k])
	}
	return string(data[:m]), l, err
}

func listenerIn(oob []byte) (net.Listener, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(msgs) != 1 {
		return nil, errHelperEnded
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("the helper sent something else")
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	return net.FileListener(f)
}

// try runs a command that does nothing as commands will run.
func (n *netspace) try(ctx context.Context, bwrap string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	args := append(n.args(bwrap, true, true), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	args = append(args, namespaces...)
	cmd := exec.CommandContext(ctx, n.enter, append(args, "--", trueTool())...)
	cmd.Env = []string{}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("enter the network: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// args are nsenter's arguments before those of bwrap.
func (n *netspace) args(bwrap string, network, mounts bool) []string {
	ns := fmt.Sprintf("/proc/%d/ns/", n.pid)
	args := []string{"--user=" + ns + "user", "--preserve-credentials"}
	if network {
		args = append(args, "--net="+ns+"net")
	}
	if mounts {
		args = append(args, "--mount="+ns+"mnt")
	}
	return append(args, "--", bwrap)
}

// unheard reports whether, since it was asked the last time, connections to localhost were
// refused and none was taken. The kernel counts them for the network as a whole, so that
// it does not matter which program it was and what it said.
func (b *bubblewrap) unheard() bool {
	if b.net == nil || !b.net.alive() {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/snmp", b.net.pid))
	if err != nil {
		return false
	}
	refused, taken := attempts(string(text))
	b.net.mu.Lock()
	defer b.net.mu.Unlock()
	was, had := b.net.refused, b.net.taken
	b.net.refused, b.net.taken = refused, taken
	return refused > was && taken == had
}

// attempts are the connections over TCP that failed and those that were taken, as
// /proc/net/snmp counts them: a line of names, and one of numbers.
func attempts(snmp string) (failed, taken int64) {
	var names []string
	for line := range strings.Lines(snmp) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "Tcp:" {
			continue
		}
		if names == nil {
			names = words
			continue
		}
		for i, w := range words[:min(len(words), len(names))] {
			n, _ := strconv.ParseInt(w, 10, 64) // the first word is none
			switch names[i] {
			case "AttemptFails":
				failed = n
			case "PassiveOpens":
				taken = n
			}
		}
	}
	return failed, taken
}

// alive reports whether the helper holds its end still: when it does not, its
// number may belong to another process.
func (n *netspace) alive() bool {
	var b [1]byte
	k, _, err := unix.Recvfrom(int(n.conn.Fd()), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return errors.Is(err, unix.EAGAIN) || err == nil && k > 0
}

func (n *netspace) close() error {
	n.waited()
	_ = n.conn.Close()
	if n.l != nil {
		_ = n.l.Close()
	}
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait() // it was killed
	return nil
}

// listen is the helper: it makes a listener in the network it was started in,
// sends it with its number over descriptor 3, and does what it is told there until
// that ends.
func listen() error {
	if err := hand("127.0.0.1:0", strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	msg := make([]byte, 4*unix.PathMax)
	for {
		m, err := unix.Read(3, msg)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || m == 0 {
			return nil
		}
		address, listens := strings.CutPrefix(string(msg[:m]), "listen ")
		if !listens {
			err = mountAsTold(string(msg[:m]))
		} else if err = hand(address, done); err == nil {
			continue
		}
		answer := done
		if err != nil {
			answer = err.Error()
		}
		if _, err := unix.Write(3, []byte(answer)); err != nil {
			return nil
		}
	}
}

// hand sends a new listener with text over descriptor 3.
func hand(address, text string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Sendmsg(3, []byte(text), unix.UnixRights(int(f.Fd())), nil, 0)
}

// done is what the helper says when it did what it was asked.
const done = "done"

// mountAsTold carries out "hold PATH", "cover PATH" or "layer LAYER".
func mountAsTold(msg string) error {
	what, path, _ := strings.Cut(msg, " ")
	switch what {
	case "hold":
		return holdLink(path)
	case "cover":
		return coverSocket(path)
	case "layer":
		return mountLayer(path)
	}
	return fmt.Errorf("unknown request %q", msg)
}

// holdLink mounts a link onto itself: then it still leads where it did, and
// can be neither removed, renamed nor replaced by whoever sees this table of
// mounts. bwrap changes no flags of a mount that has these, which matters
// because it could not name one on a link.
func holdLink(path string) error {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return fmt.Errorf("open_tree: %w", err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstatat(fd, "", &st, unix.AT_EMPTY_PATH); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return errors.New("it is no link any more")
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return fmt.Errorf("mount_setattr: %w", err)
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("move_mount: %w", err)
	}
	return nil
}

// ask has the helper do something: see mountAsTold.
func (n *netspace) ask(what string) error {
	_, err := n.answer(what)
	return err
}

// answer is what comes of a request: a listener, when it is "listen ADDRESS".
func (n *netspace) answer(what string) (net.Listener, error) {
	if err := n.listens(); err != nil {
		return nil, err
	}
	fd := int(n.conn.Fd())
	if _, err := unix.Write(fd, []byte(what)); err != nil {
		return nil, err
	}
	said, l, err := received(fd)
	if err == nil && said != done {
		err = errors.New(said)
	}
	return l, err
}

// ports leads the ports that the settings name from the network of commands to this
// machine's. One that cannot be had there is told, and the sandbox is as strong without.
func (b *bubblewrap) ports() {
	b.links.mu.Lock()
	defer b.links.mu.Unlock()
	for _, port := range b.s.policy.Network.Ports {
		first := error(nil)
		for _, host := range []string{"127.0.0.1", "::1"} { // not every machine has the second
			l, err := b.net.answer("listen " + net.JoinHostPort(host, strconv.Itoa(port)))
			if err == nil {
				b.s.proxy.Local(l, uint16(port))
			} else if host == "127.0.0.1" {
				first = err
			}
		}
		if first != nil {
			b.noPort(port, first)
		}
	}
}

func (b *bubblewrap) noPort(port int, why error) {
	text := fmt.Sprintf("port %d of this machine is not reached (sandbox.network.local_ports): %v", port, why)
	b.s.level.Weaker = append(b.s.level.Weaker, text)
	if tell := b.s.config.Note; tell != nil {
		tell("sandbox: " + text)
	}
}
