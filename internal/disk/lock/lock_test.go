//go:build unix

package lock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/adze-agent/adze/internal/disk/lock"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a, b, c := open(t, path), open(t, path), open(t, path)
	if err := lock.Exclusive(a, false); err != nil {
		t.Fatal(err)
	}
	if e, s := lock.Exclusive(b, false), lock.Shared(b); !errors.Is(e, lock.ErrHeld) || !errors.Is(s, lock.ErrHeld) {
		t.Errorf("%v, %v", e, s)
	}
	waited := make(chan error)
	go func() { waited <- lock.Exclusive(b, true) }() // ends when a is closed
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
	if err := lock.Shared(b); err != nil {
		t.Errorf("one's own lock: %v", err)
	}
	if err := lock.Shared(c); err != nil {
		t.Errorf("beside one that shares it: %v", err)
	}
	if err := lock.Exclusive(c, false); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("another one shares it: %v", err)
	}
}
