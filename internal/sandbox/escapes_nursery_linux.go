package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// nurseryEscapes aim at what starts commands inside, and at what one command
// leaves for the next: of two that follow each other, the first leaves it.
var nurseryEscapes = []escape{
	{name: "first-memory", what: "open the memory of the first process inside", is: first | ours, aim: openMemory},
	{name: "first-environ", what: "read what the first process inside was started with", is: ours, run: func(*scene) error {
		b, err := os.ReadFile("/proc/1/environ")
		if err == nil && len(b) == 0 {
			return errNothing
		}
		return err
	}},
	{name: "first-files", what: "reach files through the first process inside", is: ours, run: func(*scene) error {
		for n := range 16 {
			if openAs("/proc/1/fd/"+strconv.Itoa(n), os.O_RDWR) == nil {
				return nil
			}
		}
		return openAny(1, "root/etc/passwd", "cwd/.", "exe", "fdinfo/0")
	}},
	{name: "first-trace", what: "trace the first process inside", is: first, aim: unix.PtraceAttach},
	{name: "first-memory-write", what: "write the memory of the first process inside", is: first, aim: writeMemory},
	{name: "first-take-file", what: "take a descriptor of the first process inside", is: first, aim: takeFile},
	{name: "first-signal", what: "end the first process inside", is: weak, run: endFirst},
	{name: "first-namespaces", what: "enter the namespaces of the first process inside", run: func(*scene) error {
		for _, kind := range []string{"user", "mnt", "pid", "net", "ipc"} {
			if enter("/proc/1/ns/"+kind, "") == nil {
				return nil
			}
		}
		return errors.New("none can be entered")
	}},
	{name: "user-limit", what: "allow user namespaces again", do: func(at, _ string) error { return os.WriteFile(at, []byte("9"), 0) }, at: "/proc/sys/user/max_user_namespaces"},
	{name: "everybody", what: "end all processes", is: dies | weak | silent, run: func(*scene) error {
		if os.Getppid() != 1 { // without a namespace these are everybody's
			return nil
		}
		return unix.Kill(-1, unix.SIGKILL)
	}},

	{name: "leave-ipc", what: "leave shared memory, a semaphore and a queue behind (System V)", is: weak | silent, run: func(*scene) error {
		for _, err := range ipc(unix.IPC_CREAT | 0o666) {
			if err != nil {
				return fmt.Errorf("skip: %w", err)
			}
		}
		return nil
	}},
	{name: "find-ipc", what: "find what another command left (System V)", is: weak, run: func(*scene) error {
		for _, err := range ipc(0) {
			if err == nil {
				return nil
			}
		}
		return errNothing
	}},
	{name: "leave-queue", what: "leave a POSIX queue behind", is: weak | silent, run: func(*scene) error { return openQueue(unix.O_CREAT | unix.O_RDWR) }},
	{name: "find-queue", what: "find the POSIX queue of another command", is: weak, run: func(*scene) error { return openQueue(unix.O_RDWR) }},
	{name: "leave-shm", what: "leave a file in shared memory behind", is: weak | silent, do: create, at: "/dev/shm/adze-left"},
	{name: "find-shm", what: "find the shared memory of another command", is: weak, do: read, at: "/dev/shm/adze-left"},
	{name: "leave-dev", what: "leave a file in /dev behind", is: silent, do: create, at: "/dev/adze-left"},
	{name: "find-dev", what: "find what another command left in /dev", do: read, at: "/dev/adze-left"},
	{name: "leave-hidden", what: "write where secrets are hidden", is: weak | silent | kept, do: createUnlocked, at: "$/home/.ssh/adze-left"},
	{name: "find-hidden", what: "find what another command wrote where secrets are hidden", is: weak, do: readUnlocked, at: "$/home/.ssh/adze-left"},
	{name: "leave-process", what: "leave a process behind for another command", is: silent, do: script, to: "(setsid sleep 3 >/dev/null 2>&1 &) &"},
	{name: "find-process", what: "see the processes of another command", is: weak, run: func(*scene) error {
		if list, err := filepath.Glob("/proc/[0-9]*"); err != nil || len(list) > 2 { // the first, and this one
			return err
		}
		return errNothing
	}},
}

// roomEscapes aim at a command in the background from another one that sees its processes,
// and at what holds both.
var roomEscapes = []escape{
	{name: "other-trace", what: "trace a command in the background", is: beside, aim: unix.PtraceAttach},
	{name: "other-memory", what: "open the memory of a command in the background", is: beside, aim: openMemory},
	{name: "other-memory-write", what: "write the memory of a command in the background", is: beside, aim: writeMemory},
	{name: "other-environ", what: "read the environment of a command in the background", is: beside, aim: func(pid int) error { return openAny(pid, "environ") }},
	{name: "other-files", what: "reach files through a command in the background", is: beside, aim: func(pid int) error {
		return openAny(pid, "fd/0", "fd/1", "root/etc/passwd", "cwd/.", "exe", "fdinfo/0")
	}},
	{name: "other-take-file", what: "take a descriptor of a command in the background", is: beside, aim: takeFile},
	{name: "other-namespaces", what: "enter the namespaces of a command in the background", is: beside, aim: func(pid int) error {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Setns(fd, unix.CLONE_NEWNS)
	}},
	{name: "other-room", what: "end what holds the processes of several commands", is: beside | weak, run: endFirst},
}

// cacheEscapes aim at the person's own caches, which lie under those inside.
var cacheEscapes = []escape{
	{name: "cache-write", what: "change the person's build cache through the one inside", is: silent | kept, run: func(*scene) error {
		return inCache(func(entry string) error { return os.WriteFile(entry, []byte("planted"), 0o644) })
	}, at: "$/home/.cache/go-build/ab/entry"},
	{name: "cache-remove", what: "empty the person's build cache through the one inside", is: silent | kept, run: func(*scene) error {
		return inCache(func(entry string) error { return os.RemoveAll(filepath.Dir(entry)) })
	}, at: "$/home/.cache/go-build/ab/entry"},
	{name: "cache-add", what: "plant something in the person's build cache", is: silent | kept, run: func(*scene) error {
		return inCache(func(entry string) error {
			return plant(filepath.Join(filepath.Dir(filepath.Dir(entry)), "ef", "entry"), "escaped")
		})
	}, at: "$/home/.cache/go-build/ef"},
	{name: "cache-direct", what: "write to the person's build cache itself", is: harmless | kept, do: create, at: "$/home/.cache/go-build/ab/entry"},
	{name: "cache-layers", what: "reach the folders that what is written to caches is kept in", do: func(at, _ string) error {
		_, err := os.ReadDir(at)
		return err
	}, at: "$/home/.adze/cache/layers"},
	{name: "cache-link", what: "have the next cache mounted elsewhere", run: func(sc *scene) error {
		cache := os.Getenv("GOCACHE")
		if err := os.RemoveAll(cache); err != nil {
			return err // it is a mount
		}
		return errors.Join(os.Symlink(sc.place("$/outside"), cache), errNothing)
	}},
}

// modeEscapes are ways to leave a program that others run as who made it.
var modeEscapes = []escape{
	{name: "setuid-chmod", what: "make a file setuid", is: modest, do: func(at, _ string) error {
		return errors.Join(create(at, ""), unix.Chmod(at, 0o4755))
	}, at: "$/project/borrowed-setuid-chmod"},
	{name: "setuid-open", what: "open a new file as setuid", is: modest, do: func(at, _ string) error {
		return closed(unix.Open(at, unix.O_CREAT|unix.O_WRONLY, 0o4755))
	}, at: "$/project/borrowed-setuid-open"},
	{name: "setuid-openat2", what: "the same by openat2", is: modest, do: func(at, _ string) error {
		return closed(unix.Openat2(unix.AT_FDCWD, at, &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o4755}))
	}, at: "$/project/borrowed-setuid-openat2"},
	{name: "setuid-tmpfile", what: "link a setuid file without a name", is: modest, do: func(at, _ string) error {
		fd, err := unix.Open(filepath.Dir(at), unix.O_TMPFILE|unix.O_RDWR, 0o4755)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Linkat(fd, "", unix.AT_FDCWD, at, unix.AT_EMPTY_PATH)
	}, at: "$/project/borrowed-setuid-tmpfile"},
	{name: "setuid-mknod", what: "make a setuid file by mknod", is: modest, do: func(at, _ string) error { return unix.Mknod(at, unix.S_IFREG|0o4755, 0) }, at: "$/project/borrowed-setuid-mknod"},
	{name: "setgid-fchmod", what: "make an open file setgid", is: modest, do: func(at, _ string) error {
		f, err := os.Create(at)
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.Fchmod(int(f.Fd()), 0o2755)
	}, at: "$/project/borrowed-setgid-fchmod"},
	{name: "setuid-fchmodat2", what: "make a file setuid by fchmodat2", is: modest, do: func(at, _ string) error {
		here := unix.AT_FDCWD
		return errors.Join(create(at, ""), call(452, uintptr(here), zero(at), 0o4755, 0))
	}, at: "$/project/borrowed-setuid-fchmodat2"},
}
