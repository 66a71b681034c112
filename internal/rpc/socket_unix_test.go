//go:build unix

package rpc_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/rpc"
)

// short is a folder whose path leaves room for a socket's name.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "adze")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "run")
}

func listen(t *testing.T, dir string, self lease.Self, c client.Client) *rpc.Listener {
	t.Helper()
	l, err := rpc.Listen(t.Context(), dir, self, rpc.Config{Client: c, Version: "1", Scope: ask.Admin})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func find(t *testing.T, dir string, self lease.Self) []rpc.Card {
	t.Helper()
	cards, err := rpc.Find(dir, self)
	if err != nil {
		t.Fatal(err)
	}
	return cards
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		out = append(out, e.Name())
	}
	return out
}

func TestSocket(t *testing.T) { trySocket(t, short(t)) }

// The path of a socket may be longer than the system takes, where it can be said otherwise.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", 150))
	if runtime.GOOS == "linux" {
		trySocket(t, dir)
	} else if l, err := rpc.Listen(t.Context(), dir, lease.ThisProcess(), rpc.Config{}); !errors.Is(err, rpc.ErrPath) {
		l.Close()
		t.Errorf("%v", err)
	}
}

func trySocket(t *testing.T, dir string) {
	self, f := lease.ThisProcess(), &fake{}
	if cards := find(t, dir, self); len(cards) != 0 {
		t.Errorf("%+v", cards)
	}
	if err := os.Mkdir(dir, 0o777); err != nil { // as a person may have made it
		t.Fatal(err)
	}
	l := listen(t, dir, self, f)
	for name, want := range map[string]fs.FileMode{".": fs.ModeDir | 0o700, "*.sock": fs.ModeSocket | 0o600, "*.json": 0o600} {
		paths, err := filepath.Glob(filepath.Join(dir, name))
		if err != nil || len(paths) != 1 {
			t.Fatalf("%s: %q, %v", name, paths, err)
		}
		if info, err := os.Lstat(paths[0]); err != nil || info.Mode() != want {
			t.Errorf("%s is %v, not %v: %v", name, info.Mode(), want, err)
		}
	}
	cards := find(t, dir, self)
	if len(cards) != 1 || cards[0].PID != os.Getpid() || time.Since(cards[0].Since) > time.Minute {
		t.Fatalf("%+v", cards)
	}
	first, err := cards[0].Dial(t.Context(), rpc.Hello{Name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := cards[0].Dial(t.Context(), rpc.Hello{Name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := first.Welcome, second.Welcome; a.Name == b.Name || a.Scope != ask.Admin {
		t.Errorf("%+v and %+v", a, b)
	}
	if err := first.Submit(t.Context(), "s", op.Interrupt{}); err != nil {
		t.Error(err)
	}
	_ = first.Close()
	wrong := cards[0]
	wrong.Key = strings.ToLower(wrong.Key)
	if _, err := wrong.Dial(t.Context(), rpc.Hello{}); !errors.Is(err, &op.Refusal{Code: op.Denied}) {
		t.Errorf("with another key: %v", err)
	}
	l.Close()
	if _, err := second.Ask(t.Context(), "s", ask.Models{}); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("after the end: %v", err)
	}
	_ = second.Close()
	if _, err := cards[0].Dial(t.Context(), rpc.Hello{}); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("after the end: %v", err)
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// What dead processes left is not found, and goes away; what is of others stays.
func TestStaleSockets(t *testing.T) {
	dir, self := short(t), lease.ThisProcess()
	dead, away := self, self
	dead.PID, dead.Start = 4_000_000, 1
	away.Host = "elsewhere"
	var open []*rpc.Listener
	for _, s := range []lease.Self{dead, away, self} {
		open = append(open, listen(t, dir, s, &fake{}))
	}
	old := filepath.Join(dir, "old.sock")
	for _, name := range []string{old, filepath.Join(dir, "new.sock"), filepath.Join(dir, "broken.json"), filepath.Join(dir, "other")} {
		if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	cards := find(t, dir, self)
	if len(cards) != 1 || cards[0].PID != self.PID || cards[0].Host != self.Host {
		t.Errorf("%+v", cards)
	}
	if left := strings.Join(names(t, dir), " "); strings.Contains(left, "old.sock") || strings.Count(left, ".json") != 3 || strings.Count(left, ".sock") != 3 || !strings.Contains(left, "other") {
		t.Errorf("%s is left", left)
	}
	for _, l := range open {
		l.Close()
	}
}

// A folder that is not the user's own is not used.
func TestNoPlaceForASocket(t *testing.T) {
	dir := short(t)
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if l, err := rpc.Listen(t.Context(), dir, lease.ThisProcess(), rpc.Config{}); err == nil {
		l.Close()
		t.Errorf("it listens in %s", dir)
	}
}

// The card is all that who writes a client needs to know.
func TestCard(t *testing.T) {
	dir := short(t)
	l := listen(t, dir, lease.ThisProcess(), &fake{})
	defer l.Close()
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	raw, err := os.ReadFile(paths[0])
	var c map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if key, _ := c["key"].(string); err != nil || c["v"] != 1.0 || c["pid"] != float64(os.Getpid()) || len(key) < 26 {
		t.Errorf("%s, %v", raw, err)
	}
}
