package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A base is the root of a walk, held open. Folders are opened below it with
// openat2, which refuses links in every component; files are opened relative
// to their folder. So nothing that is swapped during a walk can lead it out.
type base struct {
	fd   int
	path string
	old  bool // no openat2: only the last component is checked
}

func openBase(path string) (*base, error) {
	b := &base{path: path}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		b.old = true
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	b.fd = fd
	return b, nil
}

func (b *base) close() { unix.Close(b.fd) }

// A folder is open for listing and for opening its files.
type folder struct{ fd int }

func (b *base) open(rel string) (folder, error) {
	if rel == "" {
		rel = "."
	}
	for {
		var fd int
		var err error
		if b.old {
			fd, err = unix.Openat(b.fd, rel, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		} else {
			fd, err = unix.Openat2(b.fd, rel, &unix.OpenHow{
				Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
				Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
			})
		}
		switch {
		case err == nil:
			return folder{fd}, nil
		case err == unix.EINTR || err == unix.EAGAIN && !b.old: // a rename raced with openat2
			continue
		}
		return folder{-1}, &fs.PathError{Op: "open", Path: filepath.Join(b.path, rel), Err: err}
	}
}

func (f folder) close() { unix.Close(f.fd) }

// list returns the entries in the order of the file system, and stops when there
// are more than most. buf is scratch.
func (f folder) list(buf []byte, out []item, most int) ([]item, error) {
	for len(out) <= most {
		n, err := unix.Getdents(f.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return out, err
		}
		for b := buf[:n]; len(b) >= 19; {
			size := int(binary.NativeEndian.Uint16(b[16:]))
			name := b[19:size]
			if i := bytes.IndexByte(name, 0); i >= 0 {
				name = name[:i]
			}
			kind := b[18]
			b = b[size:]
			if string(name) == "." || string(name) == ".." {
				continue
			}
			out = append(out, item{string(name), f.kind(kind, name)})
		}
	}
	return out, nil
}

func (f folder) kind(d byte, name []byte) kind {
	switch d {
	case unix.DT_REG:
		return isFile
	case unix.DT_DIR:
		return isDir
	case unix.DT_LNK:
		return isLink
	case unix.DT_UNKNOWN:
		var st unix.Stat_t
		if unix.Fstatat(f.fd, string(name), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			return isOther
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			return isFile
		case unix.S_IFDIR:
			return isDir
		case unix.S_IFLNK:
			return isLink
		}
	}
	return isOther
}

// modified is the time of the last change of a file in f, and whether it is a
// link.
func (f folder) modified(name string) (at time.Time, link, ok bool) {
	var st unix.Stat_t
	if unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return time.Time{}, false, false
	}
	return time.Unix(st.Mtim.Unix()), st.Mode&unix.S_IFMT == unix.S_IFLNK, true
}

// Stat looks at an entry of the folder, "" at the folder itself.
func (f Folder) Stat(name string) (Stat, error) {
	var st unix.Stat_t
	var err error
	if name == "" {
		err = unix.Fstat(f.fd, &st)
	} else {
		err = unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return Stat{}, &fs.PathError{Op: "stat", Path: join(f.rel, name), Err: err}
	}
	return Stat{
		Mode: fileMode(st.Mode), Size: st.Size, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(),
		Ino: st.Ino, Links: uint64(st.Nlink),
	}, nil
}

func fileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	for _, bit := range []struct {
		sys  uint32
		mode fs.FileMode
	}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}} {
		if m&bit.sys != 0 {
			mode |= bit.mode
		}
	}
	switch m & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	default:
		mode |= fs.ModeDevice
	}
	return mode
}

// Born is when an entry came into being; ok is false where the file system
// does not say.
func (f Folder) Born(name string) (at time.Time, ok bool) {
	var st unix.Statx_t
	err := unix.Statx(f.fd, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}, false
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)), true
}

// Readlink is where a link of the folder points to.
func (f Folder) Readlink(name string) (string, error) {
	b := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(f.fd, name, b)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: join(f.rel, name), Err: err}
	}
	return string(b[:n]), nil
}

// A source is an open file.
type source struct{ fd int }

// file opens a file of f. What is not a regular file any more neither blocks
// (O_NONBLOCK) nor is followed.
func (f folder) file(name string) (source, error) {
	for {
		fd, err := unix.Openat(f.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return source{-1}, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return source{fd}, nil
	}
}

// read fills b from the file; 0 is its end.
func (s source) read(b []byte) (int, error) {
	for {
		n, err := unix.Read(s.fd, b)
		if err == unix.EINTR {
			continue
		}
		return max(n, 0), err
	}
}

func (s source) close() { unix.Close(s.fd) }
