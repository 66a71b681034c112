package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// victim is a command in the background that others of its room try to get into.
const victim = "sleep 61"

// roomEscapes aim at a command in the background from another one that sees its processes,
// and at what holds both.
var roomEscapes = []escape{
	{name: "other-trace", what: "trace a command in the background", beside: true, run: atVictim(unix.PtraceAttach)},
	{name: "other-memory", what: "open the memory of a command in the background", beside: true, run: atVictim(func(pid int) error {
		return openAny(of(pid, "mem", "map_files", "auxv", "syscall", "stack")...)
	})},
	{name: "other-memory-write", what: "write the memory of a command in the background", beside: true, run: atVictim(func(pid int) error {
		b := []byte{0}
		v := unix.Iovec{Base: &b[0], Len: 1}
		return call(unix.SYS_PROCESS_VM_WRITEV, uintptr(pid), uintptr(unsafe.Pointer(&v)), 1, uintptr(unsafe.Pointer(&v)), 1, 0)
	})},
	{name: "other-environ", what: "read the environment of a command in the background", beside: true, run: atVictim(func(pid int) error { return openAny(of(pid, "environ")...) })},
	{name: "other-files", what: "reach files through a command in the background", beside: true, run: atVictim(func(pid int) error {
		return openAny(of(pid, "fd/0", "fd/1", "root/etc/passwd", "cwd/.", "exe", "fdinfo/0")...)
	})},
	{name: "other-take-file", what: "take a descriptor of a command in the background", beside: true, run: atVictim(func(pid int) error {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return call(unix.SYS_PIDFD_GETFD, uintptr(fd), 1, 0)
	})},
	{name: "other-namespaces", what: "enter the namespaces of a command in the background", beside: true, run: atVictim(func(pid int) error {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Setns(fd, unix.CLONE_NEWNS)
	})},
	{name: "other-room", what: "end what holds the processes of several commands", beside: true, weak: ll, run: atVictim(func(int) error {
		for _, s := range []unix.Signal{unix.SIGTERM, unix.SIGKILL, unix.SIGSTOP} {
			if err := unix.Kill(1, s); err != nil {
				return err
			}
		}
		time.Sleep(20 * time.Millisecond)
		return errNothing // this process is there still
	})},
}

// atVictim is a try with the number of the victim.
func atVictim(try func(pid int) error) func(*scene) error {
	return func(*scene) error {
		list, err := os.ReadDir("/proc")
		if err != nil {
			return err
		}
		for _, e := range list {
			b, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
			pid, bad := strconv.Atoi(e.Name())
			if err == nil && bad == nil && strings.ReplaceAll(string(b), "\x00", " ") == victim+" " {
				return try(pid)
			}
		}
		return errors.New("skip: it sees no other command")
	}
}

func of(pid int, names ...string) (out []string) {
	for _, n := range names {
		out = append(out, "/proc/"+strconv.Itoa(pid)+"/"+n)
	}
	return out
}
