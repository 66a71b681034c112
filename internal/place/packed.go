package place

import (
	"archive/tar"
	"archive/zip"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
)

// Bounds of an archive that is looked into.
const (
	maxPacked   = 5_000    // entries
	maxUnpacked = 64 << 20 // bytes that come out of one that is compressed as a whole
)

// packed lists the names in an archive, as unzip finds them or as tar does; ok is false for
// one that cannot be looked into, that holds what some unpackers read otherwise, or in which
// a name leads through a link of its own, or is one.
func packed(file string, zipped bool) (names []string, ok bool) {
	f, info, err := regular.Open(file)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	links := map[string]bool{}
	seen := map[string]bool{}
	add := func(name string, link bool) bool {
		plain := path.Clean(name)
		if link && seen[plain] || links[plain] {
			return false
		}
		if seen[plain] = true; link {
			links[strings.TrimSuffix(name, "/")], links[plain] = true, true
		}
		names = append(names, name)
		return len(names) <= maxPacked
	}
	isZip := inZip(f, info.Size(), add)
	if isZip != zipped || !zipped && !inTar(f, add) { // some unpackers would take one that is both for the other
		return nil, false
	}
	for _, n := range names {
		for i, c := range n {
			if c == '/' && links[n[:i]] {
				return nil, false
			}
		}
	}
	return names, true
}

func inZip(f *os.File, size int64, add func(name string, link bool) bool) bool {
	z, err := zip.NewReader(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return false
	}
	for _, e := range z.File {
		if renames(e.Extra) || localRenames(f, e) || !add(e.Name, e.Mode()&fs.ModeSymlink != 0) {
			return false
		}
	}
	return true
}

// renames reports whether the further fields of an entry give it another name (Info-ZIP's
// Unicode Path, 0x7075, PKWARE's APPNOTE 4.6.9), or cannot be read.
func renames(extra []byte) bool {
	for len(extra) > 0 {
		if len(extra) < 4 {
			return true
		}
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if id == 0x7075 || len(extra) < 4+n {
			return true
		}
		extra = extra[4+n:]
	}
	return false
}

// localRenames is renames of what stands before the content of an entry.
func localRenames(f io.ReaderAt, e *zip.File) bool {
	const head = 30 // bytes before the name
	at, err := e.DataOffset()
	if err != nil {
		return true
	}
	b := make([]byte, min(at, head+2*0xffff))
	if _, err := f.ReadAt(b, at-int64(len(b))); err != nil {
		return true
	}
	for i := len(b) - head; i >= 0; i-- {
		if string(b[i:i+4]) != "PK\x03\x04" {
			continue
		}
		name, extra := int(binary.LittleEndian.Uint16(b[i+26:])), int(binary.LittleEndian.Uint16(b[i+28:]))
		if i+head+name+extra == len(b) {
			return string(b[i+head:i+head+name]) != e.Name || renames(b[i+head+name:])
		}
	}
	return true
}

func inTar(f *os.File, add func(name string, link bool) bool) bool {
	for _, unpack := range []func(io.Reader) (io.Reader, error){
		func(r io.Reader) (io.Reader, error) { return r, nil },
		func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil },
	} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return false
		}
		in, err := unpack(f)
		if err != nil {
			continue
		}
		if in == io.Reader(f) {
			if some, whole := tarNames(in, add); some {
				return whole
			}
			continue
		}
		short := &io.LimitedReader{R: in, N: maxUnpacked}
		if some, whole := tarNames(short, add); some {
			return whole && short.N > 0
		}
	}
	return false
}

// tarNames adds the names in a tar archive: some reports that it is one, whole that all
// could be read.
func tarNames(r io.Reader, add func(name string, link bool) bool) (some, whole bool) {
	for t := tar.NewReader(r); ; some = true {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return some, some
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return some, false
		case !usual(h) || !add(h.Name, h.Typeflag == tar.TypeSymlink):
			return true, false
		}
	}
}

// usual reports an entry that all programs unpack to its name: a file, a folder or a
// symbolic link, with no further records than those that say nothing of names.
func usual(h *tar.Header) bool {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeXGlobalHeader:
	default:
		return false
	}
	for key := range h.PAXRecords {
		switch key {
		case "path", "linkpath", "size", "uid", "gid", "uname", "gname", "mtime", "atime", "ctime", "comment":
		default:
			if !strings.HasPrefix(key, "SCHILY.xattr.") && !strings.HasPrefix(key, "LIBARCHIVE.") {
				return false
			}
		}
	}
	return true
}
