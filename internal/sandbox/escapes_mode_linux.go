package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// modeEscapes are ways to leave a program that others run as who made it.
var modeEscapes = []escape{
	borrowed("setuid-chmod", "make a file setuid", func(path string) error {
		return plantAnd(path, func() error { return unix.Chmod(path, 0o4755) })
	}),
	borrowed("setuid-open", "open a new file as setuid", func(path string) error {
		fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY, 0o4755)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}),
	borrowed("setuid-openat2", "the same by openat2", func(path string) error {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o4755})
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}),
	borrowed("setuid-tmpfile", "link a setuid file without a name", func(path string) error {
		fd, err := unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_RDWR, 0o4755)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Linkat(fd, "", unix.AT_FDCWD, path, unix.AT_EMPTY_PATH)
	}),
	borrowed("setuid-mknod", "make a setuid file by mknod", func(path string) error { return unix.Mknod(path, unix.S_IFREG|0o4755, 0) }),
	borrowed("setgid-fchmod", "make an open file setgid", func(path string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.Fchmod(int(f.Fd()), 0o2755)
	}),
	borrowed("setuid-fchmodat2", "make a file setuid by fchmodat2", func(path string) error {
		return plantAnd(path, func() error {
			p, err := unix.BytePtrFromString(path)
			if err != nil {
				return err
			}
			at := unix.AT_FDCWD
			return call(452, uintptr(at), uintptr(unsafe.Pointer(p)), 0o4755, 0)
		})
	}),
}

// borrowed is a try that makes a file of this name in the project, which must not be
// left as setuid or setgid.
func borrowed(name, what string, do func(path string) error) escape {
	file := "borrowed-" + name
	return escape{
		name: name, what: what, run: func(sc *scene) error { return do(filepath.Join(sc.Project, file)) },
		after: func(sc *scene) string {
			fi, err := os.Lstat(filepath.Join(sc.Project, file))
			if err == nil && fi.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
				return strings.TrimPrefix(fi.Mode().String(), "-") + " " + file
			}
			return ""
		},
	}
}

// plantAnd makes a file, and does something with it.
func plantAnd(path string, do func() error) error {
	if err := create(path); err != nil {
		return err
	}
	return do()
}
