package sessions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

// draftSuffix ends the name of a draft's folder, which is no session's ID.
const draftSuffix = ".draft"

// A Draft is a session that is being copied from elsewhere. Nobody finds it
// before Done, so that one that was cut off is not taken for a whole one.
// Nothing of it is on disk for good before then either.
type Draft struct {
	log         *jsonl.Log
	st          Store
	project, id string
}

// Draft begins a draft. The error is store.ErrExists when there is a session
// with this ID, and store.ErrRunning while another process makes one.
func (s Store) Draft(project, id string) (*Draft, error) {
	if !ValidID(id) {
		return nil, fmt.Errorf("%q is not a UUID", id)
	}
	if s.Has(id) {
		return nil, fmt.Errorf("%w: %s", store.ErrExists, id)
	}
	if err := s.Ready(project); err != nil {
		return nil, err
	}
	if err := s.sweep(project, id+draftSuffix); err != nil {
		return nil, err
	}
	opt := s.options(s.folder(project, id+draftSuffix))
	opt.Bulk = true
	log, err := jsonl.Open(opt)
	if err != nil {
		return nil, err
	}
	return &Draft{log, s, project, id}, nil
}

// Append adds an event, as store.Log does.
func (d *Draft) Append(ctx context.Context, e event.Event) error { return d.log.Append(ctx, e) }

// Spill keeps a text, and returns the path that it has after Done.
func (d *Draft) Spill(text string) (string, error) {
	path, err := d.log.Spill(text)
	if err != nil {
		return "", err
	}
	return filepath.Join(d.st.blobs(d.project, d.id), filepath.Base(path)), nil
}

// Done makes the draft a session. After an error there is neither.
func (d *Draft) Done() error {
	if err := d.log.Close(); err != nil {
		return errors.Join(err, d.st.discard(d.project, d.id+draftSuffix))
	}
	if err := d.place(); err != nil {
		return errors.Join(fmt.Errorf("keep session %s: %w", d.id, err), d.st.discard(d.project, d.id+draftSuffix))
	}
	return nil
}

func (d *Draft) place() error {
	if d.st.Has(d.id) {
		return store.ErrExists
	}
	root, err := os.OpenRoot(filepath.Join(d.st.Dir, d.project))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Rename(d.id+draftSuffix, d.id); err != nil {
		return err
	}
	return disk.In(root).Sync()
}

// Discard removes the draft.
func (d *Draft) Discard() error {
	return errors.Join(d.log.Close(), d.st.discard(d.project, d.id+draftSuffix))
}

// Sweep removes the drafts that processes left which ended before Done.
func (s Store) Sweep(ctx context.Context) error {
	root, err := os.OpenRoot(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	keys, err := folders(root, ".")
	if err != nil {
		return err
	}
	var errs []error
	for _, key := range keys {
		names, err := folders(root, key)
		errs = append(errs, err, ctx.Err())
		for _, name := range names {
			if id, ok := strings.CutSuffix(name, draftSuffix); ok && ValidID(id) {
				if err := s.sweep(key, name); !errors.Is(err, store.ErrRunning) {
					errs = append(errs, err)
				}
			}
		}
	}
	return errors.Join(errs...)
}

// sweep removes a draft that no process makes.
func (s Store) sweep(key, name string) error {
	dir, err := disk.Open(s.folder(key, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	held, err := lease.Take(dir, s.self())
	if other, ok := errors.AsType[*lease.Held](err); ok {
		return errors.Join(fmt.Errorf("%w: process %d on %s makes it just now", store.ErrRunning, other.PID, other.Host), dir.Close())
	}
	if err == nil {
		err = held.Release()
	}
	if err = errors.Join(err, dir.Close()); err != nil {
		return err
	}
	return s.discard(key, name)
}
