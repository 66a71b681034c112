//go:build !linux

package search

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A base is the root of a walk, held open; everything is opened through it,
// so that nothing that is swapped during a walk can lead it out.
type base struct{ root *os.Root }

func openBase(path string) (*base, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &base{root}, nil
}

func (b *base) close() { b.root.Close() }

// A folder is open for listing and for opening its files.
type folder struct {
	root *os.Root
	rel  string
	dir  *os.File
}

func (b *base) open(rel string) (folder, error) {
	if rel == "" {
		rel = "."
	}
	rel = filepath.FromSlash(rel)
	fi, err := b.root.Lstat(rel)
	if err != nil {
		return folder{}, err
	}
	if !fi.IsDir() {
		return folder{}, errors.New("not a folder any more")
	}
	d, err := b.root.Open(rel)
	if err != nil {
		return folder{}, err
	}
	return folder{b.root, rel, d}, nil
}

func (f folder) close() { f.dir.Close() }

// list returns the entries in the order of the file system, and stops when there
// are more than most.
func (f folder) list(_ []byte, out []item, most int) ([]item, error) {
	n := -1
	if most < all {
		n = most + 1
	}
	es, err := f.dir.ReadDir(n)
	if err == io.EOF {
		err = nil
	}
	for _, e := range es {
		k := isOther
		switch t := e.Type(); {
		case t.IsRegular():
			k = isFile
		case t.IsDir():
			k = isDir
		case t&fs.ModeSymlink != 0:
			k = isLink
		}
		out = append(out, item{e.Name(), k})
	}
	return out, err
}

func (f folder) modified(name string) (at time.Time, link, ok bool) {
	fi, err := f.root.Lstat(filepath.Join(f.rel, name))
	if err != nil {
		return time.Time{}, false, false
	}
	return fi.ModTime(), fi.Mode()&fs.ModeSymlink != 0, true
}

// Stat looks at an entry of the folder, "" at the folder itself.
func (f Folder) Stat(name string) (Stat, error) {
	fi, err := f.root.Lstat(filepath.Join(f.folder.rel, name))
	if err != nil {
		return Stat{}, err
	}
	return Stat{Mode: fi.Mode(), Size: fi.Size(), MTime: fi.ModTime().UnixNano()}, nil
}

// Born is when an entry came into being; ok is false where the file system
// does not say.
func (f Folder) Born(string) (at time.Time, ok bool) { return time.Time{}, false }

// Readlink is where a link of the folder points to.
func (f Folder) Readlink(name string) (string, error) {
	return f.root.Readlink(filepath.Join(f.folder.rel, name))
}

// A source is an open file.
type source struct{ f *os.File }

func (f folder) file(name string) (source, error) {
	p := filepath.Join(f.rel, name)
	fi, err := f.root.Lstat(p)
	if err != nil {
		return source{}, err
	}
	if !fi.Mode().IsRegular() {
		return source{}, errors.New("not a regular file any more")
	}
	o, err := f.root.OpenFile(p, os.O_RDONLY|nonblock, 0)
	return source{o}, err
}

func (s source) read(b []byte) (int, error) {
	n, err := s.f.Read(b)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func (s source) close() { s.f.Close() }
