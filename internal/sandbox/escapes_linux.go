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

// escapes is the table of tries: files, protected paths, mounts, processes,
// the kernel, the network.
var escapes = []escape{
	{name: "write-outside", what: "create a file outside", is: harmless | kept, do: create, at: "$/outside/new"},
	{name: "overwrite-outside", what: "change a file outside", is: harmless | kept, do: create, at: "$/outside/file"},
	{name: "truncate-outside", what: "empty a file outside", is: harmless | kept, do: func(at, _ string) error { return os.Truncate(at, 0) }, at: "$/outside/file"},
	{name: "remove-outside", what: "remove a file outside", is: harmless | kept, do: remove, at: "$/outside/dir/file"},
	{name: "rename-outside", what: "move a folder outside", is: harmless | keptTo, do: os.Rename, at: "$/outside/dir", to: "$/outside/moved"},
	{name: "rename-across", what: "move a file from outside into the project", is: harmless | kept, do: os.Rename, at: "$/outside/file", to: "$/project/taken"},
	{name: "hard-link", what: "link a file from outside into the project and change it", is: harmless | kept, do: func(at, to string) error {
		if err := os.Link(at, to); err != nil {
			return err
		}
		return create(to, "")
	}, at: "$/outside/file", to: "$/project/linked"},
	{name: "symlink-write", what: "write through a planted link", is: harmless | kept, do: createThrough, at: "$/outside/file", to: "$/project/link"},
	{name: "dotdot-write", what: "write through ..", is: harmless | kept, do: func(string, string) error { return create("../outside/file", "") }, at: "$/outside/file"},
	{name: "chmod-outside", what: "change a mode outside", is: harmless | weak, do: func(at, _ string) error { return os.Chmod(at, 0o777) }, at: "$/outside/file"},
	{name: "utimes-outside", what: "change times outside", is: harmless | weak, do: func(at, _ string) error { return os.Chtimes(at, time.Unix(1, 0), time.Unix(1, 0)) }, at: "$/outside/file"},
	{name: "xattr-outside", what: "set an attribute outside", do: func(at, _ string) error { return unix.Setxattr(at, "user.adze", []byte("x"), 0) }, at: "$/outside/file"},
	{name: "chown-outside", what: "change an owner outside", is: weak, do: func(at, _ string) error { return os.Chown(at, os.Getuid(), os.Getgid()) }, at: "$/outside/file"},
	{name: "mknod-device", what: "make a device", do: func(at, _ string) error { return unix.Mknod(at, unix.S_IFBLK|0o666, 8<<8) }, at: "$/project/disk"},
	{name: "open-by-handle", what: "open a file by its number", run: func(*scene) error {
		_, err := unix.OpenByHandleAt(unix.AT_FDCWD, unix.NewFileHandle(1, make([]byte, 8)), unix.O_RDONLY)
		return err
	}},
	{name: "other-temp", what: "write to another session's temporary folder", is: harmless | kept, do: create, at: "$/other-session/file"},
	{name: "write-sys", what: "write to /sys", do: create, at: "/sys/kernel/uevent_helper"},
	{name: "write-proc-sys", what: "write to /proc/sys", do: func(at, _ string) error {
		same, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		return os.WriteFile(at, same, 0)
	}, at: "/proc/sys/kernel/core_pattern"},
	{name: "write-proc-irq", what: "write to the rest of /proc", run: func(*scene) error {
		for _, p := range []string{"/proc/irq/default_smp_affinity", "/proc/sysrq-trigger", "/proc/mtrr"} {
			if openAs(p, os.O_WRONLY) == nil {
				return nil
			}
		}
		return errors.New("none can be opened")
	}},
	{name: "write-etc", what: "write to /etc", do: create, at: "/etc/adze-check"},

	{name: "git-hook", what: "add a git hook", is: guarded, do: create, at: "$/project/.git/hooks/post-checkout"},
	{name: "git-config", what: "change .git/config", is: guarded, do: create, at: "$/project/.git/config"},
	{name: "git-config-replace", what: "replace .git/config", is: weak | kept, do: func(at, to string) error {
		if err := create(to, ""); err != nil {
			return err
		}
		return os.Rename(to, at)
	}, at: "$/project/.git/config", to: "$/project/c"},
	{name: "git-rename", what: "move .git away and put another in its place", is: weak | keptTo, do: os.Rename, at: "$/project/.git", to: "$/project/g"},
	{name: "git-hooks-rename", what: "move .git/hooks away", is: weak | keptTo, do: os.Rename, at: "$/project/.git/hooks", to: "$/project/.git/h"},
	{name: "settings-adze", what: "create .adze/settings.json", is: planted, do: func(at, _ string) error {
		_ = os.Chmod(at, 0o777) // a private copy at best
		_ = os.MkdirAll(at, 0o755)
		return create(at+"/settings.json", "")
	}, at: "$/project/.adze"},
	{name: "editor-settings", what: "change .vscode/settings.json", is: weak | kept, do: create, at: "$/project/.vscode/settings.json"},
	{name: "nested-git-config", what: "change .git/config of a repository below", is: guarded, do: create, at: "$/project/pkg/lib/.git/config"},
	{name: "below-editor-settings", what: "change .vscode/settings.json in a folder below", is: guarded, do: create, at: "$/project/pkg/sub/.vscode/settings.json"},
	{name: "link-replace", what: "put another link in the place of .cursor", is: guarded, do: replaceLink, at: "$/project/.cursor", to: "$/project/pkg"},
	{name: "link-remove", what: "remove the link .cursor", is: guarded, do: remove, at: "$/project/.cursor"},
	{name: "link-through", what: "write through the link .cursor", is: guarded, do: create, at: "$/project/.cursor/rules"},
	{name: "link-target", what: "write what the link .cursor leads to", is: guarded, do: create, at: "$/project/shared/cursor/rules"},
	{name: "link-target-parent", what: "move the folder that .cursor leads into", is: weak | harmless | keptTo, do: os.Rename, at: "$/project/shared", to: "$/project/s2"},
	{name: "link-hooks", what: "put another link in the place of .git/hooks", is: guarded, do: replaceLink, at: "$/project/pkg/lib/.git/hooks", to: ".."},
	{name: "link-hooks-target", what: "write a hook that the link .git/hooks leads to", is: guarded, do: create, at: "$/project/pkg/lib/githooks/post-checkout"},
	{name: "link-unmount", what: "unmount what holds a link", do: unmount, at: "$/project/.cursor"},
	{name: "project-rename", what: "move the project folder itself", is: keptTo, do: os.Rename, at: "$/project", to: "$/p2"},
	{name: "umount-cover", what: "unmount what protects", do: unmount, at: "$/project/.git/hooks"},

	{name: "read-ssh", what: "read ~/.ssh", is: harmless, do: read, at: "$/home/.ssh/id_test"},
	{name: "read-state", what: "read adze's own state", is: harmless, do: read, at: "$/home/.adze/credentials"},
	{name: "read-shadow", what: "read /etc/shadow", do: read, at: "/etc/shadow"},
	{name: "read-secret-chmod", what: "open ~/.ssh by changing its mode", do: readUnlocked, at: "$/home/.ssh/id_test"},
	{name: "read-secret-link", what: "read ~/.ssh through a link", is: harmless, do: readThrough, at: "$/home/.ssh/id_test", to: "$/project/keys"},

	{name: "remount", what: "make / writable by remounting", run: func(*scene) error { return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") }},
	{name: "mount-tmpfs", what: "mount something", do: func(at, _ string) error { return unix.Mount("x", at, "tmpfs", 0, "") }, at: "$/project"},
	{name: "mount-new-api", what: "mount through fsopen", run: func(*scene) error { return call(unix.SYS_FSOPEN, zero("tmpfs"), 0) }},
	{name: "open-tree", what: "clone the tree of mounts", run: func(*scene) error { return call(unix.SYS_OPEN_TREE, ^uintptr(99), zero("/"), 1) }},
	{name: "mount-setattr", what: "change a mount's attributes", run: func(*scene) error {
		attr := [4]uint64{0, 1, 0, 0} // clear read-only
		return call(unix.SYS_MOUNT_SETATTR, ^uintptr(99), zero("/"), 0, uintptr(unsafe.Pointer(&attr)), 32)
	}},
	{name: "chroot", what: "change the root", do: func(at, _ string) error { return unix.Chroot(at) }, at: "$/project"},
	{name: "pivot-root", what: "change the root by pivot_root", do: unix.PivotRoot, at: "$/project", to: "$/project"},
	{name: "unshare-user", what: "make a user namespace", run: func(*scene) error { return run("unshare", "--user", "--map-root-user", "true") }},
	{name: "unshare-mount", what: "make a mount namespace", run: func(*scene) error { return unix.Unshare(unix.CLONE_NEWNS) }},
	{name: "clone-user", what: "make a user namespace by clone", run: func(*scene) error {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
		return cmd.Run()
	}},
	{name: "clone3", what: "reach namespaces through clone3", run: func(*scene) error { return call(unix.SYS_CLONE3, 0, 0) }},
	{name: "setns", what: "enter a namespace of process 1", do: enter, at: "/proc/1/ns/mnt"},
	{name: "setuid", what: "become root through a set-user-ID program", do: func(at, _ string) error {
		b, err := os.ReadFile(at)
		if err == nil && strings.Contains(string(b), "NoNewPrivs:\t1") {
			return errors.New("no new privileges")
		}
		return err
	}, at: "/proc/self/status"},
	{name: "capabilities", what: "keep a capability", do: func(at, _ string) error {
		b, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		for _, set := range []string{"CapPrm", "CapEff", "CapBnd", "CapAmb"} {
			if !strings.Contains(string(b), set+":\t0000000000000000") && (set != "CapBnd" || os.Getuid() == 0) {
				return nil
			}
		}
		return errors.New("no capabilities")
	}, at: "/proc/self/status"},

	{name: "ptrace-parent", what: "trace adze", aim: unix.PtraceAttach},
	{name: "ptrace-self", what: "trace anything", run: func(*scene) error { return call(unix.SYS_PTRACE, 0) }},
	{name: "proc-root", what: "see the files of adze through /proc", do: read, at: "/proc/#/root$/home/.ssh/id_test"},
	{name: "proc-environ", what: "read adze's environment", do: read, at: "/proc/#/environ"},
	{name: "proc-mem", what: "open adze's memory", do: openToWrite, at: "/proc/#/mem"},
	{name: "proc-fd", what: "open adze's files", do: func(at, _ string) error {
		list, err := os.ReadDir(at)
		for _, e := range list {
			if _, err = os.Readlink(filepath.Join(at, e.Name())); err == nil {
				return nil
			}
		}
		return errors.Join(err, errNothing)
	}, at: "/proc/#/fd"},
	{name: "process-vm-write", what: "write adze's memory", aim: writeMemory},
	{name: "kill-adze", what: "signal adze", aim: func(pid int) error { return unix.Kill(pid, 0) }},
	{name: "pidfd", what: "hold adze by a descriptor", aim: func(pid int) error { return closed(unix.PidfdOpen(pid, 0)) }},
	{name: "see-processes", what: "see processes outside", is: weak | harmless, do: read, at: "/proc/#/cmdline"},
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
	{name: "controlling-terminal", what: "open the terminal", do: openToWrite, at: "/dev/tty"},

	{name: "io-uring", what: "io_uring", run: func(*scene) error {
		var params [120]byte
		return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)))
	}},
	{name: "bpf", what: "load a BPF program", run: func(*scene) error {
		attr := [48]byte{0: 2, 4: 4, 8: 4, 12: 1} // an array of one
		return call(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), 48)
	}},
	{name: "keyctl", what: "read the kernel's keyring", run: func(*scene) error { return call(unix.SYS_KEYCTL, 0, ^uintptr(2), 1) }},
	{name: "add-key", what: "add a key", run: func(*scene) error {
		return call(unix.SYS_ADD_KEY, zero("user"), zero("adze"), zero("x"), 1, ^uintptr(1))
	}},
	{name: "userfaultfd", what: "userfaultfd", run: func(*scene) error { return call(unix.SYS_USERFAULTFD, 1) }},
	{name: "perf-event", what: "perf_event_open", run: func(*scene) error {
		return closed(unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: 112}, 0, -1, -1, 0))
	}},
	{name: "kernel-log", what: "read the kernel's log", run: func(*scene) error { _, err := unix.Klogctl(3, make([]byte, 64)); return err }},

	{name: "unix-socket", what: "connect to a unix socket", is: harmless, do: dial, at: "unix", to: "$/s"},
	{name: "unix-abstract", what: "connect to an abstract unix socket", is: harmless, run: func(sc *scene) error { return dial("unix", sc.abstract()) }},
	{name: "unix-pair-datagram", what: "reach a socket from a datagram pair", run: func(*scene) error {
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		return err
	}},
	{name: "unix-family-high", what: "ask for AF_UNIX with garbage above 32 bits", run: func(*scene) error { return call(unix.SYS_SOCKET, 1|1<<32, 1, 0) }},
	{name: "tcp-loopback", what: "connect to a service of this machine", is: harmless, run: func(sc *scene) error { return dial("tcp4", fmt.Sprintf("127.0.0.1:%d", sc.Port)) }},
	{name: "tcp-metadata", what: "connect to the metadata service", do: dial, at: "tcp4", to: "169.254.169.254:80"},
	{name: "tcp-public", what: "connect to the internet", do: dial, at: "tcp4", to: "192.0.2.1:443"},
	{name: "proxy-loopback", what: "reach a service of this machine through the proxy", run: func(sc *scene) error { return throughProxy("127.0.0.1", sc.Port) }},
	{name: "proxy-metadata", what: "reach the metadata service through the proxy", run: func(*scene) error { return throughProxy("169.254.169.254", 80) }},
	{name: "udp", what: "send a datagram to this machine", run: func(sc *scene) error { return datagram(fmt.Sprintf("127.0.0.1:%d", sc.UDP), true) }},
	{name: "udp-public", what: "send a datagram away", run: func(*scene) error { return datagram("192.0.2.1:53", false) }},
	{name: "dns", what: "ask a name server", run: func(*scene) error { _, err := net.LookupHost("adze-check.example.com"); return err }},
	{name: "raw-socket", what: "make raw packets", run: func(*scene) error { return socket(unix.AF_INET, unix.SOCK_RAW, 1) }},
	{name: "packet-socket", what: "AF_PACKET", run: func(*scene) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
	{name: "packet-type", what: "AF_PACKET by its old name", run: func(*scene) error { return socket(unix.AF_INET, 10, 0x300) }},
	{name: "vsock", what: "AF_VSOCK", run: func(*scene) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
	{name: "mptcp", what: "IPPROTO_MPTCP", run: func(*scene) error { return socket(unix.AF_INET, unix.SOCK_STREAM, 262) }},
	{name: "netlink", what: "netlink beyond routes", run: func(*scene) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, 12) }},
	{name: "alg-socket", what: "AF_ALG", run: func(*scene) error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) }},

	{name: "daemon", what: "leave a process behind (setsid, twice forked)", is: silent | kept, do: script, at: "$/project/daemon",
		to: "(setsid sh -c 'for i in $(seq 200); do [ -e over ] && echo > daemon && exit; sleep 0.05; done' >/dev/null 2>&1 &) &",
		after: func(sc *scene) {
			_ = create(sc.place("$/project/over"), "") // tells a survivor to show itself
			time.Sleep(300 * time.Millisecond)
		}},
}
