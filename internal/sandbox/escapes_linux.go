package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An escape is one way out that must be closed.
type escape struct {
	name, what string
	// run tries it inside; nil means that it worked.
	run func(sc *scene) error
	// after looks from outside whether it had an effect; "" is none.
	after func(sc *scene) string
	weak  []string // mechanisms that do not promise this
	dies  bool     // the try may be killed
	safe  bool     // harmless without a sandbox, where it must succeed
	// settled: it may work while the command runs; what is left afterwards counts.
	settled bool
	// beside: it aims at a command in the background, which runs meanwhile.
	beside bool
}

var ll = []string{"landlock"}

// errNothing says that a try had no effect, without an error to show.
var errNothing = errors.New("no effect")

func create(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString("escaped")
	return errors.Join(err, f.Close())
}

func call(nr uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, e := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if e != 0 {
		return e
	}
	return nil
}

func socket(domain, kind, protocol int) error {
	fd, err := unix.Socket(domain, kind, protocol)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func dial(network, address string) error {
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

func read(path string) error {
	_, err := os.ReadFile(path)
	return err
}

func content(path, want string) func(*scene) string {
	return func(sc *scene) string {
		b, err := os.ReadFile(strings.Replace(path, "$", sc.Root, 1))
		if err == nil && string(b) == want {
			return ""
		}
		return path + " was changed"
	}
}

func absent(path string) func(*scene) string {
	return func(sc *scene) string {
		if p := strings.Replace(path, "$", sc.Root, 1); exists(p) {
			return p + " is there"
		}
		return ""
	}
}

func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("skip: " + name + " is not installed")
	}
	if err != nil {
		return fmt.Errorf("%s: %s", name, strings.TrimSpace(string(out)))
	}
	return nil
}

func zero(s string) uintptr {
	p, _ := unix.BytePtrFromString(s)
	return uintptr(unsafe.Pointer(p))
}

// escapes is the table of tries: files, protected paths, mounts, processes,
// the kernel, the network.
var escapes = []escape{
	{name: "write-outside", what: "create a file outside", safe: true, run: func(sc *scene) error { return create(sc.Outside + "/new") }, after: absent("$/outside/new")},
	{name: "overwrite-outside", what: "change a file outside", safe: true, run: func(sc *scene) error { return create(sc.Outside + "/file") }, after: content("$/outside/file", "before")},
	{name: "truncate-outside", what: "empty a file outside", safe: true, run: func(sc *scene) error { return os.Truncate(sc.Outside+"/file", 0) }, after: content("$/outside/file", "before")},
	{name: "remove-outside", what: "remove a file outside", safe: true, run: func(sc *scene) error { return os.Remove(sc.Outside + "/dir/file") }, after: content("$/outside/dir/file", "before")},
	{name: "rename-outside", what: "move a folder outside", safe: true, run: func(sc *scene) error { return os.Rename(sc.Outside+"/dir", sc.Outside+"/moved") }, after: absent("$/outside/moved")},
	{name: "rename-across", what: "move a file from outside into the project", safe: true, run: func(sc *scene) error { return os.Rename(sc.Outside+"/file", sc.Project+"/taken") }, after: content("$/outside/file", "before")},
	{name: "hard-link", what: "link a file from outside into the project and change it", safe: true, run: func(sc *scene) error {
		if err := os.Link(sc.Outside+"/file", sc.Project+"/linked"); err != nil {
			return err
		}
		return create(sc.Project + "/linked")
	}, after: content("$/outside/file", "before")},
	{name: "symlink-write", what: "write through a planted link", safe: true, run: func(sc *scene) error {
		if err := os.Symlink(sc.Outside+"/file", sc.Project+"/link"); err != nil {
			return fmt.Errorf("skip: %w", err)
		}
		return create(sc.Project + "/link")
	}, after: content("$/outside/file", "before")},
	{name: "dotdot-write", what: "write through ..", safe: true, run: func(sc *scene) error { return create("../outside/file") }, after: content("$/outside/file", "before")},
	{name: "chmod-outside", what: "change a mode outside", safe: true, weak: ll, run: func(sc *scene) error { return os.Chmod(sc.Outside+"/file", 0o777) }},
	{name: "utimes-outside", what: "change times outside", safe: true, weak: ll, run: func(sc *scene) error { return os.Chtimes(sc.Outside+"/file", time.Unix(1, 0), time.Unix(1, 0)) }},
	{name: "xattr-outside", what: "set an attribute outside", run: func(sc *scene) error { return unix.Setxattr(sc.Outside+"/file", "user.adze", []byte("x"), 0) }},
	{name: "chown-outside", what: "change an owner outside", weak: ll, run: func(sc *scene) error { return os.Chown(sc.Outside+"/file", os.Getuid(), os.Getgid()) }},
	{name: "mknod-device", what: "make a device", run: func(sc *scene) error { return unix.Mknod(sc.Project+"/disk", unix.S_IFBLK|0o666, 8<<8) }},
	{name: "open-by-handle", what: "open a file by its number", run: func(*scene) error {
		h := unix.NewFileHandle(1, make([]byte, 8))
		_, err := unix.OpenByHandleAt(unix.AT_FDCWD, h, unix.O_RDONLY)
		return err
	}},
	{name: "other-temp", what: "write to another session's temporary folder", safe: true, run: func(sc *scene) error { return create(sc.Temp + "/file") }, after: content("$/other-session/file", "before")},
	{name: "write-sys", what: "write to /sys", run: func(*scene) error { return create("/sys/kernel/uevent_helper") }},
	{name: "write-proc-sys", what: "write to /proc/sys", run: func(*scene) error {
		const file = "/proc/sys/kernel/core_pattern"
		same, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(file, same, 0)
	}},
	{name: "write-proc-irq", what: "write to the rest of /proc", run: func(*scene) error {
		for _, p := range []string{"/proc/irq/default_smp_affinity", "/proc/sysrq-trigger", "/proc/mtrr"} {
			f, err := os.OpenFile(p, os.O_WRONLY, 0)
			if err == nil {
				return f.Close()
			}
		}
		return errors.New("none can be opened")
	}},
	{name: "write-etc", what: "write to /etc", run: func(*scene) error { return create("/etc/adze-check") }},

	{name: "git-hook", what: "add a git hook", weak: ll, safe: true, run: func(sc *scene) error { return create(sc.Project + "/.git/hooks/post-checkout") }, after: absent("$/project/.git/hooks/post-checkout")},
	{name: "git-config", what: "change .git/config", weak: ll, safe: true, run: func(sc *scene) error { return create(sc.Project + "/.git/config") }, after: content("$/project/.git/config", "[core]\n")},
	{name: "git-config-replace", what: "replace .git/config", weak: ll, run: func(sc *scene) error {
		if err := create(sc.Project + "/c"); err != nil {
			return err
		}
		return os.Rename(sc.Project+"/c", sc.Project+"/.git/config")
	}, after: content("$/project/.git/config", "[core]\n")},
	{name: "git-rename", what: "move .git away and put another in its place", weak: ll, run: func(sc *scene) error { return os.Rename(sc.Project+"/.git", sc.Project+"/g") }, after: absent("$/project/g")},
	{name: "git-hooks-rename", what: "move .git/hooks away", weak: ll, run: func(sc *scene) error { return os.Rename(sc.Project+"/.git/hooks", sc.Project+"/.git/h") }, after: absent("$/project/.git/h")},
	{name: "settings-adze", what: "create .adze/settings.json", settled: true, safe: true, run: func(sc *scene) error {
		_ = os.Chmod(sc.Project+"/.adze", 0o777) // a private copy at best
		_ = os.MkdirAll(sc.Project+"/.adze", 0o755)
		return create(sc.Project + "/.adze/settings.json")
	}, after: absent("$/project/.adze")},
	{name: "editor-settings", what: "change .vscode/settings.json", weak: ll, run: func(sc *scene) error { return create(sc.Project + "/.vscode/settings.json") }, after: content("$/project/.vscode/settings.json", "{}")},
	{name: "nested-git-config", what: "change .git/config of a repository below", weak: ll, safe: true, run: func(sc *scene) error { return create(sc.Project + "/pkg/lib/.git/config") }, after: content("$/project/pkg/lib/.git/config", "[core]\n")},
	{name: "below-editor-settings", what: "change .vscode/settings.json in a folder below", weak: ll, safe: true, run: func(sc *scene) error { return create(sc.Project + "/pkg/sub/.vscode/settings.json") }, after: content("$/project/pkg/sub/.vscode/settings.json", "{}")},
	{name: "link-replace", what: "put another link in the place of .cursor", weak: ll, safe: true, run: func(sc *scene) error { return replaceLink(sc.Project+"/.cursor", sc.Project+"/pkg") }, after: content("$/project/.cursor/rules", "before")},
	{name: "link-remove", what: "remove the link .cursor", weak: ll, safe: true, run: func(sc *scene) error { return os.Remove(sc.Project + "/.cursor") }, after: content("$/project/.cursor/rules", "before")},
	{name: "link-through", what: "write through the link .cursor", weak: ll, safe: true, run: func(sc *scene) error { return create(sc.Project + "/.cursor/rules") }, after: content("$/project/.cursor/rules", "before")},
	{name: "link-target", what: "write what the link .cursor leads to", weak: ll, safe: true, run: func(sc *scene) error { return create(sc.Project + "/shared/cursor/rules") }, after: content("$/project/.cursor/rules", "before")},
	{name: "link-target-parent", what: "move the folder that .cursor leads into", weak: ll, safe: true, run: func(sc *scene) error { return os.Rename(sc.Project+"/shared", sc.Project+"/s2") }, after: content("$/project/.cursor/rules", "before")},
	{name: "link-hooks", what: "put another link in the place of .git/hooks", weak: ll, safe: true, run: func(sc *scene) error { return replaceLink(sc.Project+"/pkg/lib/.git/hooks", "..") }, after: content("$/project/pkg/lib/.git/hooks/pre-commit", "before")},
	{name: "link-hooks-target", what: "write a hook that the link .git/hooks leads to", weak: ll, safe: true, run: func(sc *scene) error { return create(sc.Project + "/pkg/lib/githooks/post-checkout") }, after: absent("$/project/pkg/lib/githooks/post-checkout")},
	{name: "link-unmount", what: "unmount what holds a link", run: func(sc *scene) error {
		return unix.Unmount(sc.Project+"/.cursor", unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	}},
	{name: "project-rename", what: "move the project folder itself", run: func(sc *scene) error { return os.Rename(sc.Project, sc.Root+"/p2") }, after: absent("$/p2")},
	{name: "umount-cover", what: "unmount what protects", run: func(sc *scene) error { return unix.Unmount(sc.Project+"/.git/hooks", unix.MNT_DETACH) }},

	{name: "read-ssh", what: "read ~/.ssh", safe: true, run: func(sc *scene) error { return read(sc.Secret) }},
	{name: "read-state", what: "read adze's own state", safe: true, run: func(sc *scene) error { return read(sc.State) }},
	{name: "read-shadow", what: "read /etc/shadow", run: func(*scene) error { return read("/etc/shadow") }},
	{name: "read-secret-chmod", what: "open ~/.ssh by changing its mode", run: func(sc *scene) error {
		_ = os.Chmod(filepath.Dir(sc.Secret), 0o777)
		return read(sc.Secret)
	}},
	{name: "read-secret-link", what: "read ~/.ssh through a link", safe: true, run: func(sc *scene) error {
		if err := os.Symlink(filepath.Dir(sc.Secret), sc.Project+"/keys"); err != nil {
			return fmt.Errorf("skip: %w", err)
		}
		return read(sc.Project + "/keys/id_test")
	}},

	{name: "remount", what: "make / writable by remounting", run: func(*scene) error { return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") }},
	{name: "mount-tmpfs", what: "mount something", run: func(sc *scene) error { return unix.Mount("x", sc.Project, "tmpfs", 0, "") }},
	{name: "mount-new-api", what: "mount through fsopen", run: func(*scene) error { return call(unix.SYS_FSOPEN, zero("tmpfs"), 0) }},
	{name: "open-tree", what: "clone the tree of mounts", run: func(*scene) error { return call(unix.SYS_OPEN_TREE, ^uintptr(99), zero("/"), 1) }},
	{name: "mount-setattr", what: "change a mount's attributes", run: func(*scene) error {
		attr := [4]uint64{0, 1, 0, 0} // clear read-only
		return call(unix.SYS_MOUNT_SETATTR, ^uintptr(99), zero("/"), 0, uintptr(unsafe.Pointer(&attr)), 32)
	}},
	{name: "chroot", what: "change the root", run: func(sc *scene) error { return unix.Chroot(sc.Project) }},
	{name: "pivot-root", what: "change the root by pivot_root", run: func(sc *scene) error { return unix.PivotRoot(sc.Project, sc.Project) }},
	{name: "unshare-user", what: "make a user namespace", run: func(*scene) error { return run("unshare", "--user", "--map-root-user", "true") }},
	{name: "unshare-mount", what: "make a mount namespace", run: func(*scene) error { return unix.Unshare(unix.CLONE_NEWNS) }},
	{name: "clone-user", what: "make a user namespace by clone", run: func(*scene) error {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
		return cmd.Run()
	}},
	{name: "clone3", what: "reach namespaces through clone3", run: func(*scene) error { return call(unix.SYS_CLONE3, 0, 0) }},
	{name: "setns", what: "enter a namespace of process 1", run: func(*scene) error {
		fd, err := unix.Open("/proc/1/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.Setns(fd, 0)
	}},
	{name: "setuid", what: "become root through a set-user-ID program", run: func(*scene) error {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return err
		}
		if strings.Contains(string(b), "NoNewPrivs:\t1") {
			return errors.New("no new privileges")
		}
		return nil
	}},
	{name: "capabilities", what: "keep a capability", run: func(*scene) error {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return err
		}
		for _, set := range []string{"CapPrm", "CapEff", "CapBnd", "CapAmb"} {
			if !strings.Contains(string(b), set+":\t0000000000000000") && (set != "CapBnd" || os.Getuid() == 0) {
				return nil
			}
		}
		return errors.New("no capabilities")
	}},

	{name: "ptrace-parent", what: "trace adze", run: func(sc *scene) error { return unix.PtraceAttach(sc.Parent) }},
	{name: "ptrace-self", what: "trace anything", run: func(*scene) error { return call(unix.SYS_PTRACE, 0) }},
	{name: "proc-root", what: "see the files of adze through /proc", run: func(sc *scene) error {
		return read(fmt.Sprintf("/proc/%d/root%s", sc.Parent, sc.Secret))
	}},
	{name: "proc-environ", what: "read adze's environment", run: func(sc *scene) error { return read(fmt.Sprintf("/proc/%d/environ", sc.Parent)) }},
	{name: "proc-mem", what: "open adze's memory", run: func(sc *scene) error {
		f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", sc.Parent), os.O_RDWR, 0)
		if err == nil {
			return f.Close()
		}
		return err
	}},
	{name: "proc-fd", what: "open adze's files", run: func(sc *scene) error {
		dir := fmt.Sprintf("/proc/%d/fd", sc.Parent)
		list, err := os.ReadDir(dir)
		for _, e := range list {
			if _, err = os.Readlink(filepath.Join(dir, e.Name())); err == nil {
				return nil
			}
		}
		return errors.Join(err, errNothing)
	}},
	{name: "process-vm-write", what: "write adze's memory", run: func(sc *scene) error {
		b := []byte{0}
		v := unix.Iovec{Base: &b[0], Len: 1}
		return call(unix.SYS_PROCESS_VM_WRITEV, uintptr(sc.Parent), uintptr(unsafe.Pointer(&v)), 1, uintptr(unsafe.Pointer(&v)), 1, 0)
	}},
	{name: "kill-adze", what: "signal adze", run: func(sc *scene) error { return unix.Kill(sc.Parent, 0) }},
	{name: "pidfd", what: "hold adze by a descriptor", run: func(sc *scene) error {
		fd, err := unix.PidfdOpen(sc.Parent, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}},
	{name: "see-processes", what: "see processes outside", weak: ll, safe: true, run: func(sc *scene) error { return read(fmt.Sprintf("/proc/%d/cmdline", sc.Parent)) }},
	{name: "descriptors", what: "inherit a descriptor", run: func(*scene) error {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return err
		}
		for _, e := range list {
			n, _ := strconv.Atoi(e.Name())
			flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0)
			if err == nil && n > 2 && flags&unix.FD_CLOEXEC == 0 { // what Go opened itself is close-on-exec
				return nil
			}
		}
		return errors.New("only 0, 1 and 2")
	}},
	{name: "terminal-input", what: "type into the terminal (TIOCSTI)", run: func(*scene) error {
		c := byte('x')
		return call(unix.SYS_IOCTL, 0, 0x5412, uintptr(unsafe.Pointer(&c)))
	}},
	{name: "terminal-input-high", what: "the same with garbage above 32 bits", run: func(*scene) error {
		c := byte('x')
		err := call(unix.SYS_IOCTL, 0, 0xdead00005412, uintptr(unsafe.Pointer(&c)))
		if errors.Is(err, unix.EPERM) {
			return err
		}
		return nil
	}},
	{name: "controlling-terminal", what: "open the terminal", run: func(*scene) error {
		f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err == nil {
			return f.Close()
		}
		return err
	}},

	{name: "io-uring", what: "io_uring", run: func(*scene) error {
		var params [120]byte
		return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)))
	}},
	{name: "bpf", what: "load a BPF program", run: func(*scene) error {
		var attr [48]byte
		attr[0], attr[4], attr[8], attr[12] = 2, 4, 4, 1 // an array of one
		return call(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), 48)
	}},
	{name: "keyctl", what: "read the kernel's keyring", run: func(*scene) error { return call(unix.SYS_KEYCTL, 0, ^uintptr(2), 1) }},
	{name: "add-key", what: "add a key", run: func(*scene) error {
		return call(unix.SYS_ADD_KEY, zero("user"), zero("adze"), zero("x"), 1, ^uintptr(1))
	}},
	{name: "userfaultfd", what: "userfaultfd", run: func(*scene) error { return call(unix.SYS_USERFAULTFD, 1) }},
	{name: "perf-event", what: "perf_event_open", run: func(*scene) error {
		_, err := unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: 112}, 0, -1, -1, 0)
		return err
	}},
	{name: "kernel-log", what: "read the kernel's log", run: func(*scene) error { _, err := unix.Klogctl(3, make([]byte, 64)); return err }},

	{name: "unix-socket", what: "connect to a unix socket", safe: true, run: func(sc *scene) error { return dial("unix", sc.Unix) }},
	{name: "unix-abstract", what: "connect to an abstract unix socket", safe: true, run: func(sc *scene) error { return dial("unix", sc.Abstract) }},
	{name: "unix-pair-datagram", what: "reach a socket from a datagram pair", run: func(*scene) error {
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		return err
	}},
	{name: "unix-family-high", what: "ask for AF_UNIX with garbage above 32 bits", run: func(*scene) error { return call(unix.SYS_SOCKET, 1|1<<32, 1, 0) }},
	{name: "tcp-loopback", what: "connect to a service of this machine", safe: true, run: func(sc *scene) error { return dial("tcp4", fmt.Sprintf("127.0.0.1:%d", sc.Port)) }},
	{name: "tcp-metadata", what: "connect to the metadata service", run: func(*scene) error { return dial("tcp4", "169.254.169.254:80") }},
	{name: "tcp-public", what: "connect to the internet", run: func(*scene) error { return dial("tcp4", "192.0.2.1:443") }},
	{name: "proxy-loopback", what: "reach a service of this machine through the proxy", run: func(sc *scene) error { return throughProxy("127.0.0.1", sc.Port) }},
	{name: "proxy-metadata", what: "reach the metadata service through the proxy", run: func(*scene) error { return throughProxy("169.254.169.254", 80) }},
	{name: "udp", what: "send a datagram to this machine", run: func(sc *scene) error {
		c, err := net.Dial("udp4", fmt.Sprintf("127.0.0.1:%d", sc.UDP))
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, unix.ECONNREFUSED) {
			return err // nobody is there: another network
		}
		return nil
	}},
	{name: "udp-public", what: "send a datagram away", run: func(*scene) error {
		c, err := net.Dial("udp4", "192.0.2.1:53")
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Write([]byte("x"))
		return err
	}},
	{name: "dns", what: "ask a name server", run: func(*scene) error { _, err := net.LookupHost("adze-check.example.com"); return err }},
	{name: "raw-socket", what: "make raw packets", run: func(*scene) error { return socket(unix.AF_INET, unix.SOCK_RAW, 1) }},
	{name: "packet-socket", what: "AF_PACKET", run: func(*scene) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
	{name: "packet-type", what: "AF_PACKET by its old name", run: func(*scene) error { return socket(unix.AF_INET, 10, 0x300) }},
	{name: "vsock", what: "AF_VSOCK", run: func(*scene) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
	{name: "mptcp", what: "IPPROTO_MPTCP", run: func(*scene) error { return socket(unix.AF_INET, unix.SOCK_STREAM, 262) }},
	{name: "netlink", what: "netlink beyond routes", run: func(*scene) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, 12) }},
	{name: "alg-socket", what: "AF_ALG", run: func(*scene) error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) }},

	{name: "daemon", what: "leave a process behind (setsid, twice forked)", run: func(sc *scene) error {
		script := "(setsid sh -c 'for i in $(seq 200); do [ -e over ] && echo > daemon && exit; sleep 0.05; done' >/dev/null 2>&1 &) &"
		_ = exec.Command("sh", "-c", script).Run() // what it leaves behind counts
		return errNothing
	}, after: func(sc *scene) string {
		_ = create(sc.Project + "/over") // tells a survivor to show itself
		time.Sleep(300 * time.Millisecond)
		return absent("$/project/daemon")(sc)
	}},
}

// replaceLink renames a new link over one.
func replaceLink(at, to string) error {
	if err := os.Symlink(to, at+".new"); err != nil {
		return fmt.Errorf("beside it: %w", err)
	}
	return os.Rename(at+".new", at)
}

// throughProxy asks the proxy of the sandbox for a tunnel.
func throughProxy(host string, port int) error {
	address, ok := strings.CutPrefix(os.Getenv("HTTPS_PROXY"), "http://")
	if !ok {
		return errors.New("there is no proxy")
	}
	c, err := net.DialTimeout("tcp4", address, 2*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprintf(c, "CONNECT %s:%d HTTP/1.1\r\nHost: x\r\n\r\n", host, port); err != nil {
		return err
	}
	var b [512]byte
	n, err := c.Read(b[:])
	if err != nil {
		return err
	}
	if line, _, _ := strings.Cut(string(b[:n]), "\r\n"); !strings.Contains(line, " 200 ") {
		return errors.New(line)
	}
	return nil
}
