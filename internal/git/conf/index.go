package conf

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/disk/regular"
)

// maxIndex bounds the index that is looked into, in bytes: a repository of some
// four million files.
const maxIndex = 512 << 20

// errIndex is an index that is not understood, so that nothing is known of the
// repositories in it.
var errIndex = errors.New("the index of the repository is not understood")

// gitlinks lists the paths, relative to the working tree, at which the index
// holds other repositories. Git enters those to see whether they changed, and
// follows the settings it finds there.
//
// The format is that of gitformat-index(5), versions 2 to 4.
func gitlinks(file string) (links []string, err error) {
	err = entries(file, func() { links = nil }, func(name []byte, e stat) {
		if e.mode()&0o170000 == 0o160000 {
			links = append(links, string(name))
		}
	})
	if err != nil {
		return nil, err
	}
	return links, nil
}

// Tracked lists the files below dir that the index of its repository names, as
// absolute paths; ok is false when that is not known, or they are more than most.
func Tracked(dir string, most int) (files []string, ok bool) {
	repo, err := Find(dir)
	if err != nil || repo.GitDir == "" || repo.Top == "" {
		return nil, false
	}
	below := ""
	if dir != repo.Top {
		rel, err := filepath.Rel(repo.Top, dir)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, false
		}
		below = filepath.ToSlash(rel) + "/"
	}
	n, whole := 0, true
	err = entries(filepath.Join(repo.GitDir, "index"), func() { files, n, whole = nil, 0, true }, func(name []byte, e stat) {
		whole = whole && e.mode()&0o170000 != 0o040000 // a sparse index holds folders
		if bytes.HasPrefix(name, []byte(below)) {
			if n++; n <= most {
				files = append(files, filepath.Join(repo.Top, filepath.FromSlash(string(name))))
			}
		}
	})
	return files, err == nil && whole && n <= most
}

// A stat is the fixed part of an entry: what the file looked like, its object
// and its flags.
type stat []byte

func (s stat) at(i int) uint32 { return binary.BigEndian.Uint32(s[i:]) }
func (s stat) mode() uint32    { return s.at(24) }

// A Clean file is one whose content is an object of the repository, as long as
// it looks as it does here.
type Clean struct {
	Path  string // relative to the working tree, with slashes
	ID    string // of the object, as hex
	Size  int64
	MTime int64 // Unix nanoseconds
	Ino   uint32
}

// CleanFiles calls each for the files that the index of a repository vouches
// for: their content was that of the object when it was looked at, and cannot
// have changed since without another time. ok is false when that is not known.
func CleanFiles(repo Repo, each func(Clean)) (ok bool) {
	file := filepath.Join(repo.GitDir, "index")
	fi, err := os.Lstat(file)
	if err != nil {
		return false
	}
	written := fi.ModTime().UnixNano()
	// Read twice, so that only what is right is called for, and none of it kept meanwhile.
	try, right, id := 0, 0, make([]byte, 0, 64)
	if entries(file, func() { right++ }, func([]byte, stat) {}) != nil {
		return false
	}
	err = entries(file, func() { try++ }, func(name []byte, e stat) {
		if try != right {
			return
		}
		id = hex.AppendEncode(id[:0], e[40:len(e)-2])
		c := Clean{Path: string(name), ID: string(id), Size: int64(e.at(36)), MTime: int64(e.at(8))*1e9 + int64(e.at(12)), Ino: e.at(20)}
		flags := binary.BigEndian.Uint16(e[len(e)-2:])
		if e.mode()&0o170000 == 0o100000 && flags&0xb000 == 0 && c.MTime < written && c.MTime%1e9 != 0 {
			each(c)
		}
	})
	return err == nil
}

// entries calls each for every entry of an index; one that is not there has
// none. It may begin anew, and calls again then. The index is never in memory as a
// whole: name and e count until each returns.
func entries(file string, again func(), each func(name []byte, e stat)) error {
	f, fi, err := regular.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, regular.ErrKind), err == nil && fi.Size() > maxIndex:
		err = errIndex
	case err != nil:
		err = fmt.Errorf("reading the index: %w", err)
	}
	if f != nil {
		defer f.Close()
	}
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(nil, 64<<10)
	// Which hash a repository uses stands elsewhere; only one of them fits.
	for _, hash := range []int{20, 32} {
		again()
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("reading the index: %w", err)
		}
		r.Reset(f)
		if readIndex(r, fi.Size(), hash, each) {
			return nil
		}
	}
	return errIndex
}

// maxEntry bounds an entry with its name, in bytes.
const maxEntry = 8 << 10

// readIndex reads the entries of an index of that many bytes, whose hashes have that
// many. ok is false when the whole does not fit, or a part of it lies in another file.
func readIndex(r *bufio.Reader, size int64, hash int, each func(name []byte, e stat)) (ok bool) {
	head, err := r.Peek(12)
	if err != nil || size < int64(12+hash) || string(head[:4]) != "DIRC" {
		return false
	}
	version, count := binary.BigEndian.Uint32(head[4:]), int(binary.BigEndian.Uint32(head[8:]))
	if version < 2 || version > 4 {
		return false
	}
	left := size - int64(12+hash) // of entries and extensions; a checksum follows
	take := func(n int) bool {
		left -= int64(n)
		_, err := r.Discard(n)
		return err == nil && left >= 0
	}
	_, _ = r.Discard(12) // peeked
	var name []byte
	for range count {
		b, _ := r.Peek(int(min(maxEntry, left))) // less at the end of a file that shrank
		at := 40 + hash + 2
		if at > len(b) {
			return false
		}
		if flags := binary.BigEndian.Uint16(b[at-2:]); flags&0x4000 != 0 {
			at += 2
		}
		if version == 4 {
			strip, n := varint(b[min(at, len(b)):])
			if n == 0 || strip > len(name) {
				return false
			}
			at += n
			name = name[:len(name)-strip]
		} else {
			name = name[:0]
		}
		n := bytes.IndexByte(b[min(at, len(b)):], 0)
		if n < 0 {
			return false
		}
		name = append(name, b[at:at+n]...)
		at += n + 1
		if version < 4 {
			at = (at - 1 + 8) / 8 * 8
		}
		each(name, stat(b[:40+hash+2]))
		if !take(at) {
			return false
		}
	}
	for left >= 8 {
		b, err := r.Peek(8)
		if err != nil || string(b[:4]) == "link" {
			return false // the entries are in a shared index
		}
		if n := int64(binary.BigEndian.Uint32(b[4:])); n+8 > left || !take(8+int(n)) {
			return false
		}
	}
	return left == 0
}

// varint reads a number as version 4 writes it; n is how many bytes it took, 0
// when it is not whole.
func varint(b []byte) (v, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		n++
		v |= int(c & 0x7f)
		if c&0x80 == 0 {
			return v, n
		}
		v = (v + 1) << 7
	}
	return 0, 0
}

// scanLinks looks at the settings of the repositories that the index of repo
// names, and of those in their indexes.
func scanLinks(repo Repo, depth int) (ok bool, why string) {
	if depth > 8 {
		return false, "its submodules are nested too deeply"
	}
	links, err := gitlinks(filepath.Join(repo.GitDir, "index"))
	if err != nil {
		return false, err.Error()
	}
	if len(links) > maxModules {
		return false, "there are too many submodules to look at"
	}
	for _, l := range links {
		at := filepath.Join(repo.Top, filepath.FromSlash(l))
		sub, err := In(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err.Error()
		}
		for _, f := range sub.configs() {
			if found, err := scan(f, unpinned); err != nil {
				return false, err.Error()
			} else if found != "" {
				return false, fmt.Sprintf("%s sets %s, which may make git run a program", f, found)
			}
		}
		if ok, why := scanLinks(sub, depth+1); !ok {
			return false, why
		}
	}
	return true, ""
}

// configs are the files in which a repository's settings stand.
func (r Repo) configs() []string {
	files := []string{filepath.Join(r.Common, "config"), filepath.Join(r.GitDir, "config.worktree")}
	if r.GitDir != r.Common {
		files = append(files, filepath.Join(r.GitDir, "config"), filepath.Join(r.Common, "config.worktree"))
	}
	return files
}
