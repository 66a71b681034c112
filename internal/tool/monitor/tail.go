package monitor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/watch"
)

// A tail follows a file: what is appended to it, also when it is cut, is replaced, or is
// not there yet. The folder is the one that was decided on, and no link leads elsewhere.
type tail struct {
	path string
	root *os.Root // its folder
	name string
	f    *os.File // nil while it is not there
	at   int64
}

// follow opens a file, whose path is resolved, at its end.
func follow(path string) (*tail, error) {
	root, err := pin.Dir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	t := &tail{path: path, root: root, name: filepath.Base(path)}
	switch err := t.open(); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		_ = root.Close()
		return nil, err
	default:
		if t.at, err = t.f.Seek(0, io.SeekEnd); err != nil {
			t.close()
			return nil, err
		}
	}
	return t, nil
}

// open opens the file that has the name now, from its beginning.
func (t *tail) open() error {
	info, err := t.root.Lstat(t.name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", t.path, regular.ErrKind)
	}
	f, err := regular.OpenIn(t.root, t.name, info)
	if err != nil {
		return err
	}
	if t.f != nil {
		_ = t.f.Close()
	}
	t.f, t.at = f, 0
	return nil
}

func (t *tail) close() {
	if t.f != nil {
		_ = t.f.Close()
	}
	_ = t.root.Close()
}

// run writes what is appended, until ctx ends.
func (t *tail) run(ctx context.Context, w io.Writer) error {
	defer t.close()
	changed := make(chan struct{}, 1)
	look := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	watcher := watch.Start(watch.Config{Files: []string{t.path}, Changed: look})
	defer watcher.Close()
	look()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			if err := t.news(w); err != nil {
				return err
			}
		}
	}
}

// news writes what came since the last look.
func (t *tail) news(w io.Writer) error {
	if t.f != nil {
		if info, err := t.f.Stat(); err == nil && info.Size() < t.at { // it was cut
			t.at = 0
		}
		if err := t.copy(w); err != nil {
			return err
		}
		was, err := t.f.Stat()
		now, nerr := t.root.Lstat(t.name)
		if err != nil || nerr != nil || os.SameFile(was, now) {
			return nil
		}
	}
	if err := t.open(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it is not there yet, or not any more
		}
		return err
	}
	return t.copy(w)
}

func (t *tail) copy(w io.Writer) error {
	if _, err := t.f.Seek(t.at, io.SeekStart); err != nil {
		return err
	}
	n, err := io.Copy(w, t.f)
	t.at += n
	return err
}
