// Package grants keeps the rules that a person granted for one session, so
// that they hold when it is resumed: outside of the session's folder, marked
// with adze's own key, and bound to the folder the session worked in. It never
// reads a session's log, and what it cannot vouch for is no grant.
package grants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/store/seal"
)

// Bounds of what is kept for one session.
const (
	maxRules = 1000
	maxFile  = 1 << 20
)

// ErrForeign is returned for grants that adze did not write, or not here.
var ErrForeign = errors.New("adze did not write these grants")

// A Store keeps grants in files named after sessions.
type Store struct {
	Dir string // <state>/grants: absolute; made when first needed
	Key []byte // see package seal
}

// file is what is kept. Mac is over the rest, as JSON without it.
type file struct {
	Version int      `json:"version"`
	Session string   `json:"session"`
	Dir     string   `json:"dir"` // where it was granted: resolved
	Rules   []string `json:"rules"`
	Mac     string   `json:"mac,omitempty"`
}

const version = 1

func (s Store) path(session string) string { return filepath.Join(s.Dir, session+".json") }

// Get returns what was granted to a session in a folder: nothing in another
// folder, and nothing with ErrForeign when the file is not as adze wrote it.
func (s Store) Get(session, dir string) ([]string, error) {
	if !validID(session) {
		return nil, nil
	}
	text, err := confedit.Disk{}.Read(s.path(session), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the grants of the session: %w", err)
	}
	f, err := s.parse(text, session)
	if err != nil || f.Dir != dir {
		return nil, err
	}
	return f.Rules, nil
}

// Add grants rules to a session in a folder. Grants for another folder are
// forgotten.
func (s Store) Add(ctx context.Context, session, dir string, rules []string) error {
	if !validID(session) {
		return fmt.Errorf("keep the grants: %q is no session", session)
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("keep the grants: %w", err)
	}
	return s.rewrite(ctx, session, dir, func(now []string) []string {
		for _, r := range rules {
			if !slices.Contains(now, r) {
				now = append(now, r)
			}
		}
		return now
	})
}

// rewrite changes the rules of a session in a folder.
func (s Store) rewrite(ctx context.Context, session, dir string, change func([]string) []string) error {
	t := confedit.Target{Path: s.path(session), Root: s.Dir, Mode: 0o600}
	return confedit.Editor{}.Rewrite(ctx, t, func(text []byte) ([]byte, error) {
		f, err := s.parse(text, session)
		if len(text) == 0 || err != nil || f.Dir != dir {
			f = file{Version: version, Session: session, Dir: dir}
		}
		f.Rules = change(f.Rules)
		if len(f.Rules) > maxRules {
			return nil, fmt.Errorf("it has more than %d rules", maxRules)
		}
		if f.Mac, err = s.mac(f); err != nil {
			return nil, err
		}
		out, err := json.MarshalIndent(f, "", "  ")
		return append(out, '\n'), err
	})
}

// Remove takes rules back that were granted to a session in a folder.
func (s Store) Remove(ctx context.Context, session, dir string, rules []string) error {
	now, err := s.Get(session, dir)
	if err != nil || !slices.ContainsFunc(now, func(r string) bool { return slices.Contains(rules, r) }) {
		return err
	}
	return s.rewrite(ctx, session, dir, func(now []string) []string {
		return slices.DeleteFunc(now, func(r string) bool { return slices.Contains(rules, r) })
	})
}

// Forget forgets what was granted to a session.
func (s Store) Forget(session string) {
	if validID(session) {
		_ = os.Remove(s.path(session)) // mostly there is nothing; what stays is swept
	}
}

// Sweep forgets the grants of sessions that are gone.
func (s Store) Sweep(kept func(session string) bool) {
	names, _ := confedit.Disk{}.Names(s.Dir) // the next sweep tries again
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, ".json"); ok && !kept(id) {
			_ = os.Remove(filepath.Join(s.Dir, name)) // and again
		}
	}
}

func (s Store) parse(text []byte, session string) (file, error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return file{}, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	want, err := s.mac(f)
	if err != nil || f.Version != version || f.Session != session || len(f.Rules) > maxRules || !seal.Equal(f.Mac, want) {
		return file{}, ErrForeign
	}
	return f, nil
}

func (s Store) mac(f file) (string, error) {
	if len(s.Key) == 0 {
		return "", errors.New("there is no key to mark grants with")
	}
	f.Mac = ""
	text, err := json.Marshal(f)
	return seal.Sum(s.Key, "grants", text), err
}

// validID: a session's ID, and no way to another file.
func validID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
