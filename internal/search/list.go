package search

import (
	"io"
	"io/fs"
	"math"
	"slices"
)

// A Lister lists the folders of a tree one at a time, for who remembers what
// was in them. It leaves out what git ignores and the folders of version
// control systems. Files named .ignore and .adzeignore do not count: they are
// about searching. All names and paths are relative, with slashes.
type Lister struct {
	tree Tree
	base *base
}

// NewLister opens the root of t, which is a folder.
func NewLister(t Tree) (*Lister, error) {
	b, err := openBase(t.Root)
	if err != nil {
		return nil, rootError(t.Root, err)
	}
	return &Lister{t, b}, nil
}

// Close lets the root go.
func (l *Lister) Close() { l.base.close() }

// Rules are the ignore files that count in one folder. The zero value ignores
// nothing.
type Rules struct{ r *rules }

// Above are the rules of the folders over the root.
func (l *Lister) Above() Rules { return Rules{l.tree.above()} }

// A Folder is open for listing and for looking at its entries. No link is
// followed, neither on the way to it nor in it.
type Folder struct {
	folder
	rel string
}

// Open opens a folder of the tree; "" is the root.
func (l *Lister) Open(rel string) (Folder, error) {
	f, err := l.base.open(rel)
	return Folder{f, rel}, err
}

// Close lets the folder go.
func (f Folder) Close() { f.close() }

// An Entry is one name in a folder.
type Entry struct {
	Name    string
	Dir     bool
	Ignored bool
}

// all has every entry of a folder listed.
const all = math.MaxInt

// List returns the entries that are kept, in no order, and the rules that count
// in the folder: those of its own ignore files and those above it. buf is scratch
// of a few kilobytes.
func (l *Lister) List(f Folder, above Rules, buf []byte) ([]Entry, Rules, error) {
	out, r, err := l.All(f, above, all, buf)
	return slices.DeleteFunc(out, func(e Entry) bool { return e.Ignored }), r, err
}

// All is List with what git ignores. It stops when there are more than most.
func (l *Lister) All(f Folder, above Rules, most int, buf []byte) ([]Entry, Rules, error) {
	items, err := f.list(buf, nil, most)
	if err != nil {
		return nil, Rules{}, err
	}
	r := l.tree.rulesIn(f.folder, f.rel, above.r, items)
	out := make([]Entry, 0, len(items))
	for _, it := range items {
		if dir := it.kind == isDir; l.tree.AsRipgrep || !VCS(it.name) {
			out = append(out, Entry{it.name, dir, r.ignoredBy(join(f.rel, it.name), dir, ofGit)})
		}
	}
	return out, Rules{r}, nil
}

// A Stat is what the file system says of an entry. Where a system does not tell
// of a member, it is 0.
type Stat struct {
	Mode         fs.FileMode
	Size         int64
	MTime, CTime int64 // Unix nanoseconds
	Ino          uint64
	Links        uint64 // names of the file
}

// Read opens a regular file of the folder. What is a pipe by now neither blocks
// nor is followed.
func (f Folder) Read(name string) (io.ReadCloser, error) {
	s, err := f.file(name)
	if err != nil {
		return nil, err
	}
	return &reading{s}, nil
}

type reading struct{ source }

func (r *reading) Read(b []byte) (int, error) {
	n, err := r.read(b)
	if n == 0 && err == nil && len(b) > 0 {
		err = io.EOF
	}
	return n, err
}

func (r *reading) Close() error {
	r.close()
	return nil
}
