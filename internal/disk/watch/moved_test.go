package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Folders that are renamed and removed while others are added: the system's
// library reports some of these as errors while it holds the lock that adding
// takes, so that they have to be read at all times.
func TestFoldersAreMovedWhileOthersAreAdded(t *testing.T) {
	dir := t.TempDir()
	n := WatchNames(100_000, func(string) bool { return true })
	defer n.Close()
	n.Add(dir)
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := range 300 {
				a, b := filepath.Join(dir, fmt.Sprint("a", g, ".", i)), filepath.Join(dir, fmt.Sprint("b", g, ".", i))
				if os.Mkdir(a, 0o700) != nil {
					continue
				}
				n.Add(a)
				_ = os.Rename(a, b)
				_ = os.Remove(b)
			}
		})
	}
	wait.Wait()
}
