package auth_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/adze-agent/adze/internal/auth"
)

const planted = "planted-0123456789-key"

// ring is a keyring in memory.
type ring struct {
	mu    sync.Mutex
	keys  map[string]string
	fails error
	hangs chan struct{} // nil: answers at once
	lies  bool
	calls int
}

func (r *ring) do(f func() error) error {
	if r.hangs != nil {
		<-r.hangs
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if r.fails != nil {
		return r.fails
	}
	return f()
}

func (r *ring) Set(service, user, password string) error {
	return r.do(func() error { r.keys[service+"/"+user] = password; return nil })
}

func (r *ring) Get(service, user string) (key string, err error) {
	err = r.do(func() error {
		k, ok := r.keys[service+"/"+user]
		if !ok {
			return keyring.ErrNotFound
		}
		if key = k; r.lies {
			key = "other"
		}
		return nil
	})
	return key, err
}

func (r *ring) Delete(service, user string) error {
	return r.do(func() error {
		if _, ok := r.keys[service+"/"+user]; !ok {
			return keyring.ErrNotFound
		}
		delete(r.keys, service+"/"+user)
		return nil
	})
}

func newRing() *ring { return &ring{keys: map[string]string{}} }

func TestFile(t *testing.T) {
	ctx := t.Context()
	s := auth.Store{Dir: filepath.Join(t.TempDir(), "new", "home")}
	path := filepath.Join(s.Dir, auth.FileName)
	if _, err := s.Get(ctx, "openai"); !errors.Is(err, auth.ErrNone) {
		t.Errorf("%v", err)
	}
	if err := s.Delete(ctx, "openai"); !errors.Is(err, auth.ErrNone) {
		t.Errorf("%v", err)
	}
	for _, p := range []string{"openai", "anthropic", "my corp/x"} {
		at, why, err := s.Save(ctx, p, planted+p[:1])
		if err != nil || why != nil || string(at) != path {
			t.Fatalf("%v %v %v", at, why, err)
		}
	}
	if got, err := s.List(); err != nil || len(got) != 3 || got[0] != (auth.Saved{Provider: "anthropic", Place: auth.Place(path)}) {
		t.Errorf("%v", got)
	}
	if key, err := s.Get(ctx, "openai"); key != planted+"o" || err != nil {
		t.Errorf("%q %v", key, err)
	}
	if runtime.GOOS != "windows" {
		for p, want := range map[string]os.FileMode{path: 0o600, s.Dir: 0o700} {
			if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v", p, info.Mode())
			}
		}
	}
	if err := s.Delete(ctx, "openai"); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(ctx, "openai"); !errors.Is(err, auth.ErrNone) {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(s.Dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestKeyring(t *testing.T) {
	ctx := t.Context()
	r := newRing()
	s := auth.Store{Dir: t.TempDir(), Keyring: r}
	at, why, err := s.Save(ctx, "openai", planted)
	if at != auth.InKeyring || why != nil || err != nil {
		t.Fatalf("%v %v %v", at, why, err)
	}
	if text, err := os.ReadFile(filepath.Join(s.Dir, auth.FileName)); err != nil || strings.Contains(string(text), planted) {
		t.Errorf("the file holds the key: %s", text)
	}
	if key, err := s.Get(ctx, "openai"); key != planted || err != nil {
		t.Errorf("%q %v", key, err)
	}
	other := auth.Store{Dir: t.TempDir(), Keyring: r}
	if _, err := other.Get(ctx, "openai"); !errors.Is(err, auth.ErrNone) {
		t.Errorf("another home sees the key: %v", err)
	}
	gone := s
	gone.Keyring = nil
	if _, err := gone.Get(ctx, "openai"); err == nil || errors.Is(err, auth.ErrNone) || hint(err) == "" {
		t.Errorf("%v", err)
	}
	if err := gone.Delete(ctx, "openai"); err == nil {
		t.Error("deleted without the keyring")
	}
	if err := s.Delete(ctx, "openai"); err != nil || len(r.keys) != 0 {
		t.Errorf("%v %v", err, r.keys)
	}

	if _, _, err := s.Save(ctx, "x", planted); err != nil {
		t.Fatal(err)
	}
	clear(r.keys)
	if err := s.Delete(ctx, "x"); err != nil {
		t.Errorf("a key that the keyring lost already: %v", err)
	}
}

func hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

func TestBadKeyringFallsBackToTheFile(t *testing.T) {
	for name, r := range map[string]*ring{"fails": {fails: errors.New("locked")}, "lies": {keys: map[string]string{}, lies: true}} {
		s := auth.Store{Dir: t.TempDir(), Keyring: r}
		at, why, err := s.Save(t.Context(), "openai", planted)
		if at == auth.InKeyring || why == nil || err != nil {
			t.Errorf("%s: %v %v %v", name, at, why, err)
		}
		if key, err := s.Get(t.Context(), "openai"); key != planted || err != nil {
			t.Errorf("%s: %q %v", name, key, err)
		}
	}
}

func TestKeyringThatHangs(t *testing.T) {
	dir := t.TempDir()
	ok := newRing()
	for _, p := range []string{"a", "b"} {
		if _, _, err := (auth.Store{Dir: dir, Keyring: ok}).Save(t.Context(), p, planted); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := (auth.Store{Dir: dir}).Save(t.Context(), "c", planted); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := &ring{keys: ok.keys, hangs: make(chan struct{})}
		s := auth.Store{Dir: dir, Keyring: r}
		start := time.Now()
		var notes []error
		look := s.Lookup(t.Context(), func(err error) { notes = append(notes, err) })
		if a, b, again, c := look("a"), look("b"), look("a"), look("c"); a+b+again != "" || c != planted {
			t.Errorf("%q %q %q %q", a, b, again, c)
		}
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("it took %v", d)
		}
		if len(notes) != 2 || !strings.Contains(notes[0].Error(), "no answer within 2s") {
			t.Errorf("%v", notes)
		}
		close(r.hangs)
		synctest.Wait()
	})
}

func TestLookup(t *testing.T) {
	r := newRing()
	s := auth.Store{Dir: t.TempDir(), Keyring: r}
	if _, _, err := s.Save(t.Context(), "openai", planted); err != nil {
		t.Fatal(err)
	}
	before := r.calls
	look := s.Lookup(t.Context(), func(err error) { t.Error(err) })
	for range 3 {
		if look("openai") != planted || look("anthropic") != "" {
			t.Error("wrong key")
		}
	}
	if r.calls != before+1 {
		t.Errorf("the keyring was asked %d times", r.calls-before)
	}
}

func TestFaults(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are of unix")
	}
	good := fmt.Sprintf(`{"version":1,"providers":{"openai":{"key":%q}}}`, planted)
	for name, c := range map[string]struct {
		setup      func(path string) error
		want, hint string
	}{
		"readable by others": {func(p string) error { return errors.Join(os.WriteFile(p, []byte(good), 0o600), os.Chmod(p, 0o644)) }, "may be used by others (its mode is 0644)", "chmod 600"},
		"folder of all": {func(p string) error {
			return errors.Join(os.WriteFile(p, []byte(good), 0o600), os.Chmod(filepath.Dir(p), 0o777))
		}, "mode is 0777", "chmod 700"},
		"not JSON": {func(p string) error {
			return os.WriteFile(p, []byte(`{"version":1,"providers":{"openai":{"key":"`+planted), 0o600)
		}, "is not valid JSON", "repair it"},
		"wrong kind": {func(p string) error { return os.WriteFile(p, []byte(`["`+planted+`"]`), 0o600) }, "is not valid JSON", "repair it"},
		"newer":      {func(p string) error { return os.WriteFile(p, []byte(`{"version":9}`), 0o600) }, "newer version", "update"},
		"a folder":   {func(p string) error { return os.Mkdir(p, 0o700) }, "not a regular file", "move it"},
		"a link": {func(p string) error {
			return errors.Join(os.WriteFile(p+".real", []byte(good), 0o600), os.Symlink(p+".real", p))
		}, "is a link", "remove the link"},
		"dangling": {func(p string) error { return os.Symlink("/nowhere", p) }, "is a link", "remove"},
		"large":    {func(p string) error { return os.WriteFile(p, make([]byte, 2<<20), 0o600) }, "larger than", "readable"},
		"key with blanks": {func(p string) error {
			return os.WriteFile(p, []byte(`{"version":1,"providers":{"openai":{"key":"a b `+planted+`"}}}`), 0o600)
		}, "cannot be used", "adze login openai"},
	} {
		s := auth.Store{Dir: t.TempDir()}
		path := filepath.Join(s.Dir, auth.FileName)
		if err := c.setup(path); err != nil {
			t.Fatal(err)
		}
		was, _ := os.ReadFile(path)
		_, err := s.Get(t.Context(), "openai")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint(err), c.hint) || strings.Contains(err.Error()+hint(err), planted) {
			t.Errorf("%s: %v (%s)", name, err, hint(err))
		}
		if name == "key with blanks" {
			continue
		}
		if _, _, err := s.Save(t.Context(), "openai", planted+"2"); err == nil {
			t.Errorf("%s: it was written over", name)
		}
		if now, _ := os.ReadFile(path); string(now) != string(was) {
			t.Errorf("%s: it was changed", name)
		}
	}
}

func TestReadOnlyHome(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := auth.Store{Dir: filepath.Join(file, "home")}
	if _, _, err := s.Save(t.Context(), "openai", planted); err == nil || hint(err) == "" || strings.Contains(err.Error(), planted) {
		t.Errorf("%v", err)
	}
}

func TestManySave(t *testing.T) {
	s := auth.Store{Dir: t.TempDir()}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			if _, _, err := s.Save(t.Context(), fmt.Sprint("p", i), planted); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if list, err := s.List(); len(list) != 12 || err != nil {
		t.Errorf("%d %v", len(list), err)
	}
}

func TestCheckAndClean(t *testing.T) {
	for key, ok := range map[string]bool{
		planted: true, "x": true, "": false, "a b": false, "a\nb": false, "a\x1b[31m": false, "key\u200b": false, "ключ": false, "\xff": false,
		strings.Repeat("k", auth.MaxKey): true, strings.Repeat("k", auth.MaxKey+1): false,
	} {
		if err := auth.Check(key); (err == nil) != ok || err != nil && hint(err) == "" {
			t.Errorf("%.20q: %v", key, err)
		}
	}
	if got := auth.Clean(" \t" + planted + "\r\n"); got != planted {
		t.Errorf("%q", got)
	}
}

func TestSystem(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			if i := slices.Index(pairs, name); i >= 0 {
				return pairs[i+1]
			}
			return ""
		}
	}
	for _, c := range []struct {
		goos string
		env  func(string) string
		want bool
	}{
		{"linux", env(), false},
		{"linux", env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"), true},
		{"linux", env("DBUS_SESSION_BUS_ADDRESS", "unixexec:path=/tmp/evil"), false},
		{"linux", env("DBUS_SESSION_BUS_ADDRESS", "autolaunch:"), false},
		{"linux", env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x", "ADZE_KEYRING", "off"), false},
		{"darwin", env(), true},
		{"darwin", env("SSH_CONNECTION", "1"), false},
		{"windows", env(), true},
		{"plan9", env(), false},
	} {
		if got := auth.System(c.goos, c.env); (got != nil) != c.want {
			t.Errorf("%s: %v", c.goos, got)
		}
	}
	if auth.System("linux", env()) != nil {
		t.Error("a typed nil")
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"version":1,"providers":{"openai":{"key":"k"},"x":{"keyring":true}}}`))
	f.Add([]byte(`{"providers":null}`))
	f.Add([]byte(`{"version":1,"providers":{"a":null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := auth.Store{Dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(s.Dir, auth.FileName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := s.List()
		if err != nil {
			return
		}
		for _, x := range list {
			_, _ = s.Get(context.Background(), x.Provider)
		}
		if _, _, err := s.Save(context.Background(), "new", planted); err != nil {
			t.Fatal(err)
		}
		if again, err := s.List(); err != nil || len(again) < max(1, len(list)) {
			t.Fatalf("%v %v after %v", again, err, list)
		}
	})
}
