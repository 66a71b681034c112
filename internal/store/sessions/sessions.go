// Package sessions finds, lists, copies and removes the sessions on a disk:
// <state>/projects/<key>/<session id>/log.jsonl. It never writes into a log
// that somebody else may be writing, and never leaves its folder.
package sessions

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
	"syscall"
	"time"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/pattern"
)

const logName = "log.jsonl"

// A Store is the folder of all sessions, <state>/projects. It may not exist.
type Store struct {
	Dir  string
	Now  func() time.Time
	Rand io.Reader  // for IDs
	Self lease.Self // the zero value is this process
	Key  []byte     // copies are sealed with it; see package seal. nil seals nothing
	// Unread, if it is not nil, is told of lines that Read skipped because they
	// are no events, once it has come to the end of a log, and of sessions that
	// List left out because their logs cannot be read.
	Unread func(note string)
}

func (s Store) self() lease.Self {
	if s.Self.Now == nil {
		return lease.ThisProcess()
	}
	return s.Self
}

// Key names the folder of a project: a readable part of its root's path and 8
// hex digits of the path's SHA-256.
func Key(root string) string {
	sum := sha256.Sum256([]byte(root))
	slug := strings.Trim(notPlain().ReplaceAllString(strings.ToLower(filepath.Base(root)), "-"), "-")
	if len(slug) > 40 {
		slug = strings.Trim(slug[:40], "-")
	}
	return cmp.Or(slug, "root") + "-" + hex.EncodeToString(sum[:4])
}

// Notes is the folder of a project for the model's own notes; it may not exist.
func (s Store) Notes(project string) string { return filepath.Join(s.Dir, project, "memory") }

var (
	notPlain = pattern.Lazy(`[^a-z0-9._]+`)
	uuid     = pattern.Lazy(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// NewID makes a UUID of version 7 (RFC 9562, 5.7), so that IDs sort by time.
func (s Store) NewID() (string, error) {
	var u [16]byte
	if _, err := io.ReadFull(s.Rand, u[6:]); err != nil {
		return "", fmt.Errorf("make a session id: %w", err)
	}
	ms := uint64(s.Now().UnixMilli())
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
}

// ValidID reports whether id is a UUID in its usual form, as --session-id wants.
func ValidID(id string) bool { return uuid().MatchString(id) }

// folder is where a session is or would be.
func (s Store) folder(key, id string) string { return filepath.Join(s.Dir, key, id) }

// List implements store.Catalogue.
func (s Store) List(ctx context.Context, key string) ([]store.Info, error) {
	root, err := os.OpenRoot(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer root.Close()
	keys := []string{key}
	if key == "" {
		if keys, err = folders(root, "."); err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
	}
	var out []store.Info
	now := s.self().Now()
	for _, k := range keys {
		ids, err := folders(root, k)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		g, first, news := loadGathered(root, k), len(out), 0
		for _, id := range ids {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if !ValidID(id) {
				continue
			}
			if info, ok := g.known(s.folder(k, id), id, now); ok {
				out = append(out, info)
				continue
			}
			switch info, err := s.info(root, k, id); {
			case err == nil:
				out = append(out, info)
				if !info.Running {
					news++
				}
			case s.Unread != nil && !errors.Is(err, fs.ErrNotExist): // a folder without a log is no session
				s.Unread(fmt.Sprintf("session %s is left out: %v", id, err)) // a broken one must not hide the others
			}
		}
		if g.stale(news, ids) {
			saveGathered(root, k, out[first:])
		}
	}
	order.By(out, func(a, b store.Info) int {
		return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(b.ID, a.ID))
	})
	return out, nil
}

func folders(root *os.Root, name string) ([]string, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	es, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range es {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, nil
}

// Find implements store.Catalogue. A whole ID is looked up without a list.
func (s Store) Find(ctx context.Context, project, query string) (store.Info, error) {
	if id := strings.ToLower(strings.TrimSpace(query)); ValidID(id) {
		if i, err := s.byID(id); !errors.Is(err, store.ErrNone) && !errors.Is(err, fs.ErrNotExist) {
			return i, err
		}
	}
	if strings.TrimSpace(query) == "" {
		all, err := s.List(ctx, project)
		if err != nil {
			return store.Info{}, err
		}
		return store.Match(all, project, "")
	}
	all, err := s.List(ctx, "")
	if err != nil {
		return store.Info{}, err
	}
	return store.Match(all, project, query)
}

// byID looks for a session in the folder of every project.
func (s Store) byID(id string) (store.Info, error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return store.Info{}, err
	}
	defer root.Close()
	keys, err := folders(root, ".")
	if err != nil {
		return store.Info{}, err
	}
	for _, k := range keys {
		i, err := s.info(root, k, id)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return i, err
		}
	}
	return store.Info{}, store.ErrNone
}

// At returns the session of a project with this ID, without looking for it in
// others. The error is store.ErrNone.
func (s Store) At(project, id string) (store.Info, error) {
	if !ValidID(id) || project != filepath.Base(project) {
		return store.Info{}, store.ErrNone
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return store.Info{}, err
	}
	defer root.Close()
	i, err := s.info(root, project, id)
	if errors.Is(err, fs.ErrNotExist) {
		err = store.ErrNone
	}
	return i, err
}

// Has reports whether there is a folder of a session with this ID.
func (s Store) Has(id string) bool {
	if !ValidID(id) {
		return false
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return false
	}
	defer root.Close()
	keys, _ := folders(root, ".")
	return slices.ContainsFunc(keys, func(key string) bool {
		_, err := root.Lstat(filepath.Join(key, id))
		return err == nil
	})
}

// Remove implements store.Catalogue.
func (s Store) Remove(ctx context.Context, i store.Info) error {
	err := ctx.Err()
	if err == nil {
		err = s.remove(i)
	}
	if err != nil {
		return fmt.Errorf("remove session %s: %w", i.ID, err)
	}
	return nil
}

func (s Store) remove(i store.Info) error {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := disk.Open(s.folder(i.Key, i.ID))
	if err != nil {
		return err
	}
	held, err := lease.Take(dir, s.self()) // nobody may open it meanwhile
	if other, ok := errors.AsType[*lease.Held](err); ok {
		return errors.Join(fmt.Errorf("%w in process %d on %s", store.ErrRunning, other.PID, other.Host), dir.Close())
	}
	release := func() error { return held.Release() }
	if full(err) && !lease.There(dir) {
		err, release = nil, func() error { return nil } // there is no room to take it for anybody, and this makes room
	}
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	// The log goes first: a folder without one is no session.
	err = root.Remove(filepath.Join(i.Key, i.ID, logName))
	_ = root.Remove(filepath.Join(i.Key, gatheredName)) // which has its first prompt
	err = errors.Join(err, release(), dir.Close())
	if err != nil {
		return err
	}
	_ = fulltext.In(filepath.Dir(s.Dir), nil).Mark(i.ID) // its words go with the next search
	return root.RemoveAll(filepath.Join(i.Key, i.ID))
}

// full reports whether a disk or a quota has no room left.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// Cleanup removes sessions that were not used for so many days, but never a
// running one, and returns how many it removed. days of 0 or less keep all.
func (s Store) Cleanup(ctx context.Context, days int) (int, error) {
	if days <= 0 {
		return 0, nil
	}
	all, err := s.List(ctx, "")
	if err != nil {
		return 0, err
	}
	n, limit := 0, s.Now().AddDate(0, 0, -days)
	var errs []error
	for _, i := range all {
		if i.Running || !i.Changed.Before(limit) {
			continue
		}
		switch err := s.Remove(ctx, i); {
		case err == nil:
			n++
		case !errors.Is(err, store.ErrRunning):
			errs = append(errs, err)
		}
	}
	return n, errors.Join(errs...)
}
