//go:build !linux

package watch

import (
	"errors"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The same, step by step: the system's library has the lock that adding a folder
// takes, the watch waits for that with a folder that came, and the library gets rid of its
// errors all the same.
func TestErrorsAreReadWhileAFolderIsAdded(t *testing.T) {
	dir := t.TempDir()
	fs := &fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)}
	n := &Names{fs: fs, matters: func(string) bool { return false }, came: make(chan struct{}, 1), done: make(chan struct{}), armed: map[string]bool{dir: true}, most: 1}
	go n.run() // ends with the channels
	n.mu.Lock()
	fs.Events <- fsnotify.Event{Name: dir, Op: fsnotify.Create}
	for i := range 3 {
		select {
		case fs.Errors <- errors.New("the folder is gone"):
		case <-time.After(time.Minute):
			t.Fatalf("error %d is not read while a folder is added", i+1)
		}
	}
	n.mu.Unlock()
	select {
	case <-n.Came():
	case <-time.After(time.Minute):
		t.Fatal("that something may be lost is not told")
	}
	close(fs.Errors)
	close(fs.Events)
	<-n.done
}
