package checkpoint

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Back is what undoes a list of changes, the oldest first: for every path that
// they name, from what the newest left to what stood there before the oldest.
// It is sorted by path.
func Back(all []effect.Change) []effect.Change {
	at := map[string]int{}
	var out []effect.Change
	for _, c := range all {
		i, known := at[c.Path]
		if !known {
			at[c.Path] = len(out)
			out = append(out, effect.Change{Path: c.Path, Before: c.After, After: c.Before, Names: c.Names})
			continue
		}
		out[i].Before = c.After
	}
	out = slices.DeleteFunc(out, nothing)
	order.By(out, func(a, b effect.Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// nothing reports that a change is none.
func nothing(c effect.Change) bool { return c.Before == c.After && len(c.Names) == 0 }

// maxContent bounds a file whose content is read, in bytes: what is larger is
// Lost. A file may say that it is of any size, and take no room on the disk.
const maxContent = 64 << 20

// tooLarge is why the content of a file is not known.
func tooLarge(size int64) string {
	return fmt.Sprintf("it has %d bytes, and at most %d of a file are kept", size, maxContent)
}

// Look is what stands at a path now. The content of a file is put into blobs,
// unless that is nil. One of more than maxContent is Lost.
func Look(path string, blobs Blobs) (effect.Version, error) {
	dir, err := pin.Dir(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, pin.ErrMoved) || errors.Is(err, pin.ErrNoFolder) {
		return effect.Version{}, nil
	}
	if err != nil {
		return effect.Version{}, err
	}
	defer dir.Close()
	name := filepath.Base(path)
	fi, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return effect.Version{}, nil
	case err != nil:
		return effect.Version{}, err
	}
	v := effect.Version{Mode: uint32(fi.Mode() & modeBits)}
	switch {
	case fi.IsDir():
		v.Kind = effect.IsFolder
	case fi.Mode()&fs.ModeSymlink != 0:
		v.Mode, v.Kind = 0, effect.IsLink
		v.Link, err = dir.Readlink(name)
	case fi.Mode().IsRegular():
		v.Kind, v.Size = effect.IsFile, fi.Size()
		if v.Size > maxContent {
			v.Lost = tooLarge(v.Size)
			break
		}
		var f *os.File
		if f, err = regular.OpenIn(dir, name, fi); err == nil {
			v.Hash, v.Size, err = keep(f, blobs)
			f.Close()
		}
		if v.Size > maxContent { // it grew meanwhile
			v.Hash, v.Lost = "", tooLarge(v.Size)
		}
	default:
		v.Mode, v.Kind = 0, effect.IsSpecial
	}
	return v, err
}

// content reads a file without following a link on the way.
func content(path string) ([]byte, error) {
	dir, err := pin.Dir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	name := filepath.Base(path)
	fi, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	f, err := regular.OpenIn(dir, name, fi)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxContent+1))
	if err == nil && len(b) > maxContent {
		err = errors.New(tooLarge(max(fi.Size(), int64(len(b)))))
	}
	return b, err
}

// keep names a content, and puts it into blobs when it has at most maxContent.
func keep(r io.Reader, blobs Blobs) (hash string, size int64, err error) {
	if blobs == nil {
		h := sha256.New()
		size, err = io.Copy(h, io.LimitReader(r, maxContent+1))
		return hex.EncodeToString(h.Sum(nil)), size, err
	}
	b, err := io.ReadAll(io.LimitReader(r, maxContent+1))
	if err != nil || len(b) > maxContent {
		return "", int64(len(b)), err
	}
	hash, err = blobs.Put(b)
	return hash, int64(len(b)), err
}

// Restore makes each path what After says, and returns what it changed, so that
// it can be undone in its turn. problems are for people: a path that could not
// be restored stays as it is, and the others are restored. The error is that of
// ctx.
//
// What another program changes at the same time can be overwritten, but nothing
// is reached through a link: each folder is opened step by step.
func Restore(ctx context.Context, blobs Blobs, list []effect.Change) (done []effect.Change, problems []string, err error) {
	r := &restorer{blobs: blobs}
	r.planAll(ctx, list, nil)
	done, err = r.restore(ctx, nil)
	return done, r.problems, err
}

// planAll looks at what stands at the paths, and keeps it. told, when set, is called
// for each path with how much of all, half of it, was done.
func (r *restorer) planAll(ctx context.Context, list []effect.Change, told func(done, of int)) {
	r.opened, r.failed, r.followed = map[string]fs.FileMode{}, map[string]bool{}, map[string]bool{}
	for i, c := range list {
		if ctx.Err() != nil {
			break
		}
		if told != nil {
			told(i/2, len(list))
		}
		r.plan(c)
	}
	order.By(r.todo, func(a, b effect.Change) int { return strings.Compare(a.Path, b.Path) })
}

// restore does what was planned; told is called as by planAll, with the other half.
func (r *restorer) restore(ctx context.Context, told func(done, of int)) (done []effect.Change, err error) {
	r.batch = safe.Batch{Each: together, Failed: r.problem}
	deepest := slices.Clone(r.todo)
	slices.Reverse(deepest)
	steps := []struct {
		do   func(effect.Change) error
		list []effect.Change
	}{{r.remove, deepest}, {r.folder, r.todo}, {r.content, r.todo}, {r.name, r.todo}, {r.mode, deepest}}
	for i, step := range steps {
		for j, c := range step.list {
			if err = ctx.Err(); err != nil {
				break
			}
			if told != nil {
				told((len(r.todo)+(i*len(r.todo)+j)/len(steps))/2, len(r.todo))
			}
			if r.failed[c.Path] {
				continue
			}
			if err := step.do(c); err != nil {
				r.problem(c.Path, err)
			}
		}
		r.batch.Flush()
	}
	r.close()
	return Since(r.todo), err
}

// maxTogether is how many files are flushed at the same time.
const maxTogether = 16

// together calls do with 0 to n-1, several at a time.
func together(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(maxTogether, n) {
		all.Go(func() { // ends with the last
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

// A restorer puts paths back, in steps: what is in the way goes, then folders,
// contents, further names of files and the modes of folders come.
type restorer struct {
	blobs    Blobs
	batch    safe.Batch
	pipes    bool // pipes, sockets and devices stay: nothing can make them again
	todo     []effect.Change
	opened   map[string]fs.FileMode // folders made writable, with their modes
	failed   map[string]bool
	followed map[string]bool // looked at by name
	problems []string
	foreign  []string         // paths of todo that were changed since
	linked   map[any][]string // paths of todo by the file that they name, of those with other names
	names    map[any]uint64   // how many each has
}

func (r *restorer) problem(path string, err error) {
	r.failed[path] = true
	r.problems = append(r.problems, fmt.Sprintf("%s: %v", path, paths.Cause(err)))
}

// Reasons why a path stays as it is.
var (
	errElsewhere = errors.New("it was moved here from a place that is not recorded, and stays")
	errPipe      = errors.New("a pipe, a socket or a device stands there now, which could not be made again, and stays")
	errSpecial   = errors.New("it was a pipe, a socket or a device, which cannot be made again")
	errLarge     = errors.New("what stands there now is too large to keep, and stays")
	errHolds     = errors.New("the folder holds what is not recorded, and stays")
)

// plan notes what is to be done with a path.
func (r *restorer) plan(c effect.Change) {
	now, err := Look(c.Path, r.blobs)
	want := c.After
	same := now
	same.Lost = want.Lost
	switch {
	case err != nil:
	case want.Kind == effect.Elsewhere:
		if now.Kind != effect.Absent {
			err = errElsewhere
		}
	case want == same && len(c.Names) == 0 && (want.Kind != effect.IsFile || want.Hash != ""):
	case want.Kind == effect.IsSpecial:
		if now.Kind != effect.IsSpecial {
			err = errSpecial
		}
	case want.Kind == effect.IsFile && want.Hash == "":
		err = errors.New("what stood there before was not kept: " + cmp.Or(want.Lost, "no reason is known"))
	case now.Kind == effect.IsFile && now.Hash == "":
		err = errLarge
	case now.Kind == effect.IsSpecial && r.pipes:
		err = errPipe
	default:
		if foreign(now, c.Before) {
			r.foreign = append(r.foreign, c.Path)
		}
		r.todo = append(r.todo, effect.Change{Path: c.Path, Before: now, After: want, Names: c.Names})
		if now.Kind == effect.IsFile {
			r.named(c.Path)
		}
	}
	if err != nil {
		r.problem(c.Path, err)
	}
}

// named notes a file that has other names, which keep what it holds now.
func (r *restorer) named(path string) {
	fi, err := os.Lstat(path)
	if err != nil || links(fi) < 2 {
		return
	}
	if r.linked == nil {
		r.linked, r.names = map[any][]string{}, map[any]uint64{}
	}
	id := fileID(fi)
	r.linked[id], r.names[id] = append(r.linked[id], path), links(fi)
}

// elsewhere are the files that keep what they hold under names that are not recorded.
func (r *restorer) elsewhere() (out []string) {
	for id, list := range r.linked {
		if more := r.names[id] - uint64(len(list)); r.names[id] > uint64(len(list)) {
			out = append(out, fmt.Sprintf("%s: %s of it (hard links) elsewhere, not recorded, kept what was written", list[0], clip.Count(int(more), "other name")))
		}
	}
	slices.Sort(out)
	return out
}

// foreign reports whether what stands at a path is not what the last call left there.
func foreign(now, left effect.Version) bool {
	left.Lost = ""
	return now != left && (left.Kind != effect.IsFile || left.Hash != "")
}

// in runs do in the folder that holds path. A folder that is closed to us is
// opened for the time.
func (r *restorer) in(path string, do func(dir *os.Root, name string) error) error {
	try := func() error {
		dir, err := pin.Dir(filepath.Dir(path))
		if err != nil {
			return err
		}
		defer dir.Close()
		return do(dir, filepath.Base(path))
	}
	err := try()
	if errors.Is(err, fs.ErrPermission) && r.open(filepath.Dir(path)) {
		err = try()
	}
	return err
}

// open makes a folder writable, and reports whether it was not.
func (r *restorer) open(path string) bool {
	if _, is := r.opened[path]; is {
		return false
	}
	up, err := pin.Dir(filepath.Dir(path))
	if err != nil {
		return false
	}
	defer up.Close()
	name := filepath.Base(path)
	fi, err := up.Lstat(name)
	if err != nil || !fi.IsDir() || fi.Mode()&0o700 == 0o700 || up.Chmod(name, fi.Mode()&modeBits|0o700) != nil {
		return false
	}
	r.opened[path] = fi.Mode() & modeBits
	return true
}

// close gives the folders that were opened their modes again, but for those
// that have new ones.
func (r *restorer) close() {
	for path, mode := range r.opened {
		_ = chmod(path, mode)
	}
}

func (r *restorer) remove(c effect.Change) error {
	if c.Before.Kind == effect.Absent || c.Before.Kind == c.After.Kind && c.After.Kind != effect.IsLink {
		return nil
	}
	return r.in(c.Path, func(dir *os.Root, name string) error {
		err := dir.Remove(name)
		if err != nil && c.Before.Kind == effect.IsFolder && !errors.Is(err, fs.ErrPermission) {
			return errHolds
		}
		return err
	})
}

func (r *restorer) folder(c effect.Change) error {
	if c.After.Kind != effect.IsFolder || c.Before.Kind == effect.IsFolder {
		return nil
	}
	return r.in(c.Path, func(dir *os.Root, name string) error { return dir.Mkdir(name, 0o700) })
}

func (r *restorer) content(c effect.Change) error {
	switch c.After.Kind {
	case effect.IsLink:
		return r.in(c.Path, func(dir *os.Root, name string) error { return dir.Symlink(c.After.Link, name) })
	case effect.IsFile:
		return r.in(c.Path, func(dir *os.Root, name string) error { return r.write(c.Path, dir, name, c.After) })
	case effect.Absent, effect.IsFolder, effect.IsSpecial, effect.Elsewhere:
	}
	return nil
}

// write replaces a file as a whole, at the latest at the end of the step.
func (r *restorer) write(path string, dir *os.Root, name string, v effect.Version) error {
	content, err := r.blobs.Get(v.Hash)
	if err != nil {
		return fmt.Errorf("what stood there: %w", err)
	}
	return r.batch.Put(path, dir, safe.File{Name: name, Text: content, Mode: fs.FileMode(v.Mode), Exact: true})
}

// name makes a path another name of the file that it was one of, where one of
// its other names has the same content again.
func (r *restorer) name(c effect.Change) error {
	if r.followed[c.Path] {
		return nil
	}
	r.followed[c.Path] = true
	for _, other := range c.Names {
		for _, o := range r.todo {
			if o.Path == other {
				if err := r.name(o); err != nil {
					return err
				}
			}
		}
		if v, err := Look(other, nil); err != nil || v.Kind != effect.IsFile || v.Hash != c.After.Hash || v.Mode != c.After.Mode {
			continue
		}
		from, err := pin.Dir(filepath.Dir(other))
		if err != nil {
			return err
		}
		defer from.Close()
		return r.in(c.Path, func(dir *os.Root, name string) error {
			return link(from, filepath.Base(other), dir, name)
		})
	}
	return nil
}

func (r *restorer) mode(c effect.Change) error {
	if c.After.Kind != effect.IsFolder {
		return nil
	}
	delete(r.opened, c.Path)
	return chmod(c.Path, fs.FileMode(c.After.Mode))
}

// chmod changes the mode of a folder.
func chmod(path string, mode fs.FileMode) error {
	up, err := pin.Dir(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer up.Close()
	if fi, err := up.Lstat(filepath.Base(path)); err != nil || !fi.IsDir() {
		return errors.Join(err, pin.ErrNoFolder)
	}
	return up.Chmod(filepath.Base(path), mode)
}
