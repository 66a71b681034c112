package market_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ext/market"
)

// A marketplace with more plugins than anybody can have meant: the first ones can be
// had, and one line says what is left out. So it is with entries that lead out of it.
func TestManyEntries(t *testing.T) {
	var entries []string
	for i := range 10_000 {
		entries = append(entries, fmt.Sprintf(`{"name": "p%d", "source": "./plugins/p"}`, i))
	}
	entries[1] = `{"name": "out", "source": "../../etc"}`
	dir := write(t, t.TempDir(), files{
		".claude-plugin/marketplace.json": `{"name": "shop", "owner": {"name": "o"}, "plugins": [` + strings.Join(entries, ",") + `]}`,
		"plugins/p/skills/x/SKILL.md":     "x",
	})
	s, _ := open(t)
	_, c, err := s.Add(t.Context(), market.Source{Kind: market.Folder, Path: dir}, market.Policy{})
	if err != nil || len(c.Plugins) != 4999 || len(c.Problems) != 2 {
		t.Fatal(err, len(c.Plugins), c.Problems)
	}
	if text := fmt.Sprint(c.Problems); !strings.Contains(text, "more than 5000 plugins; the rest is left out") || !strings.Contains(text, "out") {
		t.Error(text)
	}
	install(t, s, "p0")
}

// A locked is a keyring that opens for nobody while it is locked.
type locked struct {
	mu   sync.Mutex
	shut bool
	keys map[string]string
}

func (l *locked) Set(_, user, password string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut {
		return errors.New("the keyring is locked")
	}
	l.keys[user] = password
	return nil
}

func (l *locked) Get(_, user string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut {
		return "", errors.New("the keyring is locked")
	}
	return l.keys[user], nil
}

func (l *locked) Delete(_, user string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.keys, user)
	return nil
}

// While the keyring is locked a plugin is active all the same, and what it lacks is
// told with the command that mends it.
func TestKeyringLocked(t *testing.T) {
	_, dir := open(t)
	ring := &locked{keys: map[string]string{}}
	s := market.Open(market.Config{Dir: dir, Environ: environ(t), Keyring: ring})
	add(t, s, place(t, t.TempDir(), "shop", map[string]files{"o": {".claude-plugin/plugin.json": `{"name": "o", "userConfig": {"key": {"sensitive": true}}}`}}))
	install(t, s, "o")
	if _, why, err := s.SaveSecret(t.Context(), "o@shop", "key", "s3cret-value"); err != nil || why != nil {
		t.Fatal(why, err)
	}
	ring.shut = true
	active, problems := s.Active(enabled(t, "o@shop"))
	if len(active) != 1 || len(problems) > 0 {
		t.Fatal(active, problems)
	}
	_, err := s.Secrets(t.Context(), active[0])
	if err == nil || !strings.Contains(err.Error(), "o@shop: the option key") || !strings.Contains(err.Error(), "locked") || strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
	}
	ring.shut = false
	if got, err := s.Secrets(t.Context(), active[0]); err != nil || got["key"] != "s3cret-value" {
		t.Error(got, err)
	}
}

// A clock that goes back, or far ahead, costs at most an old version its week: what is
// installed stays, and installing works.
func TestClockWrong(t *testing.T) {
	_, dir := open(t)
	now := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	s := market.Open(market.Config{Dir: dir, Environ: environ(t), Now: func() time.Time { return now }})
	src := place(t, t.TempDir(), "shop", map[string]files{"fmt": plain("fmt", "1.0.0")})
	add(t, s, src)
	for i, at := range []time.Time{now, time.Unix(0, 0), now.AddDate(100, 0, 0), time.Unix(0, 0)} {
		now = at
		write(t, src, files{"plugins/fmt/x.txt": fmt.Sprint(i)})
		install(t, s, "fmt")
		active, problems := s.Active(enabled(t, "fmt@shop"))
		if len(active) != 1 || len(problems) > 0 {
			t.Fatal(at, active, problems)
		}
		if b, err := os.ReadFile(filepath.Join(active[0].Root, "x.txt")); err != nil || string(b) != fmt.Sprint(i) {
			t.Errorf("at %s: %q, %v", at, b, err)
		}
		if in, err := s.Find("fmt"); err != nil || s.Verify(in) != nil {
			t.Error(at, in, err)
		}
	}
}
