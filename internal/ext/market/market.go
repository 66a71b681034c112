// Package market finds, fetches, installs and removes plugins, and says which
// are active. Marketplaces are lists of plugins; what is installed is pinned in
// plugins.lock.json and lies in a read-only folder for each version. It installs
// nothing that a person was not shown (see Plan), runs nothing of what it
// fetches, and writes no settings.
package market

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/disk/temp"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Names below Config.Dir.
const (
	lockName   = "plugins.lock.json"
	versionDir = "versions"
	marketDir  = "markets"
	dataDir    = "data"
	stageDir   = "staging"
)

const (
	maxLock    = 16 << 20
	maxPlugins = 5000 // of a marketplace
	// keepOld is how long a version that was replaced stays: sessions that run
	// may use it.
	keepOld = 7 * 24 * time.Hour
)

// A Config is what surrounds a Store.
type Config struct {
	Dir     string       // absolute: the folder "plugins" of adze's state
	Environ []string     // of this process; git and npm get what is harmless of it
	Avoid   []string     // folders in which no program is looked for: the repository
	HTTP    *http.Client // nil: http.DefaultClient
	Agent   string       // the User-Agent of downloads
	// Registry is npm's, "" for the one that the person set.
	Registry string
	// Keyring holds secret options; nil: a file of the person's does.
	Keyring auth.Keyring
	Now     func() time.Time // nil: time.Now
}

// A Store is the plugins of one person.
type Store struct{ conf Config }

// Open makes a Store. It reads and makes nothing yet.
func Open(c Config) *Store {
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Store{c}
}

// lockFile is plugins.lock.json.
type lockFile struct {
	Format  int                  `json:"format"`
	Markets map[string]Market    `json:"marketplaces"`
	Plugins map[string]Installed `json:"plugins"` // by "name@marketplace"
	Retired []retired            `json:"retired,omitempty"`
}

// A retired folder is no longer used by new sessions.
type retired struct {
	Folder string    `json:"folder"`
	Since  time.Time `json:"since"`
}

const lockFormat = 1

// A Market is a list of plugins that a person added.
type Market struct {
	Name    string    `json:"name"`
	Source  Source    `json:"source"`
	Pin     string    `json:"pin,omitempty"`
	Folder  string    `json:"folder,omitempty"` // below Config.Dir; "" of one that is read in place
	Updated time.Time `json:"updated"`
}

// An Installed is a plugin that a person installed, pinned.
type Installed struct {
	Name    string          `json:"name"`
	Market  string          `json:"marketplace"`
	Version string          `json:"version,omitempty"`
	Source  Source          `json:"source"`
	Pin     string          `json:"pin,omitempty"` // commit:…, sha256:… or npm's integrity
	Sum     string          `json:"sum"`           // of the files: names, contents, what may be run
	Folder  string          `json:"folder"`        // below versions
	From    Source          `json:"from"`          // the marketplace's own source, for what is forbidden
	Entry   json.RawMessage `json:"entry,omitempty"`
	At      time.Time       `json:"at"`
	Needed  bool            `json:"needed,omitempty"` // it came because another plugin needs it
}

// ID is "name@marketplace".
func (i Installed) ID() string { return i.Name + "@" + i.Market }

func (s *Store) path(parts ...string) string {
	return filepath.Join(append([]string{s.conf.Dir}, parts...)...)
}

// LockFile is the path of plugins.lock.json: with it changes which plugins there are.
func (s *Store) LockFile() string { return s.path(lockName) }

// lock reads plugins.lock.json. There is none before the first plugin.
func (s *Store) lock() (lockFile, error) {
	l := lockFile{Format: lockFormat, Markets: map[string]Market{}, Plugins: map[string]Installed{}}
	b, err := regular.Read(s.path(lockName), maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		err = fastjson.Where(b, fastjson.Unmarshal(b, &l))
	}
	switch {
	case err != nil:
		return l, &fault{fmt.Errorf("%s cannot be read: %w", s.path(lockName), paths.Cause(err)), "move the file away and install your plugins again"}
	case l.Format > lockFormat:
		return l, &fault{fmt.Errorf("%s was written by a newer adze", s.path(lockName)), "use that one"}
	}
	return l, nil
}

// change changes plugins.lock.json, one process at a time.
func (s *Store) change(ctx context.Context, f func(*lockFile) error) error {
	if err := os.MkdirAll(s.conf.Dir, 0o700); err != nil {
		return s.barred(err)
	}
	unlock, err := lease.Lock(ctx, s.conf.Dir, lockName)
	if err != nil {
		return s.barred(err)
	}
	defer unlock()
	l, err := s.lock()
	if err != nil {
		return err
	}
	if err := f(&l); err != nil {
		return err
	}
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(s.conf.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return mended(safe.Replace(root, safe.File{Name: lockName, Text: append(b, '\n'), Mode: 0o600}))
}

// stage makes a folder for a fetch. What a killed process left is removed.
func (s *Store) stage(ctx context.Context) (*temp.Folder, error) {
	if err := os.MkdirAll(s.path(stageDir), 0o700); err != nil {
		return nil, s.barred(err)
	}
	temp.Sweep(ctx, s.path(stageDir))
	f, err := temp.Make(s.path(stageDir))
	return f, s.barred(err)
}

// barred names the folder in which nothing may be written.
func (s *Store) barred(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("write %s: %w", s.conf.Dir, paths.Cause(err))
	}
	return mended(err)
}

// root is the folder of a marketplace's files, "" when it has none.
func (s *Store) root(m Market) string {
	switch {
	case m.Folder != "":
		return s.path(m.Folder)
	case m.Source.Kind == Folder:
		return m.Source.Path
	}
	return ""
}

// Markets are the marketplaces that a person added, by name.
func (s *Store) Markets() ([]Market, error) {
	l, err := s.lock()
	return slices.SortedFunc(maps.Values(l.Markets), func(a, b Market) int { return cmp.Compare(a.Name, b.Name) }), err
}

// Catalogue is what a marketplace offers, as it was when it was last updated.
func (s *Store) Catalogue(m Market) (Catalogue, error) {
	c, err := readCatalogue(s.root(m), m.Source.local())
	if err != nil {
		return c, &fault{fmt.Errorf("the marketplace %s: %w", m.Name, err), m.mend()}
	}
	return c, nil
}

// mend is what helps when the list of a marketplace cannot be read.
func (m Market) mend() string {
	if m.Source.Kind == Folder { // it is read where it is
		return "put it there again, or forget it: adze plugin marketplace remove " + hint.Shell(m.Name)
	}
	return "adze plugin marketplace update " + hint.Shell(m.Name)
}

// Add adds a marketplace. Another one of its name that comes from elsewhere is
// an error.
func (s *Store) Add(ctx context.Context, src Source, pol Policy) (Market, Catalogue, error) {
	if err := pol.Allows(src); err != nil {
		return Market{}, Catalogue{}, err
	}
	return s.load(ctx, src, "", func(m Market, l *lockFile) error {
		if was, ok := l.Markets[m.Name]; ok && was.Source != m.Source {
			return &fault{fmt.Errorf("there is a marketplace %s already, from %s", m.Name, was.Source), "adze plugin marketplace remove " + hint.Shell(m.Name)}
		}
		return nil
	})
}

// Update fetches a marketplace anew. Nothing that is installed changes.
func (s *Store) Update(ctx context.Context, m Market, pol Policy) (Market, Catalogue, error) {
	if err := pol.Allows(m.Source); err != nil {
		return m, Catalogue{}, err
	}
	return s.load(ctx, m.Source, m.Name, func(now Market, l *lockFile) error {
		if now.Name != m.Name {
			return fmt.Errorf("the marketplace %s calls itself %q now", m.Name, now.Name)
		}
		if _, ok := l.Markets[m.Name]; !ok {
			return fmt.Errorf("the marketplace %s was removed meanwhile", m.Name)
		}
		return nil
	})
}

// load fetches a marketplace and keeps it when agree says so.
func (s *Store) load(ctx context.Context, src Source, name string, agree func(Market, *lockFile) error) (m Market, c Catalogue, err error) {
	m = Market{Source: src, Updated: s.conf.Now().UTC().Truncate(time.Second)}
	if src.Kind == Folder { // read where it is
		c, err = readCatalogue(src.Path, true)
		if _, gone := os.Stat(src.Path); err != nil && name == "" && errors.Is(gone, fs.ErrNotExist) {
			return m, c, &hint.Mistake{Why: "there is no folder " + clip.Visible(src.Path), What: "give the path of the marketplace's folder"}
		}
		if err != nil && name != "" {
			m.Name = name
			return m, c, &fault{fmt.Errorf("the marketplace %s: %w", name, err), m.mend()}
		}
		if err != nil {
			return m, c, fmt.Errorf("%s: %w", src, err)
		}
		m.Name = c.Name
		return m, c, s.change(ctx, func(l *lockFile) error { return s.keep(l, m, agree) })
	}
	st, err := s.stage(ctx)
	if err != nil {
		return m, c, err
	}
	defer func() { err = errors.Join(err, mended(st.Remove())) }()
	into := filepath.Join(st.Path, "tree")
	if src.Kind == JSON {
		err = s.index(ctx, src, into)
	} else {
		m.Pin, err = s.fetch(ctx, src, "", true, st.Path, into)
	}
	if err != nil {
		if name != "" {
			err = fmt.Errorf("the marketplace %s: %w", name, err)
		}
		return m, c, err
	}
	if c, err = readCatalogue(into, src.local()); err != nil {
		return m, c, fmt.Errorf("%s: %w", src, err)
	}
	if src.Kind == JSON { // there are no files beside it
		c.Plugins = slices.DeleteFunc(c.Plugins, func(e Entry) bool { return e.Source.Kind == Folder })
	}
	all, err := sumOf(into)
	if err != nil {
		return m, c, mended(err)
	}
	m.Name = c.Name
	m.Folder = filepath.ToSlash(filepath.Join(marketDir, c.Name+"-"+short(all.Sum)))
	return m, c, s.change(ctx, func(l *lockFile) error {
		if err := agree(m, l); err != nil {
			return err
		}
		if err := s.move(into, m.Folder); err != nil {
			return err
		}
		return s.keep(l, m, nil)
	})
}

func (s *Store) keep(l *lockFile, m Market, agree func(Market, *lockFile) error) error {
	if agree != nil {
		if err := agree(m, l); err != nil {
			return err
		}
	}
	if was := l.Markets[m.Name]; was.Folder != "" && was.Folder != m.Folder {
		l.retire(was.Folder, s.conf.Now())
	}
	l.revive(m.Folder)
	l.Markets[m.Name] = m
	s.sweep(l)
	return nil
}

// index fetches a marketplace.json that stands alone.
func (s *Store) index(ctx context.Context, src Source, into string) error {
	if err := src.check(true); err != nil {
		return err
	}
	in, err := s.get(ctx, src.URL)
	if err != nil {
		return err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, maxIndex+1))
	if err != nil {
		return err
	}
	if len(b) > maxIndex {
		return &hostile{"its marketplace.json is larger than " + clip.Size(maxIndex)}
	}
	t, err := newTree(into)
	if err != nil {
		return mended(err)
	}
	return errors.Join(t.file("marketplace.json", false, bytes.NewReader(b)), t.close())
}

// Remove forgets a marketplace. It returns the plugins that came from it, which
// stay as they are.
func (s *Store) Remove(ctx context.Context, name string) (left []string, err error) {
	return left, s.change(ctx, func(l *lockFile) error {
		m, ok := l.Markets[name]
		if !ok {
			return noMarket(name, *l)
		}
		for id, p := range l.Plugins {
			if p.Market == name {
				left = append(left, id)
			}
		}
		slices.Sort(left)
		if m.Folder != "" {
			l.retire(m.Folder, time.Time{}) // nobody reads it while it is not installed from
		}
		delete(l.Markets, name)
		s.sweep(l)
		return nil
	})
}

func noMarket(name string, l lockFile) error {
	names := slices.Sorted(maps.Keys(l.Markets))
	return &hint.Mistake{Why: fmt.Sprintf("there is no marketplace %q%s", clip.Line(clip.Visible(name), 80), near.Hint(name, names)), What: "adze plugin marketplace list"}
}

// move puts a tree that is complete where it belongs, read-only. A tree that
// is there already is the same, as its name has its sum.
func (s *Store) move(from, rel string) error {
	to := s.path(filepath.FromSlash(rel))
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	if err := errors.Join(freeze(from), os.MkdirAll(filepath.Dir(to), 0o700)); err != nil {
		return mended(err)
	}
	if err := os.Rename(from, to); err != nil {
		return mended(err)
	}
	return mended(os.Chmod(to, 0o555))
}

func (l *lockFile) retire(folder string, now time.Time) {
	l.revive(folder)
	l.Retired = append(l.Retired, retired{folder, now.UTC().Truncate(time.Second)})
}

func (l *lockFile) revive(folder string) {
	l.Retired = slices.DeleteFunc(l.Retired, func(r retired) bool { return r.Folder == folder })
}

// sweep removes folders that nobody uses any more. What cannot be removed is
// tried again.
func (s *Store) sweep(l *lockFile) {
	l.Retired = slices.DeleteFunc(l.Retired, func(r retired) bool {
		if s.conf.Now().Sub(r.Since) < keepOld {
			return false
		}
		rel := filepath.FromSlash(r.Folder)
		if !filepath.IsLocal(rel) {
			return true
		}
		_ = os.Remove(s.path(rel) + ".json")
		return safe.RemoveAll(s.path(rel)) == nil
	})
}

// short is the start of a sum, for the name of a folder.
func short(sum string) string {
	_, h, _ := strings.Cut(sum, ":")
	return h[:min(16, len(h))]
}
