package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ipcKey names the objects that one try leaves for the next.
const ipcKey = 0x61647a65

// nurseryEscapes aim at what starts commands inside, and at what one command
// leaves for the next: of two that follow each other, the first leaves it.
var nurseryEscapes = []escape{
	{name: "first-memory", what: "open the memory of the first process inside", run: func(*scene) error {
		if err := ours(); err != nil {
			return err
		}
		return openAny("/proc/1/mem", "/proc/1/map_files", "/proc/1/auxv", "/proc/1/syscall", "/proc/1/stack")
	}},
	{name: "first-environ", what: "read what the first process inside was started with", run: func(*scene) error {
		if err := ours(); err != nil {
			return err
		}
		b, err := os.ReadFile("/proc/1/environ")
		if err == nil && len(b) == 0 {
			return errNothing
		}
		return err
	}},
	{name: "first-files", what: "reach files through the first process inside", run: func(*scene) error {
		if err := ours(); err != nil {
			return err
		}
		for n := range 16 {
			if f, err := os.OpenFile("/proc/1/fd/"+strconv.Itoa(n), os.O_RDWR, 0); err == nil {
				return f.Close()
			}
		}
		return openAny("/proc/1/root/etc/passwd", "/proc/1/cwd/.", "/proc/1/exe", "/proc/1/fdinfo/0")
	}},
	{name: "first-trace", what: "trace the first process inside", run: func(*scene) error { return unix.PtraceAttach(1) }},
	{name: "first-memory-write", what: "write the memory of the first process inside", run: func(*scene) error {
		b := []byte{0}
		v := unix.Iovec{Base: &b[0], Len: 1}
		return call(unix.SYS_PROCESS_VM_WRITEV, 1, uintptr(unsafe.Pointer(&v)), 1, uintptr(unsafe.Pointer(&v)), 1, 0)
	}},
	{name: "first-take-file", what: "take a descriptor of the first process inside", run: func(*scene) error {
		fd, err := unix.PidfdOpen(1, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return call(unix.SYS_PIDFD_GETFD, uintptr(fd), 0, 0)
	}},
	{name: "first-signal", what: "end the first process inside", weak: ll, run: func(*scene) error {
		for _, s := range []unix.Signal{unix.SIGTERM, unix.SIGKILL, unix.SIGSTOP} {
			if err := unix.Kill(1, s); err != nil {
				return err
			}
		}
		time.Sleep(20 * time.Millisecond)
		return errNothing // this process is there still, so it is, too
	}},
	{name: "first-namespaces", what: "enter the namespaces of the first process inside", run: func(*scene) error {
		for _, kind := range []string{"user", "mnt", "pid", "net", "ipc"} {
			fd, err := unix.Open("/proc/1/ns/"+kind, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				continue
			}
			if err := unix.Setns(fd, 0); err == nil {
				return nil
			}
			_ = unix.Close(fd)
		}
		return errors.New("none can be entered")
	}},
	{name: "user-limit", what: "allow user namespaces again", run: func(*scene) error {
		return os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("9"), 0)
	}},
	{name: "everybody", what: "end all processes", dies: true, weak: ll, run: func(sc *scene) error {
		if os.Getppid() != 1 { // without a namespace these are everybody's
			return errNothing
		}
		return errors.Join(unix.Kill(-1, unix.SIGKILL), errNothing)
	}},

	{name: "leave-ipc", what: "leave shared memory, a semaphore and a queue behind (System V)", weak: ll, run: func(*scene) error {
		for _, nr := range []uintptr{unix.SYS_SHMGET, unix.SYS_SEMGET, unix.SYS_MSGGET} {
			if err := ipcGet(nr, unix.IPC_CREAT|0o666); err != nil {
				return fmt.Errorf("skip: %w", err)
			}
		}
		return errNothing // found by the next
	}},
	{name: "find-ipc", what: "find what another command left (System V)", weak: ll, run: func(*scene) error {
		for _, nr := range []uintptr{unix.SYS_SHMGET, unix.SYS_SEMGET, unix.SYS_MSGGET} {
			if err := ipcGet(nr, 0); err == nil {
				return nil
			}
		}
		return errNothing
	}},
	{name: "leave-queue", what: "leave a POSIX queue behind", weak: ll, run: func(*scene) error { return errors.Join(openQueue(unix.O_CREAT|unix.O_RDWR), errNothing) }},
	{name: "find-queue", what: "find the POSIX queue of another command", weak: ll, run: func(*scene) error { return openQueue(unix.O_RDWR) }},
	{name: "leave-shm", what: "leave a file in shared memory behind", weak: ll, run: func(*scene) error { return errors.Join(create("/dev/shm/adze-left"), errNothing) }},
	{name: "find-shm", what: "find the shared memory of another command", weak: ll, run: func(*scene) error { return read("/dev/shm/adze-left") }},
	{name: "leave-dev", what: "leave a file in /dev behind", run: func(*scene) error { return errors.Join(create("/dev/adze-left"), errNothing) }},
	{name: "find-dev", what: "find what another command left in /dev", run: func(*scene) error { return read("/dev/adze-left") }},
	{name: "leave-hidden", what: "write where secrets are hidden", weak: ll, run: func(sc *scene) error {
		dir := filepath.Dir(sc.Secret)
		_ = os.Chmod(dir, 0o700)
		return errors.Join(create(dir+"/adze-left"), errNothing)
	}, after: absent("$/home/.ssh/adze-left")},
	{name: "find-hidden", what: "find what another command wrote where secrets are hidden", weak: ll, run: func(sc *scene) error {
		dir := filepath.Dir(sc.Secret)
		_ = os.Chmod(dir, 0o700)
		return read(dir + "/adze-left")
	}},
	{name: "leave-process", what: "leave a process behind for another command", run: func(*scene) error {
		_ = run("sh", "-c", "(setsid sleep 3 >/dev/null 2>&1 &) &") // what it leaves counts
		return errNothing
	}},
	{name: "find-process", what: "see the processes of another command", weak: ll, run: func(*scene) error {
		list, err := os.ReadDir("/proc")
		if err != nil {
			return err
		}
		n := 0
		for _, e := range list {
			if _, err := strconv.Atoi(e.Name()); err == nil {
				n++
			}
		}
		if n > 2 { // the first, and this one
			return nil
		}
		return errNothing
	}},
}

// cacheEscapes aim at the person's own caches, which lie under those inside.
var cacheEscapes = []escape{
	{name: "cache-write", what: "change the person's build cache through the one inside", run: func(*scene) error {
		return inCache(func(entry string) error { return os.WriteFile(entry, []byte("planted"), 0o644) })
	}, after: content("$/home/.cache/go-build/ab/entry", "before")},
	{name: "cache-remove", what: "empty the person's build cache through the one inside", run: func(*scene) error {
		return inCache(func(entry string) error { return os.RemoveAll(filepath.Dir(entry)) })
	}, after: content("$/home/.cache/go-build/ab/entry", "before")},
	{name: "cache-add", what: "plant something in the person's build cache", run: func(*scene) error {
		return inCache(func(entry string) error {
			dir := filepath.Join(filepath.Dir(filepath.Dir(entry)), "ef")
			return errors.Join(os.MkdirAll(dir, 0o755), create(dir+"/entry"))
		})
	}, after: absent("$/home/.cache/go-build/ef")},
	{name: "cache-direct", what: "write to the person's build cache itself", safe: true, run: func(sc *scene) error {
		return os.WriteFile(sc.Root+"/home/.cache/go-build/ab/entry", []byte("planted"), 0o644)
	}, after: content("$/home/.cache/go-build/ab/entry", "before")},
	{name: "cache-layers", what: "reach the folders that what is written to caches is kept in", run: func(sc *scene) error {
		_, err := os.ReadDir(sc.Root + "/home/.adze/cache/layers")
		return err
	}},
	{name: "cache-link", what: "have the next cache mounted elsewhere", run: func(sc *scene) error {
		cache := os.Getenv("GOCACHE")
		if err := os.RemoveAll(cache); err != nil {
			return err // it is a mount
		}
		return errors.Join(os.Symlink(sc.Outside, cache), errNothing)
	}},
}

// inCache does something to an entry of the build cache inside; what became of
// the person's own, the look afterwards tells.
func inCache(f func(entry string) error) error {
	dir := os.Getenv("GOCACHE")
	if dir == "" {
		return errors.New("skip: there is no build cache inside")
	}
	return errors.Join(f(filepath.Join(dir, "ab", "entry")), errNothing)
}

// ours skips a try where the first process is another program, which has
// nothing in its memory but what the command has, too.
func ours() error {
	if b, err := os.ReadFile("/proc/1/comm"); err != nil || string(b) != "adze\n" {
		return fmt.Errorf("skip: the first process is %q", b)
	}
	return nil
}

func openAny(paths ...string) error {
	var errs []error
	for _, p := range paths {
		f, err := os.Open(p)
		if err == nil {
			_, err = f.Readdirnames(1)
			_ = f.Close()
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// ipcGet finds or makes an object of System V; nr is shmget, semget or msgget.
func ipcGet(nr uintptr, flags uintptr) error {
	if nr == unix.SYS_MSGGET {
		return call(nr, ipcKey, flags)
	}
	return call(nr, ipcKey, 1, flags)
}

func openQueue(flags uintptr) error {
	fd, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, zero("adze-left"), flags, 0o666, 0, 0, 0)
	if e != 0 {
		return e
	}
	return unix.Close(int(fd))
}
