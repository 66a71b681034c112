// Package lease gives a file, or a session's folder, one writer. A lease is a
// file that only one process can create (O_EXCL, which holds on network drives
// too). It says which process on which host has it, and with which token. One
// whose process is gone, or that was not touched for long, is taken over.
package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/adze-agent/adze/internal/store/disk"
)

const (
	// Refresh is how often an owner calls Lease.Refresh.
	Refresh = 15 * time.Second
	// Expiry is the age at which a lease of another machine is stale.
	Expiry = 90 * time.Second
	// moment is the age at which a file that takes microseconds to write, or
	// to be removed again, was left behind by a crash. Who is slower than that
	// finds out: create reads what it wrote.
	moment = 500 * time.Millisecond
	// pause is how long Take waits at a time for such a file.
	pause = 20 * time.Millisecond

	// Work is the age at which a lease that Wait took is stale.
	Work = 30 * time.Second
	// patience is how long Wait waits.
	patience = 60 * time.Second
)

// A kind is what a lease is for.
type kind struct {
	name   string        // of its file
	expiry time.Duration // of one that was not touched, of another machine
	brief  bool          // it expires also when its process lives
}

// session is the kind of a lease that is touched for as long as it is held.
func session() kind { return kind{"lock", Expiry, false} }

// guard is held for the moment of a takeover.
func (k kind) guard() string { return k.name + ".take" }

// ErrLost says that another process took the lease over.
var ErrLost = errors.New("another process took it over")

// A Holder is the owner of a lease.
type Holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Start int64     `json:"start,omitempty"` // when the process started, in units of its system; 0 when unknown
	Since time.Time `json:"since"`
	Token string    `json:"token"` // differs for every lease
}

// Held is the error of Take when somebody else has the lease.
type Held struct{ Holder }

func (h *Held) Error() string { return fmt.Sprintf("held by process %d on %s", h.PID, h.Host) }

// A Self says who asks, and how to tell whether a process of this machine
// still runs. Alive is given the Start that was noted in the lease.
type Self struct {
	PID   int
	Host  string
	Start int64
	Now   func() time.Time
	Token func() string
	Alive func(pid int, start int64) bool
	Pause func(time.Duration) // waits; nil: Take never does
}

// A Lease is held until Release.
type Lease struct {
	dir   disk.Dir
	name  string
	token string
}

// Take acquires the lease of dir. The error is a *Held when another process
// has it. It waits only for one that is just taking it over, or was killed on the
// way, at most a second.
func Take(dir disk.Dir, self Self) (*Lease, error) { return take(dir, self, session()) }

// Path is the file of the lease of a session's folder.
func Path(folder string) string { return filepath.Join(folder, session().name) }

// There reports whether somebody has, or left, the lease of a session.
func There(dir disk.Dir) bool {
	_, err := dir.Stat(session().name)
	return err == nil
}

func take(dir disk.Dir, self Self, k kind) (*Lease, error) {
	for tries, waits := 0, 0; tries < 4; tries++ {
		h := Holder{self.PID, self.Host, self.Start, self.Now().UTC(), self.Token()}
		err := create(dir, k.name, h)
		if err == nil {
			return &Lease{dir, k.name, h.Token}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		switch busy, err := takeOver(dir, self, k); {
		case busy && self.Pause != nil && waits < int(2*moment/pause):
			waits++
			tries--
			self.Pause(pause)
		case err != nil:
			return nil, err
		}
	}
	return nil, &Held{}
}

// Wait takes the lease name in dir, for work that several processes must do one
// after the other and that takes less than Work. The error is a *Held when
// somebody else has it for a minute, and that of ctx when that ends.
func Wait(ctx context.Context, dir disk.Dir, name string, self Self) (*Lease, error) {
	deadline := self.Now().Add(patience)
	self.Pause = nil // it waits here, for whoever has it
	for wait := time.Millisecond; ; wait = min(wait*2, 16*time.Millisecond) {
		l, err := take(dir, self, kind{name, Work, true})
		if _, held := errors.AsType[*Held](err); !held || self.Now().After(deadline) {
			return l, err
		}
		t := time.NewTimer(wait/2 + rand.N(wait))
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		case <-t.C:
		}
	}
}

// Lock is Wait in the folder of that path. The returned function gives the
// lease up.
func Lock(ctx context.Context, path, name string) (unlock func(), err error) {
	dir, err := disk.Open(path)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	l, err := Wait(ctx, dir, name+".lock", ThisProcess())
	if err != nil {
		_ = dir.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() {
		_ = l.Release() // if it stays it is stale as soon as we end
		_ = dir.Close()
	}, nil
}

// create writes a file that must not exist yet.
func create(dir disk.Dir, file string, h Holder) error {
	f, err := dir.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, disk.FileMode)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(h)
	if err == nil {
		_, err = f.WriteAt(append(raw, '\n'), 0)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, dir.Remove(file))
	}
	now, err := read(dir, file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && now.Token != h.Token {
		return fs.ErrExist // it took so long that somebody else took it for a crash
	}
	return nil
}

// takeOver removes a stale lease. The guard file lets only one process do so
// at a time, and its own time stamp is "now" by the clock of the file server. busy
// says that it will be known in a moment whose the lease is.
func takeOver(dir disk.Dir, self Self, k kind) (busy bool, err error) {
	if h, _, held, err := look(dir, self, k, self.Now()); err == nil && held && h.Host == self.Host {
		return false, &Held{h} // no clock of another machine can change that
	}
	guard := k.guard()
	err = create(dir, guard, Holder{PID: self.PID, Host: self.Host, Start: self.Start, Token: self.Token()})
	if errors.Is(err, fs.ErrExist) {
		info, serr := dir.Stat(guard)
		by, rerr := read(dir, guard)
		gone := rerr == nil && by.Host == self.Host && !self.Alive(by.PID, by.Start)
		if serr == nil && !gone && self.Now().Sub(info.ModTime()) < moment {
			h, _ := read(dir, k.name)
			return true, &Held{h}
		}
		if serr == nil {
			_ = dir.Remove(guard) // of a process that died in the middle
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = dir.Remove(guard) }()
	info, err := dir.Stat(guard)
	if err != nil {
		return false, err
	}
	h, there, held, err := look(dir, self, k, info.ModTime())
	switch {
	case err != nil:
		return false, err
	case held:
		return h == Holder{}, &Held{h}
	case !there: // who takes it now must not lose it again
		return false, nil
	}
	if err := dir.Remove(k.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return false, nil
}

// Look reports who holds dir's lease, if anyone who still runs does. It
// changes nothing.
func Look(dir disk.Dir, self Self) (Holder, bool, error) {
	h, _, held, err := look(dir, self, session(), self.Now())
	return h, held, err
}

func look(dir disk.Dir, self Self, k kind, now time.Time) (h Holder, there, held bool, err error) {
	info, err := dir.Stat(k.name)
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, false, nil
	}
	if err != nil {
		return h, false, false, err
	}
	h, err = read(dir, k.name)
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, false, nil
	}
	age := now.Sub(info.ModTime())
	if err != nil { // half written: its owner is at it, or was killed
		return h, true, age < moment, nil
	}
	expired := age >= k.expiry || k.brief && age <= -k.expiry // a clock that was set back must not lock for ever
	if h.Host == self.Host {
		return h, true, self.Alive(h.PID, h.Start) && !(k.brief && expired), nil
	}
	return h, true, !expired, nil
}

func read(dir disk.Dir, name string) (Holder, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return Holder{}, err
	}
	defer f.Close()
	buf := make([]byte, 4096)
	n, _ := f.ReadAt(buf, 0)
	var h Holder
	if err := json.Unmarshal(buf[:n], &h); err != nil {
		return Holder{}, fmt.Errorf("read lease: %w", err)
	}
	return h, nil
}

// Refresh shows that the owner is alive. It returns ErrLost when the lease is
// somebody else's by now.
func (l *Lease) Refresh() error {
	f, err := l.dir.OpenFile(l.name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrLost
	}
	if err != nil {
		return err
	}
	one := make([]byte, 1) // writing what is there already sets the time by the server's clock
	if _, err = f.ReadAt(one, 0); err == nil {
		_, err = f.WriteAt(one, 0)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	// Whose it is is asked after the touch: a touch of another's lease does no
	// harm, but to believe that it is ours would.
	return l.Check()
}

// Check is ErrLost when the lease is somebody else's by now.
func (l *Lease) Check() error {
	h, err := read(l.dir, l.name)
	if err == nil && h.Token != l.token || errors.Is(err, fs.ErrNotExist) {
		return ErrLost
	}
	return err
}

// Release gives the lease up. Somebody else's is left alone.
func (l *Lease) Release() error {
	h, err := read(l.dir, l.name)
	if err != nil || h.Token != l.token {
		return nil
	}
	return l.dir.Remove(l.name)
}
