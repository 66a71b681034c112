package market

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/adze-agent/adze/internal/disk/changed"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of what is unpacked.
const (
	maxBytes = 500_000_000
	maxFiles = 20_000 // files, folders and links together
	maxName  = 255
	maxPath  = 1024
)

// A tree is a folder that is filled with what somebody else made: each name is
// looked at before anything is written, and nothing is written outside.
type tree struct {
	root  *os.Root
	bytes int64
	count int
	names map[string]string // by their lower case
	leaf  map[string]bool   // those that are no folder
	links []string
}

func newTree(dir string) (*tree, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &tree{root: root, names: map[string]string{}, leaf: map[string]bool{}}, nil
}

func (t *tree) close() error { return t.root.Close() }

// A hostile error says that what was fetched must not be unpacked.
type hostile struct{ what string }

func (h *hostile) Error() string { return h.what }

func refuse(name, format string, args ...any) error {
	return &hostile{fmt.Sprintf("%q %s", clip.Line(clip.Visible(name), 200), fmt.Sprintf(format, args...))}
}

// clean checks a name, and counts it. A folder may come more than once.
func (t *tree) clean(name string, dir bool) (string, error) {
	p := strings.TrimSuffix(name, "/")
	switch {
	case len(p) > maxPath:
		return "", refuse(name, "is longer than %d bytes", maxPath)
	case p == "" || strings.HasPrefix(p, "/") || !fs.ValidPath(path.Clean(p)) || slices.Contains(strings.Split(p, "/"), ".."):
		return "", refuse(name, "leads out of the plugin")
	case strings.ContainsAny(p, "\\:\x00") || clip.Visible(p) != p:
		return "", refuse(name, "has characters that a name must not have")
	}
	p = path.Clean(p)
	parts := strings.Split(p, "/")
	for i, part := range parts {
		if len(part) > maxName || strings.HasSuffix(part, ".") && part != "." || strings.HasSuffix(part, " ") {
			return "", refuse(name, "has a part that not all systems can name")
		}
		at := strings.Join(parts[:i+1], "/")
		low := strings.ToLower(at)
		was, there := t.names[low]
		switch {
		case there && was != at:
			return "", refuse(name, "differs from %q only by case", was)
		case there && i == len(parts)-1 && !dir:
			return "", refuse(name, "comes twice")
		case there && (i < len(parts)-1 || dir) && t.leaf[low]:
			return "", refuse(name, "is below what is no folder")
		case !there:
			if t.count++; t.count > maxFiles {
				return "", &hostile{fmt.Sprintf("it has more than %s files", clip.Thousands(maxFiles))}
			}
			t.names[low] = at
		}
	}
	if !dir {
		t.leaf[strings.ToLower(p)] = true
	}
	return p, nil
}

func (t *tree) dir(name string) error {
	if path.Clean(strings.TrimSuffix(name, "/")) == "." {
		return nil
	}
	p, err := t.clean(name, true)
	if err != nil {
		return err
	}
	return mended(t.root.MkdirAll(p, 0o755))
}

// file writes one. What comes is counted as it is read, whatever was announced.
func (t *tree) file(name string, runs bool, r io.Reader) error {
	p, err := t.clean(name, false)
	if err != nil {
		return err
	}
	if d := path.Dir(p); d != "." {
		if err := t.root.MkdirAll(d, 0o755); err != nil {
			return mended(err)
		}
	}
	mode := fs.FileMode(0o644)
	if runs {
		mode = 0o755
	}
	f, err := safe.Disk{}.Open(t.root, p, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return mended(err)
	}
	n, err := io.Copy(f, io.LimitReader(r, maxBytes-t.bytes+1))
	t.bytes += n
	if err = errors.Join(err, f.Close()); err == nil && t.bytes > maxBytes {
		return &hostile{"it is larger than " + clip.Size(maxBytes)}
	}
	return mended(err)
}

// link makes one that stays inside; done looks again at where it really leads.
func (t *tree) link(name, target string) error {
	p, err := t.clean(name, false)
	if err != nil {
		return err
	}
	to := path.Join(path.Dir(p), target)
	if target == "" || path.IsAbs(target) || strings.ContainsAny(target, "\\:\x00") || !fs.ValidPath(to) {
		return refuse(name, "is a link that leads out of the plugin: %s", clip.Line(clip.Visible(target), 100))
	}
	if d := path.Dir(p); d != "." {
		if err := t.root.MkdirAll(d, 0o755); err != nil {
			return mended(err)
		}
	}
	t.links = append(t.links, p)
	return mended(t.root.Symlink(target, p))
}

// done looks at the links when all is there. What Python compiled is left out: nobody can
// read it, and it is made anew.
func (t *tree) done() error {
	for _, name := range t.names {
		if path.Base(name) == pycache {
			if err := t.root.RemoveAll(name); err != nil {
				return mended(err)
			}
		}
	}
	for _, l := range t.links {
		if _, err := t.root.Stat(l); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return refuse(l, "is a link that leads out of the plugin, or to itself")
		}
	}
	return nil
}

// mended says of an error of the disk what helps.
func mended(err error) error {
	var p *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		return &fault{errors.New("the disk is full"), "make room, and try again; nothing was installed"}
	case errors.As(err, &p):
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return err
}

// A fault is an error with what helps.
type fault struct {
	err  error
	hint string
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// Hint implements hint.Hinter.
func (f *fault) Hint() string { return f.hint }

// copyDir copies a folder of this machine, without what git keeps there.
func (t *tree) copyDir(dir string) error {
	from, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer from.Close()
	return fs.WalkDir(from.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p == ".":
			return nil
		case d.Name() == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return t.dir(p)
		case d.Type() == fs.ModeSymlink:
			target, err := from.Readlink(p)
			if err != nil {
				return err
			}
			return t.link(p, target)
		case !d.Type().IsRegular():
			return refuse(p, "is neither a file nor a folder")
		}
		f, info, err := openRegular(from, p)
		if err != nil {
			return err
		}
		defer f.Close()
		return t.file(p, info.Mode()&0o111 != 0, f)
	})
}

// openRegular opens a file of a tree, and nothing else.
func openRegular(root *os.Root, p string) (*os.File, fs.FileInfo, error) {
	info, err := root.Lstat(p)
	if err != nil {
		return nil, nil, err
	}
	f, err := regular.OpenIn(root, p, info)
	return f, info, err
}

// sums are what is known of each file of a tree.
type sums struct {
	Sum   string            // of the whole, "sha256:…"
	Files map[string]string // path → hash of the content, for links their target
	Runs  map[string]bool   // may be run
}

// sumOf reads a tree. Only names, contents and whether a file may be run count.
func sumOf(dir string) (sums, error) { return sumOfSome(dir, func(string) bool { return true }) }

// sumOfSome is sumOf of the files that count.
func sumOfSome(dir string, counts func(name string) bool) (sums, error) {
	out := sums{Files: map[string]string{}, Runs: map[string]bool{}}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return out, err
	}
	defer root.Close()
	all := sha256.New()
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !counts(p) {
			return err
		}
		if d.Type() == fs.ModeSymlink {
			target, err := root.Readlink(p)
			out.Files[p] = "-> " + target
			line(all, "link", p, target)
			return err
		}
		f, info, err := openRegular(root, p)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		_, err = io.Copy(h, f)
		sum := hex.EncodeToString(h.Sum(nil))
		kind := "file"
		if info.Mode()&0o111 != 0 {
			kind, out.Runs[p] = "program", true
		}
		out.Files[p] = sum
		line(all, kind, p, sum)
		return err
	})
	out.Sum = "sha256:" + hex.EncodeToString(all.Sum(nil))
	return out, err
}

// stampOf is what the system says of the files of a tree without reading them: when one
// changes, comes or goes, it is another.
func stampOf(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	all := sha256.New()
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		at, number := changed.At(info)
		line(all, p, fmt.Sprint(info.Mode(), info.Size(), at.UnixNano(), number))
		return nil
	})
	return hex.EncodeToString(all.Sum(nil)), err
}

func line(h hash.Hash, parts ...string) {
	for _, p := range parts {
		_, _ = io.WriteString(h, p) // a hash takes everything
		_, _ = h.Write([]byte{0})
	}
}

// freeze makes a tree read-only but for its top folder, which is still to be
// moved.
func freeze(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var dirs []string
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || p == "." || d.Type() == fs.ModeSymlink:
			return err
		case d.IsDir():
			dirs = append(dirs, p)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return root.Chmod(p, info.Mode().Perm()&0o111|0o444)
	})
	for _, d := range slices.Backward(dirs) {
		err = errors.Join(err, root.Chmod(d, 0o555))
	}
	return err
}
