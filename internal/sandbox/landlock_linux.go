package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox/seccomp"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Landlock rights (linux/landlock.h), by the version of the interface that
// has them.
const (
	fsExecute   = 1 << 0
	fsWriteFile = 1 << 1
	fsReadFile  = 1 << 2
	fsReadDir   = 1 << 3
	fsRefer     = 1 << 13 // 2
	fsTruncate  = 1 << 14 // 3
	fsIoctlDev  = 1 << 15 // 5

	fsAllV1 = 1<<13 - 1

	netBind    = 1 << 0 // 4
	netConnect = 1 << 1

	ruleNetPort = 2

	scopeAbstract = 1 << 0 // 6
	scopeSignal   = 1 << 1
)

// minLandlock is the version below which network rules are missing.
const minLandlock = 4

// confined is what the helper is told: restrictions that it
// puts on itself before it becomes the command.
type confined struct {
	ABI     int      `json:"abi"`
	Write   []string `json:"write"`
	Devices []string `json:"devices"`
	Read    []string `json:"read"`  // files and folders, with all that is in them
	Port    int      `json:"port"`  // the proxy's; 0 is none
	Ports   []int    `json:"ports"` // of this machine
	Listen  bool     `json:"listen"`
	Filter  []byte   `json:"filter"`
	Path    string   `json:"path"`
	Args    []string `json:"args"`
}

// landlocked confines through Landlock and the system call filter.
type landlocked struct {
	s   *Sandbox
	abi int
}

// landlockWeaker is what Landlock cannot do that bubblewrap does.
func landlockWeaker(abi int, n config.SandboxNetwork) []string {
	out := []string{
		"protected paths inside writable folders (.git/hooks, .claude …) that exist can be changed; what a command makes there is settled when it ends",
		"modes, owners and times of files outside can be changed where their owner may",
		"names in hidden folders can be listed, their content cannot be read",
		"what is hidden inside a writable folder can be read",
		"processes outside can be seen",
		"with a list of unix sockets, every socket with a path can be connected to",
		"the proxy's port number is open on every host",
		"shared memory in /dev/shm is shared with what runs outside",
	}
	if len(n.LocalPorts) > 0 {
		out = append(out, "the ports of sandbox.network.local_ports are open on every host: "+strings.Join(n.LocalPorts, ", "))
	}
	if n.LocalBinding {
		out = append(out, "what listens can be reached from other machines, and not from another command")
	}
	if abi < 6 {
		out = append(out, "processes outside can be signalled, abstract unix sockets reached")
	}
	return out
}

func startLandlock(_ context.Context, s *Sandbox, abi int) (mechanism, error) {
	if !s.policy.Network.Off() {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		s.serve(l)
	}
	closeOnExec()
	return &landlocked{s: s, abi: abi}, nil
}

func (l *landlocked) close() error { return nil }

func (l *landlocked) wrap(c *proc.Command, p Policy, _ held) error {
	closeOnExec()
	n := confined{ABI: l.abi, Path: c.Path, Args: c.Args, Listen: p.Network.Listen, Ports: p.Network.Ports}
	if l.s.proxy != nil {
		if _, port, err := net.SplitHostPort(l.s.proxy.Address()); err == nil {
			_, _ = fmt.Sscan(port, &n.Port)
		}
	}
	var err error
	unixSockets := p.Network.AllUnix || len(p.Network.Unix) > 0
	if n.Filter, err = filter(seccomp.Policy{Unix: unixSockets, Inet: n.Port != 0 || n.Listen || len(n.Ports) > 0, Alone: true, SetGID: setgid(p)}); err != nil {
		return err
	}
	for _, w := range append(slices.Clone(p.Writable), "/dev/shm") { // semaphores of the C library live there
		if exists(w) {
			n.Write = append(n.Write, w)
		}
	}
	n.Devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}
	n.Read = readable(p.Hidden)
	for _, r := range p.Readable {
		if exists(r) {
			n.Read = append(n.Read, r)
		}
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	f, err := memfile(data)
	if err != nil {
		return err
	}
	fd := 3 + len(c.Files) // those before it are the command's
	c.Files = append(slices.Clip(c.Files), f)
	c.Path, c.Args = l.s.config.Self, []string{filepath.Base(l.s.config.Self), HelperArg, "landlock", strconv.Itoa(fd)}
	return nil
}

// readable lists what may be read so that nothing hidden is: all of the root
// folder, but where something hidden is below, what lies beside it.
func readable(hidden []string) []string {
	var out []string
	var walk func(dir string)
	walk = func(dir string) {
		list, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range list {
			p := filepath.Join(dir, e.Name())
			switch {
			case slices.Contains(hidden, p), e.Type()&os.ModeSymlink != 0:
			case slices.ContainsFunc(hidden, func(h string) bool { return paths.Within(p, h) }):
				walk(p)
			default:
				out = append(out, p)
			}
		}
	}
	walk("/")
	return out
}

// becomeLandlocked is the helper: it restricts itself as descriptor fd says, and
// becomes the command, which keeps the descriptors before that one.
func becomeLandlocked(fd uint) error {
	f := os.NewFile(uintptr(fd), "request")
	data, err := io.ReadAll(io.LimitReader(f, 8<<20))
	if err != nil {
		return err
	}
	var n confined
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	if err := unix.CloseRange(fd, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	// When memory runs out, this is what the kernel ends first. Without /proc
	// nothing is lost but that.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	runtime.LockOSThread() // what follows restricts this thread, which becomes the command
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := n.restrict(); err != nil {
		return err
	}
	if err := setFilter(n.Filter); err != nil {
		return err
	}
	if err := unix.Exec(n.Path, n.Args, os.Environ()); err != nil {
		return fmt.Errorf("%s: %w", n.Path, err)
	}
	return nil
}

// dropCapabilities takes from root what root can do, for good.
func dropCapabilities() error {
	for c := uintptr(0); c <= 63; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
			break // past the last one, or a user who has none to drop
		}
		if err != nil {
			return fmt.Errorf("drop capabilities: %w", err)
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

func (n confined) restrict() error {
	attr := struct{ fs, net, scoped uint64 }{fs: handled(n.ABI)}
	if attr.net = netConnect; !n.Listen { // a rule could name single ports only
		attr.net |= netBind
	}
	if n.ABI >= 6 {
		attr.scoped = scopeAbstract | scopeSignal
	}
	made, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if e != 0 {
		return fmt.Errorf("landlock: %w", e)
	}
	fd := int(made)
	defer unix.Close(fd)
	read := uint64(fsExecute | fsReadFile | fsReadDir)
	if err := beneath(fd, "/", fsReadDir); err != nil {
		return err
	}
	for _, p := range n.Read {
		if err := beneath(fd, p, read); err != nil {
			return err
		}
	}
	for _, p := range n.Write {
		if err := beneath(fd, p, handled(n.ABI)&^fsIoctlDev); err != nil {
			return err
		}
	}
	for _, p := range n.Devices {
		if err := beneath(fd, p, (read|fsWriteFile|fsTruncate|fsIoctlDev)&handled(n.ABI)); err != nil {
			return err
		}
	}
	for _, p := range append([]int{n.Port}, n.Ports...) {
		if p == 0 {
			continue
		}
		if err := port(fd, netConnect, p); err != nil {
			return err
		}
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0, 0); e != 0 {
		return fmt.Errorf("landlock: %w", e)
	}
	return nil
}

// port allows something on a TCP port.
func port(ruleset int, right uint64, number int) error {
	attr := struct{ allowed, port uint64 }{right, uint64(number)}
	if _, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), ruleNetPort, uintptr(unsafe.Pointer(&attr)), 0, 0, 0); e != 0 {
		return fmt.Errorf("landlock: port %d: %w", number, e)
	}
	return nil
}

func handled(abi int) uint64 {
	h := uint64(fsAllV1)
	if abi >= 2 {
		h |= fsRefer
	}
	if abi >= 3 {
		h |= fsTruncate
	}
	if abi >= 5 {
		h |= fsIoctlDev
	}
	return h
}

// fileRights are those a rule on a file can have.
const fileRights = fsExecute | fsWriteFile | fsReadFile | fsTruncate | fsIoctlDev

func beneath(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // gone, or not ours to see: without a rule it stays closed
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("landlock: %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	if rights == 0 {
		return nil
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if e != 0 && e != unix.EBADFD {
		return fmt.Errorf("landlock: %s: %w", path, e)
	}
	return nil
}

// setFilter installs a filter for this thread.
func setFilter(prog []byte) error {
	if len(prog) == 0 || len(prog)%8 != 0 {
		return errors.New("the system call filter is damaged")
	}
	ins := make([]unix.SockFilter, len(prog)/8)
	for i := range ins {
		b := prog[8*i:]
		ins[i] = unix.SockFilter{
			Code: uint16(b[0]) | uint16(b[1])<<8, Jt: b[2], Jf: b[3],
			K: uint32(b[4]) | uint32(b[5])<<8 | uint32(b[6])<<16 | uint32(b[7])<<24,
		}
	}
	fprog := unix.SockFprog{Len: uint16(len(ins)), Filter: &ins[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog))); e != 0 {
		return fmt.Errorf("system call filter: %w", e)
	}
	return nil
}

func landlockABI() (int, error) {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	abi := int(v)
	switch {
	case e == unix.ENOSYS:
		return 0, errors.New("this kernel has no Landlock")
	case e != 0:
		return 0, fmt.Errorf("landlock is off: %w", e)
	case abi < minLandlock:
		return abi, fmt.Errorf("landlock has version %d; version %d can confine the network", abi, minLandlock)
	}
	return abi, nil
}
