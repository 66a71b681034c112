package watch

import "github.com/fsnotify/fsnotify"

// losses reads the errors of a watcher, each of which means that more happened
// than was told. lost has a token when there was one since the last was taken; done
// is closed after fs was. The errors are read at all times, by a goroutine that waits
// for nothing: fsnotify sends some while it holds the lock that Add takes.
func losses(fs *fsnotify.Watcher) (lost <-chan struct{}, done <-chan struct{}) {
	l, d := make(chan struct{}, 1), make(chan struct{})
	go func() { // ends when fs is closed
		defer close(d)
		for range fs.Errors {
			select {
			case l <- struct{}{}:
			default: // there is a token already
			}
		}
	}()
	return l, d
}
