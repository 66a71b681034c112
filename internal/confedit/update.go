package confedit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/store/disk"
)

// An Editor writes settings files. The zero value works.
type Editor struct {
	// Good, when set, holds copies of the last files that parsed: an update
	// of a file that was cut to nothing starts from its copy.
	Good *Good
	disk safe.Disk
}

// A Target is a settings file. For a file of a repository, Root is the
// repository's folder: no link below it is followed. Otherwise Root is empty
// and a link is resolved, as people keep settings in linked folders.
type Target struct {
	Path string
	Root string
	Mode fs.FileMode // of a new file; 0 is 0600
}

// Update applies edits to a file: locked against other processes, read anew
// inside the lock, written to a temporary file, synced, and renamed. When an
// error is returned the file has its old content.
func (e Editor) Update(ctx context.Context, t Target, edits ...Edit) error {
	return e.Rewrite(ctx, t, func(text []byte) ([]byte, error) { return Apply(text, edits...) })
}

// Rewrite is Update for any change of a whole text. change runs inside the lock, so it must
// be over soon; it returns the same bytes to write nothing.
func (e Editor) Rewrite(ctx context.Context, t Target, change func([]byte) ([]byte, error)) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", t.Path, err)
		}
	}()
	dir, name, err := place(t)
	if err != nil {
		return err
	}
	defer dir.Close()
	for range 8 {
		held, err := lease.Wait(ctx, disk.In(dir), name+".lock", lease.ThisProcess())
		if err != nil {
			return err
		}
		sweep(dir, time.Now()) // the clock that file times are from
		err = e.rewrite(dir, name, t, change, held)
		_ = held.Release() // if it stays it is stale as soon as we end
		if !errors.Is(err, lease.ErrLost) {
			return err
		}
	}
	return fmt.Errorf("lock it: %w", lease.ErrLost)
}

// sweep removes what processes that were killed during a rewrite left in the
// folder. What is younger than any rewrite may be in use.
func sweep(dir *os.Root, now time.Time) {
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		n := e.Name()
		if !safe.IsTemp(n) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > leftover {
			_ = dir.Remove(n)
		}
	}
}

// leftover is the age at which a temporary file is nobody's any more: its
// writer would have lost the lock long ago.
const leftover = 4 * lease.Work

func (e Editor) rewrite(dir *os.Root, name string, t Target, change func([]byte) ([]byte, error), held *lease.Lease) error {
	was, mode, err := current(dir, name, t)
	if err != nil {
		return err
	}
	start := was
	if len(bytes.Trim(was, "\x00 \t\r\n")) == 0 {
		start = nil
		if e.Good != nil && was != nil { // who removed the file wants nothing of it back
			start = e.Good.Last(t.Path)
		}
	}
	now, err := change(start)
	if err != nil {
		return err
	}
	if bytes.Equal(now, was) {
		return nil
	}
	if len(now) > config.MaxFile {
		return fmt.Errorf("it would have more than 2 MiB")
	}
	if err := e.disk.Replace(dir, safe.File{Name: name, Text: now, Mode: mode, Exact: true, Check: func(string) error { return held.Check() }}); err != nil {
		return err
	}
	if e.Good != nil {
		e.Good.Keep(t.Path, now)
	}
	return nil
}

// place opens the folder a target is in, making it if needed.
func place(t Target) (dir *os.Root, name string, err error) {
	if t.Root == "" {
		path := t.Path
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		} else if target, err := os.Readlink(path); err == nil { // a link to a file that is not there yet
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(path), target)
			}
			path = target
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, "", err
		}
		dir, err := os.OpenRoot(filepath.Dir(path))
		return dir, filepath.Base(path), err
	}
	rel, err := filepath.Rel(t.Root, t.Path)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, "", fmt.Errorf("it is not inside %s", t.Root)
	}
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return nil, "", err
	}
	for {
		seg, rest, more := strings.Cut(filepath.ToSlash(rel), "/")
		if info, err := root.Lstat(seg); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			root.Close()
			return nil, "", fmt.Errorf("%s is a link; adze does not write through links of a repository", seg)
		}
		if !more {
			return root, seg, nil
		}
		if err := root.Mkdir(seg, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			root.Close()
			return nil, "", err
		}
		next, err := root.OpenRoot(seg)
		root.Close()
		if err != nil {
			return nil, "", err
		}
		root, rel = next, rest
	}
}

// current reads the file as it is now; nil means that it is missing.
func current(dir *os.Root, name string, t Target) ([]byte, fs.FileMode, error) {
	mode := t.Mode
	if mode == 0 {
		mode = 0o600
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, mode, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if info.Mode().Perm()&0o200 == 0 { // a rename would not ask; whoever closed the file meant it
		return nil, 0, errors.New("the file is read-only; make it writable first (chmod u+w)")
	}
	text, err := readRegular(f, info, config.MaxFile)
	return text, info.Mode().Perm(), err
}
