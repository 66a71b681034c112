package sessions

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/blob"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

var (
	_ store.Catalogue = Store{}
	_ store.Opener    = Store{}
)

// A Session is one that this process writes.
type Session struct {
	*jsonl.Log
	dir string
}

// Ready makes the folder of a project, so that a disk that cannot be written
// to is found out before a session begins.
func (s Store) Ready(project string) error {
	if err := os.MkdirAll(filepath.Join(s.Dir, project), disk.DirMode); err != nil {
		return fmt.Errorf("make a folder for the sessions: %w", err)
	}
	if err := disk.Writable(filepath.Join(s.Dir, project)); err != nil {
		return fmt.Errorf("begin a session: %w", err)
	}
	return nil
}

// Create implements store.Opener.
func (s Store) Create(_ context.Context, project, id string) (store.Session, error) {
	if !ValidID(id) {
		return nil, fmt.Errorf("%q is not a UUID", id)
	}
	if s.Has(id) {
		return nil, fmt.Errorf("%w: %s", store.ErrExists, id)
	}
	if err := s.Ready(project); err != nil {
		return nil, err
	}
	return s.open(project, id)
}

// Open implements store.Opener.
func (s Store) Open(_ context.Context, i store.Info) (store.Session, error) {
	return s.open(i.Key, i.ID)
}

func (s Store) open(project, id string) (store.Session, error) {
	dir := s.folder(project, id)
	log, err := jsonl.Open(s.options(dir))
	if err != nil {
		return nil, err
	}
	return &Session{log, dir}, nil
}

func (s Store) options(dir string) jsonl.Options {
	self := s.self()
	return jsonl.Options{Dir: dir, Key: s.Key, Self: &self}
}

// Scratch implements store.Session.
func (s *Session) Scratch() string { return s.dir }

// File implements store.Session.
func (s *Session) File() string { return filepath.Join(s.dir, logName) }

// Read implements store.Catalogue.
func (s Store) Read(ctx context.Context, i store.Info, after event.Seq) iter.Seq2[event.Event, error] {
	return s.read(i, func(r *jsonl.Reader) iter.Seq2[event.Event, error] { return r.After(ctx, after) })
}

// Follow implements store.Catalogue.
func (s Store) Follow(ctx context.Context, i store.Info, after event.Seq) iter.Seq2[event.Event, error] {
	return s.read(i, func(r *jsonl.Reader) iter.Seq2[event.Event, error] { return r.Follow(ctx, after) })
}

func (s Store) read(i store.Info, events func(*jsonl.Reader) iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		r, err := jsonl.OpenReader(s.options(s.folder(i.Key, i.ID)))
		if err != nil {
			yield(event.Event{}, fmt.Errorf("read session %s: %w", i.ID, err))
			return
		}
		defer r.Close()
		for e, err := range events(r) {
			if !yield(e, err) {
				return
			}
		}
		if bad := r.Report().Bad; len(bad) > 0 && s.Unread != nil {
			s.Unread(unread(bad))
		}
	}
}

// Blobs are the contents that are kept beside a session's log.
func (s Store) Blobs(i store.Info) store.Blobs {
	return blob.Folder{Path: filepath.Join(s.folder(i.Key, i.ID), jsonl.BlobsName), Pack: true}
}

// Scratch is where tools keep files of a session.
func (s Store) Scratch(i store.Info) string { return s.folder(i.Key, i.ID) }
