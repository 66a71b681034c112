// Package auth keeps the API keys that people save for model providers: in
// the system's keyring where one works, else in a file that only its owner
// can read. It hands a key to nobody but its caller: no error, no list and no
// text of this package holds one, and it runs no program of its own.
package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
)

// FileName is the file below Store.Dir. It holds the names of all providers
// with a saved key, and those keys that no keyring holds.
const FileName = "credentials.json"

// keyringTime bounds each question to a keyring: one that waits for a person
// to unlock it must not stop a start.
const keyringTime = 2 * time.Second

// MaxKey bounds a key, in bytes.
const MaxKey = 16 << 10

// ErrNone is returned when no key is saved for a provider.
var ErrNone = errors.New("no key is saved")

// An Error is a fault of a store with what a person can do about it.
type Error struct {
	What string
	Fix  string
	Err  error // nil when What says it all

	keyring bool // it comes from the keyring
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.What + ": " + e.Err.Error()
	}
	return e.What
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint is the next command.
func (e *Error) Hint() string { return e.Fix }

// A Store keeps keys.
type Store struct {
	Dir     string  // absolute; made with mode 0700 when it is not there
	Keyring Keyring // nil: the file holds the keys
	Limit   time.Duration
}

// A Place is where a key is kept.
type Place string

// InKeyring is the system's keyring. Any other place is a file's path.
const InKeyring Place = "the system keyring"

// A Saved is one provider with a key. The key is not in it.
type Saved struct {
	Provider string `json:"provider"`
	Place    Place  `json:"place"`
}

// contents of the file.
type contents struct {
	Version   int              `json:"version"`
	Providers map[string]entry `json:"providers"`
}

type entry struct {
	Key     string `json:"key,omitempty"`
	Keyring bool   `json:"keyring,omitempty"`
}

const version = 1

func (s Store) path() string { return filepath.Join(s.Dir, FileName) }

// Save keeps a key and says where. When a keyring was asked and did not work,
// why says so.
func (s Store) Save(ctx context.Context, provider, key string) (at Place, why error, err error) {
	if err := Check(key); err != nil {
		return "", nil, err
	}
	if _, err := s.load(); err != nil { // before the keyring has it and the file does not know
		return "", nil, err
	}
	e := entry{Key: key}
	at = Place(s.path())
	if s.Keyring != nil {
		if why = s.toKeyring(ctx, provider, key); why == nil {
			e, at = entry{Keyring: true}, InKeyring
		}
	}
	err = s.change(ctx, func(c *contents) { c.Providers[provider] = e })
	if err != nil && at == InKeyring {
		_ = s.ask(ctx, func() error { return s.Keyring.Delete(s.service(), provider) }) // the save is reported as failed
	}
	if err != nil {
		return "", why, err
	}
	return at, why, nil
}

// toKeyring saves a key and reads it back: some keyrings take what they do
// not keep.
func (s Store) toKeyring(ctx context.Context, provider, key string) error {
	return s.ask(ctx, func() error {
		if err := s.Keyring.Set(s.service(), provider, key); err != nil {
			return err
		}
		back, err := s.Keyring.Get(s.service(), provider)
		if err == nil && back != key {
			err = errors.New("it gave back something else")
		}
		return err
	})
}

// Get returns a saved key, ErrNone when there is none.
func (s Store) Get(ctx context.Context, provider string) (string, error) {
	c, err := s.load()
	if err != nil {
		return "", err
	}
	e, ok := c.Providers[provider]
	switch {
	case !ok:
		return "", fmt.Errorf("%w for %s", ErrNone, provider)
	case !e.Keyring:
		if err := Check(e.Key); err != nil {
			return "", &Error{What: fmt.Sprintf("the key of %s in %s cannot be used", provider, s.path()), Fix: "adze login " + provider, Err: err}
		}
		return e.Key, nil
	case s.Keyring == nil:
		return "", &Error{What: fmt.Sprintf("the key of %s is in the system keyring, which cannot be reached from here", provider),
			Fix: "adze login " + provider + " saves it in a file, or set the provider's variable"}
	}
	var key string
	if err := s.ask(ctx, func() (err error) { key, err = s.Keyring.Get(s.service(), provider); return err }); err != nil {
		return "", &Error{What: "the system keyring did not give the key of " + provider, Fix: "unlock the keyring, or run adze login " + provider, Err: err, keyring: true}
	}
	return key, nil
}

// Delete forgets a key; ErrNone when there is none.
func (s Store) Delete(ctx context.Context, provider string) error {
	c, err := s.load()
	if err != nil {
		return err
	}
	e, ok := c.Providers[provider]
	if !ok {
		return fmt.Errorf("%w for %s", ErrNone, provider)
	}
	if e.Keyring {
		if s.Keyring == nil {
			return &Error{What: fmt.Sprintf("the key of %s is in the system keyring, which cannot be reached from here", provider), Fix: "run this in your desktop session"}
		}
		err := s.ask(ctx, func() error { return s.Keyring.Delete(s.service(), provider) })
		if err != nil && !errors.Is(err, errNotFound) {
			return &Error{What: "the system keyring did not remove the key of " + provider, Fix: "unlock the keyring and try again", Err: err}
		}
	}
	return s.change(ctx, func(c *contents) { delete(c.Providers, provider) })
}

// List names the providers with a saved key, sorted.
func (s Store) List() ([]Saved, error) {
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	out := make([]Saved, 0, len(c.Providers))
	for p, e := range c.Providers {
		at := Place(s.path())
		if e.Keyring {
			at = InKeyring
		}
		out = append(out, Saved{p, at})
	}
	order.By(out, func(a, b Saved) int { return strings.Compare(a.Provider, b.Provider) })
	return out, nil
}

// Lookup returns a function that gives saved keys, "" where there is none,
// for as long as a start lasts: the file is read once, each key is asked for
// once, and after a fault no keyring is asked again. note gets each fault.
// The function may be called from several goroutines.
func (s Store) Lookup(ctx context.Context, note func(error)) func(provider string) string {
	var mu sync.Mutex // guards what follows
	known := map[string]string{}
	var names map[string]bool
	broken := false
	return func(provider string) string {
		mu.Lock()
		defer mu.Unlock()
		if names == nil {
			names = map[string]bool{}
			list, err := s.List()
			if err != nil {
				note(err)
			}
			for _, x := range list {
				names[x.Provider] = true
			}
		}
		if key, ok := known[provider]; ok || !names[provider] {
			return key
		}
		s := s
		if broken {
			s.Keyring = nil
		}
		key, err := s.Get(ctx, provider)
		if err != nil {
			if e := (*Error)(nil); errors.As(err, &e) && e.keyring {
				broken = true
			}
			note(err)
		}
		known[provider] = key
		return key
	}
}

// load reads the file; none is empty.
func (s Store) load() (contents, error) {
	text, err := s.read()
	if err != nil {
		return contents{}, err
	}
	return s.parse(text)
}

func (s Store) parse(text []byte) (contents, error) {
	c := contents{Version: version, Providers: map[string]entry{}}
	if len(text) == 0 {
		return c, nil
	}
	// The parser's errors may quote the text; its place may not.
	if err := json.Unmarshal(text, &c); err != nil {
		at := ""
		if line, column, ok := fastjson.Place(text, err); ok {
			at = fmt.Sprintf(" (line %d, column %d)", line, column)
		}
		return c, &Error{What: fmt.Sprintf("%s is not valid JSON%s; nothing was changed", s.path(), at), Fix: "repair it, or move it away and log in again"}
	}
	if c.Version > version {
		return c, &Error{What: fmt.Sprintf("%s was written by a newer version of adze", s.path()), Fix: "update adze"}
	}
	if c.Providers == nil {
		c.Providers = map[string]entry{}
	}
	return c, nil
}

// read returns the file's bytes, having checked who else could read them.
func (s Store) read() ([]byte, error) {
	dir, err := os.OpenRoot(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.fault("read", err)
	}
	defer dir.Close()
	info, err := dir.Lstat(FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.fault("read", err)
	}
	if err := s.private(dir, info); err != nil {
		return nil, err
	}
	text, err := confedit.Disk{}.Read(s.path(), maxFile)
	if err != nil {
		return nil, s.fault("read", err)
	}
	return text, nil
}

const maxFile = 1 << 20

// private refuses a file that is a link or that others may read.
func (s Store) private(dir *os.Root, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return &Error{What: s.path() + " is a link; keys are not read through links", Fix: "remove the link, then log in again"}
	}
	if !info.Mode().IsRegular() {
		return &Error{What: s.path() + " is not a regular file", Fix: "move it away, then log in again"}
	}
	if why := others(info, 0o077); why != "" {
		return &Error{What: fmt.Sprintf("%s %s; it is not used", s.path(), why), Fix: "chmod 600 " + s.path() + ", and think of replacing the keys"}
	}
	d, err := dir.Stat(".")
	if err != nil {
		return s.fault("read", err)
	}
	if why := others(d, 0o022); why != "" {
		return &Error{What: fmt.Sprintf("the folder %s %s; the keys in it are not used", s.Dir, why), Fix: "chmod 700 " + s.Dir}
	}
	return nil
}

// change rewrites the file: locked, atomically, with mode 0600.
func (s Store) change(ctx context.Context, edit func(*contents)) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return s.fault("write", err)
	}
	if _, err := s.read(); err != nil { // the checks; the text is read again inside the lock
		return err
	}
	err := confedit.Editor{}.Rewrite(ctx, confedit.Target{Path: s.path(), Root: s.Dir, Mode: 0o600}, func(text []byte) ([]byte, error) {
		c, err := s.parse(text)
		if err != nil {
			return nil, err
		}
		edit(&c)
		out, err := json.MarshalIndent(c, "", "  ")
		return append(out, '\n'), err
	})
	if own := (*Error)(nil); err == nil || errors.As(err, &own) {
		return err
	}
	return s.fault("write", err)
}

func (s Store) fault(verb string, err error) error {
	fix := "make " + s.Dir + " readable and writable for you, or set ADZE_HOME to a folder that is"
	return &Error{What: verb + " " + s.path(), Fix: fix, Err: paths.Cause(err)}
}
