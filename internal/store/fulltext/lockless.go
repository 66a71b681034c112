package fulltext

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/disk/lock"
	"github.com/adze-agent/adze/internal/store/disk"
)

// SQLite locks its file as the system can. Some network file systems have no
// locks; there it would wait for a lock that nobody holds, and give up. There it
// does without, and one lease keeps processes apart, those that only read too.
const (
	probeName = "locks"      // a file that is there to be locked
	leaseName = "index.lock" // of who uses the index now
)

// lockless reports whether the file system has no locks.
func (f Folder) lockless(writing bool) bool {
	if f.noLocks {
		return true
	}
	if runtime.GOOS == "windows" { // package lock has none there, and SQLite has some
		return false
	}
	how := os.O_RDONLY
	if writing {
		how = os.O_RDWR | os.O_CREATE
	}
	// It is not the database, because to close one of its files would give up all
	// locks that this process has of it.
	file, err := os.OpenFile(filepath.Join(f.Path, probeName), how, 0o600)
	if err != nil {
		return false
	}
	defer file.Close()
	err = lock.Shared(file)
	return err != nil && !errors.Is(err, lock.ErrHeld)
}

// A turn is the right to use an index where nothing can be locked. nil is that of
// an index that SQLite locks itself, or that nobody can write to.
type turn struct {
	dir   disk.Dir
	lease *lease.Lease
	shown time.Time
}

// take waits for its turn as long as a statement waits for a lock. The error is
// ErrBusy then.
func (f Folder) take(ctx context.Context) (*turn, error) {
	dir, err := disk.Open(f.Path)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, patience*time.Millisecond)
	defer cancel()
	l, err := lease.Wait(wait, dir, leaseName, lease.ThisProcess())
	if err == nil {
		return &turn{dir, l, time.Now()}, nil
	}
	_ = dir.Close()
	if _, held := errors.AsType[*lease.Held](err); held || wait.Err() != nil && ctx.Err() == nil {
		return nil, ErrBusy
	}
	return nil, err
}

// keep says that the turn is still used. The error is ErrBusy when somebody else
// took it over meanwhile.
func (t *turn) keep() error {
	if t == nil || time.Since(t.shown) < lease.Work/6 {
		return nil
	}
	if err := t.lease.Refresh(); err != nil {
		return fmt.Errorf("%w (%v)", ErrBusy, err)
	}
	t.shown = time.Now()
	return nil
}

func (t *turn) end() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.lease.Release(), t.dir.Close())
}
