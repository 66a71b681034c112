package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Folders that are renamed and removed while others are added: the system's
// library reports some of these as errors while it holds the lock that adding
// takes, so that they have to be read at all times.
func TestFoldersAreMovedWhileOthersAreAdded(t *testing.T) {
	dir := t.TempDir()
	asked := make(chan struct{}) // for the last name
	n := WatchNames(100_000, func(path string) bool {
		if filepath.Base(path) == "last" {
			close(asked)
		}
		return false
	})
	if !n.works() {
		t.Skip("this system watches nothing")
	}
	n.Add(dir)
	within := func(what string, done <-chan struct{}) {
		t.Helper()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatalf("for a minute it is waited %s", what)
		}
	}
	all := make(chan struct{})
	go func() { // ends when the folders were moved; a watch that hangs fails the test before
		defer close(all)
		var wait sync.WaitGroup
		for g := range 4 {
			wait.Go(func() {
				for i := range 300 {
					a, b := filepath.Join(dir, fmt.Sprint("a", g, ".", i)), filepath.Join(dir, fmt.Sprint("b", g, ".", i))
					if os.Mkdir(a, 0o700) != nil {
						continue
					}
					if g%2 == 0 { // it stays, and is added once more when it is told
						continue
					}
					n.Add(a)
					_ = os.Rename(a, b)
					_ = os.Remove(b)
				}
			})
		}
		wait.Wait()
	}()
	within("for folders to be added", all)
	kept := filepath.Join(dir, "kept")
	if err := os.Mkdir(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	n.Add(kept)
	if err := os.WriteFile(filepath.Join(kept, "last"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	within("for a name that comes after them", asked)
	closed := make(chan struct{})
	go func() { n.Close(); close(closed) }() // ends with the watch
	within("for the watch to end", closed)
}
