// Package sessions finds, lists, copies and removes the sessions on a disk:
// <state>/projects/<key>/<session id>/log.jsonl. It never writes into a log
// that somebody else may be writing, and never leaves its folder.
package sessions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/store/lease"
	"github.com/adze-agent/adze/internal/text/hint"
)

const logName = "log.jsonl"

// A Store is the folder of all sessions, <state>/projects. It may not exist.
type Store struct {
	Dir  string
	Now  func() time.Time
	Rand io.Reader  // for IDs
	Self lease.Self // the zero value is this process
	Key  []byte     // copies are sealed with it; see package seal. nil seals nothing
}

func (s Store) self() lease.Self {
	if s.Self.Now == nil {
		return lease.ThisProcess()
	}
	return s.Self
}

// Errors of Find and Remove.
var (
	ErrNone    = errors.New("there is no such session")
	ErrRunning = errors.New("the session is running")
)

// An AmbiguousError says that several sessions fit, newest first.
type AmbiguousError struct {
	Query   string
	Matches []Info
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d sessions fit %q:", len(e.Matches), e.Query)
	for i, m := range e.Matches {
		if i == 5 {
			fmt.Fprintf(&b, "\n  … and %d more", len(e.Matches)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", m.ID, m.Name())
	}
	return b.String()
}

// Hint is what a person can do.
func (e *AmbiguousError) Hint() string { return "give the ID of one of them" }

// Key names the folder of a project: a readable part of its root's path and 8
// hex digits of the path's SHA-256.
func Key(root string) string {
	sum := sha256.Sum256([]byte(root))
	slug := strings.Trim(notPlain.ReplaceAllString(strings.ToLower(filepath.Base(root)), "-"), "-")
	if len(slug) > 40 {
		slug = strings.Trim(slug[:40], "-")
	}
	return cmp.Or(slug, "root") + "-" + hex.EncodeToString(sum[:4])
}

var (
	notPlain = regexp.MustCompile(`[^a-z0-9._]+`)
	uuid     = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
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
func ValidID(id string) bool { return uuid.MatchString(id) }

// Folder is where a session is or would be.
func (s Store) Folder(key, id string) string { return filepath.Join(s.Dir, key, id) }

// List returns the sessions of a project, or of all when key is "", newest
// first. Sub-agents' sessions are among them; see Info.Parent.
func (s Store) List(key string) ([]Info, error) {
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
	var out []Info
	for _, k := range keys {
		ids, err := folders(root, k)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		for _, id := range ids {
			if !ValidID(id) {
				continue
			}
			if info, err := s.info(root, k, id); err == nil { // a broken one must not hide the others
				out = append(out, info)
			}
		}
	}
	slices.SortFunc(out, func(a, b Info) int {
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

// Newest is the session of a project that was used last.
func (s Store) Newest(key string) (Info, error) {
	all, err := s.List(key)
	if err != nil {
		return Info{}, err
	}
	if len(all) == 0 {
		return Info{}, fmt.Errorf("%w here yet", ErrNone)
	}
	return all[0], nil
}

// Find looks for a session by ID, the beginning of an ID (four characters or
// more), title, or words of its title and prompts, in this order. Sessions of
// the project key come first; the others are looked at when none of it fits.
func (s Store) Find(key, query string) (Info, error) {
	all, err := s.List("")
	if err != nil {
		return Info{}, err
	}
	query = strings.TrimSpace(query)
	if query == "" {
		return s.Newest(key)
	}
	lower := strings.ToLower(query)
	tests := []func(Info) bool{
		func(i Info) bool { return i.ID == lower },
		func(i Info) bool { return len(lower) >= 4 && strings.HasPrefix(i.ID, lower) },
		func(i Info) bool { return strings.EqualFold(i.Title, query) },
		func(i Info) bool { return hasWords(i, strings.Fields(lower)) },
	}
	for _, here := range []bool{true, false} {
		for _, fits := range tests {
			var found []Info
			for _, i := range all {
				if (i.Key == key) == here && fits(i) {
					found = append(found, i)
				}
			}
			switch len(found) {
			case 0:
			case 1:
				return found[0], nil
			default:
				return Info{}, &AmbiguousError{query, found}
			}
		}
	}
	return Info{}, hint.With(fmt.Errorf("%w: %q", ErrNone, query), `"adze sessions list" lists them`)
}

func hasWords(i Info, words []string) bool {
	text := strings.ToLower(i.Title + "\n" + i.First + "\n" + i.Last)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// Remove deletes a session for good. It refuses while a process writes it.
func (s Store) Remove(i Info) error {
	if err := s.remove(i); err != nil {
		return fmt.Errorf("remove session %s: %w", i.ID, err)
	}
	return nil
}

func (s Store) remove(i Info) error {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := disk.Open(s.Folder(i.Key, i.ID))
	if err != nil {
		return err
	}
	held, err := lease.Take(dir, s.self()) // nobody may open it meanwhile
	if other, ok := errors.AsType[*lease.Held](err); ok {
		return errors.Join(fmt.Errorf("%w in process %d on %s", ErrRunning, other.PID, other.Host), dir.Close())
	}
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	// The log goes first: a folder without one is no session.
	err = root.Remove(filepath.Join(i.Key, i.ID, logName))
	err = errors.Join(err, held.Release(), dir.Close())
	if err != nil {
		return err
	}
	return root.RemoveAll(filepath.Join(i.Key, i.ID))
}

// Cleanup removes sessions that were not used for so many days, but never a
// running one, and returns how many it removed. days of 0 or less keep all.
func (s Store) Cleanup(days int) (int, error) {
	if days <= 0 {
		return 0, nil
	}
	all, err := s.List("")
	if err != nil {
		return 0, err
	}
	n, limit := 0, s.Now().AddDate(0, 0, -days)
	var errs []error
	for _, i := range all {
		if i.Running || !i.Changed.Before(limit) {
			continue
		}
		switch err := s.Remove(i); {
		case err == nil:
			n++
		case !errors.Is(err, ErrRunning):
			errs = append(errs, err)
		}
	}
	return n, errors.Join(errs...)
}
