package confedit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"time"
)

// Times of the lock. Between two updates nobody holds it longer than a write
// takes; a lease that is older belongs to a process that is gone or stuck.
const (
	lease    = 30 * time.Second
	patience = 60 * time.Second
)

var (
	errLockLost = errors.New("another process took over the lock")
	errLocked   = errors.New("another process holds the lock")
)

// A locker takes lock files: made with O_EXCL, so that they also exclude on
// network file systems, and holding who made them.
type locker struct {
	now   func() time.Time
	alive func(pid int) bool
}

// An owner is what a lock file says.
type owner struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Nonce string    `json:"nonce"`
	Until time.Time `json:"until"`
}

type lock struct {
	dir  *os.Root
	name string
	mine owner
}

// Lock takes the lock of this name in a folder, for work that several
// processes must do one after the other and that takes less than 30 seconds:
// then it counts as abandoned. It waits at most a minute. The returned
// function gives it free.
func Lock(ctx context.Context, dir, name string) (unlock func(), err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	held, err := locker{}.acquire(ctx, root, name+".lock")
	if err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() {
		held.release()
		_ = root.Close()
	}, nil
}

// acquire waits for the lock, at most patience.
func (l locker) acquire(ctx context.Context, dir *os.Root, name string) (*lock, error) {
	if l.now == nil {
		l.now = time.Now
	}
	if l.alive == nil {
		l.alive = alive
	}
	host, _ := os.Hostname() // an unknown host only makes a dead owner's lease run out
	deadline := l.now().Add(patience)
	for wait := time.Millisecond; ; wait = min(wait*2, 16*time.Millisecond) {
		held := &lock{dir, name, owner{os.Getpid(), host, nonce(), l.now().Add(lease)}}
		switch err := held.create(); {
		case err == nil:
			return held, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		}
		who, seen := look(dir, name)
		if seen && l.stale(who, host) {
			breakLock(dir, name, who)
			continue
		}
		if l.now().After(deadline) {
			return nil, fmt.Errorf("%w %s (process %d on %s)", errLocked, name, who.PID, who.Host)
		}
		t := time.NewTimer(wait/2 + mathrand.N(wait))
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		case <-t.C:
		}
	}
}

// stale: the owner died on this machine, or its lease ran out.
func (l locker) stale(o owner, host string) bool {
	if o.Host == host && o.PID > 0 && !l.alive(o.PID) {
		return true
	}
	left := o.Until.Sub(l.now())
	return left < 0 || left > 2*lease // a clock that was set back must not lock for ever
}

func (k *lock) create() error {
	text, err := json.Marshal(k.mine)
	if err != nil {
		return err
	}
	// The lock appears with its content: it is written beside and linked.
	tmp := "." + k.name + "." + k.mine.Nonce
	f, err := k.dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer k.dir.Remove(tmp)
	_, err = f.Write(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err = k.dir.Link(tmp, k.name); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// No hard links here: an exclusive create, with content a moment later.
	f, err = k.dir.OpenFile(k.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// look reads who holds a lock. A lock without readable content counts from
// its file's own time.
func look(dir *os.Root, name string) (owner, bool) {
	f, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return owner{}, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	var o owner
	if err == nil && json.Unmarshal(b, &o) == nil && o.Nonce != "" {
		return o, true
	}
	info, err := f.Stat()
	if err != nil {
		return owner{}, false
	}
	return owner{Until: info.ModTime().Add(lease)}, true
}

// breakLock removes a stale lock. Of several that try, the rename lets one
// win; if what it got is a lock made in the meantime, it is put back.
func breakLock(dir *os.Root, name string, dead owner) {
	aside := "." + name + "." + nonce() + ".stale"
	if dir.Rename(name, aside) != nil {
		return
	}
	if got, ok := look(dir, aside); ok && got.Nonce != dead.Nonce {
		_ = dir.Link(aside, name) // its owner notices if this fails, and starts over
	}
	_ = dir.Remove(aside)
}

// check reports whether the lock is still ours.
func (k *lock) check() error {
	if got, ok := look(k.dir, k.name); !ok || got.Nonce != k.mine.Nonce {
		return errLockLost
	}
	return nil
}

func (k *lock) release() {
	if k.check() == nil {
		_ = k.dir.Remove(k.name) // if it stays it is stale as soon as we end
	}
}

func nonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}
