// Package jsonl keeps a session's log in a file, one event per line, and beside
// it a snapshot of what the log comes to, and its large parts. It owns the
// session's log.jsonl, log.torn, snapshot, lock and blobs, and touches nothing
// else in the folder. It never maps the file into memory, never rewrites what was synced,
// and never waits for a lock.
package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/blob"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/store/seal"
)

// Names of the files in a session's folder.
const (
	LogName  = "log.jsonl"
	TornName = "log.torn"
)

// syncAt bounds what is written but not synced, and kept in memory until it
// is, in bytes.
const syncAt = 8 << 20

// bulkAt is how much of a log that is written in bulk waits in memory, in bytes.
const bulkAt = 1 << 20

// Options say where a log is. Only Dir is needed.
type Options struct {
	Dir string // the session's folder; created with the first event
	// Disk opens the folder; create allows it to be made. The default is the
	// real disk.
	Disk func(dir string, create bool) (disk.Dir, error)
	// Self is the process that asks; the default is this one.
	Self *lease.Self
	// Key marks each line that is written, and what is read is checked for
	// lines that somebody else wrote; see package seal. nil does neither.
	Key []byte
	// Bulk: nothing is on disk for good before Close, and the last events may be
	// lost with the process. It is for copies that can be made again.
	Bulk bool
}

func (o Options) withDefaults() Options {
	if o.Disk == nil {
		o.Disk = func(dir string, create bool) (disk.Dir, error) {
			if create {
				return disk.Create(dir)
			}
			return disk.Open(dir)
		}
	}
	if o.Self == nil {
		self := lease.ThisProcess()
		o.Self = &self
	}
	return o
}

// A Log is the one writer of a session's log.
type Log struct {
	scan  scanner // readers
	blobs *blob.Late

	mu      sync.Mutex // guards everything below
	opt     Options
	dir     disk.Dir // nil before the first event of a new session
	f       disk.File
	lease   *lease.Lease
	lost    bool
	removed bool // the log has no name any more
	done    bool
	torn    int64
	cut     int64 // bytes that were there when the snapshot was sealed, and are gone
	kept    *head // of the snapshot that is there, nil without
	added   int   // lines

	last   event.Seq    // of the log
	seal   *seal.Sealer // nil without a key
	mark   seal.Mark    // of the last line
	synced int64        // everything before it is on disk for good
	tail   []byte       // the lines after it
	wrote  int          // how many bytes of tail are in the file
	unsure bool         // the file may differ from synced and wrote
	recent []kept
	bytes  int       // of the lines of recent
	shown  time.Time // when the lease was last known to be ours

	quit chan struct{} // ends the keeper of the lease
	gone chan struct{} // closed by it when it has ended
}

var _ store.Log = (*Log)(nil)

// Open opens a session's log for writing and repairs its end. A folder that
// does not exist is a new session: nothing is on disk before the first event.
// The error is a *store.LockedError when another process writes the session,
// and a *store.WriteError when the disk cannot be written to.
func Open(opt Options) (*Log, error) {
	opt = opt.withDefaults()
	l := &Log{opt: opt, scan: scanner{opt: opt}, blobs: &blob.Late{Folder: opt.blobs()}}
	if opt.Key != nil {
		l.seal = seal.New(opt.Key)
	}
	dir, err := opt.Disk(opt.Dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, l.failed(err)
	}
	if _, err := dir.Stat(LogName); errors.Is(err, fs.ErrNotExist) {
		return l, dir.Close()
	}
	l.dir = dir
	if err := l.attach(); err != nil {
		return nil, errors.Join(err, l.detach())
	}
	return l, nil
}

// attach takes the session's lease, opens the file and repairs its end. When
// a step fails, the next call goes on from there.
func (l *Log) attach() error {
	if l.lease == nil {
		held, err := lease.Take(l.dir, *l.opt.Self)
		if other, ok := errors.AsType[*lease.Held](err); ok {
			return &store.LockedError{PID: other.PID, Host: other.Host, Since: other.Since}
		}
		if err != nil {
			return l.failed(err)
		}
		l.lease, l.shown = held, l.opt.Self.Now().Round(0)
	}
	f, end, err := l.openFile()
	if err != nil {
		return l.failed(err)
	}
	l.f, l.synced = f, end
	l.scan.opened(end)
	l.quit, l.gone = make(chan struct{}), make(chan struct{})
	go l.keeper() // ends when Close closes quit
	return nil
}

func (l *Log) openFile() (disk.File, int64, error) {
	f, err := l.dir.OpenFile(LogName, os.O_RDWR|os.O_CREATE, disk.FileMode)
	if err != nil {
		return nil, 0, err
	}
	end, err := l.repair(l.dir, f)
	if err == nil {
		err = l.dir.Sync()
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, end, nil
}

// detach closes what is open and gives the lease up.
func (l *Log) detach() error {
	var err error
	if l.f != nil {
		err = l.f.Close()
	}
	if l.lease != nil {
		err = errors.Join(err, l.lease.Release())
	}
	if l.dir != nil {
		err = errors.Join(err, l.dir.Close())
	}
	return err
}

// Report says what was wrong with the file as far as it was read.
func (l *Log) Report() store.Report {
	r := l.scan.report()
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Cut = l.cut
	if l.torn > 0 {
		r.Torn, r.TornAt = l.torn, filepath.Join(l.opt.Dir, TornName)
	}
	return r
}

// Append implements store.Log.
func (l *Log) Append(ctx context.Context, e event.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return store.ErrClosed
	}
	before := len(l.tail)
	tail, err := event.AppendLine(l.tail, e)
	if err != nil {
		return err
	}
	if err := errors.Join(l.ready(), l.stillOurs()); err != nil {
		return err
	}
	line, err := blob.Out(tail[before:], l.blobs.Put)
	if err != nil {
		return l.failed(err)
	}
	tail = append(tail[:before], line...) // which are there already, unless blobs went out of it
	mark := l.mark
	if l.seal != nil {
		tail, mark = l.seal.Append(tail, before, mark)
	}
	l.last = max(l.last, l.scan.newest())
	if e.Seq <= l.last {
		return fmt.Errorf("record event: seq %d does not follow %d", e.Seq, l.last)
	}
	if n := len(tail) - before; n >= event.MaxLine {
		return fmt.Errorf("record event %d: a line of %d bytes is more than the %d that can be kept", e.Seq, n, event.MaxLine)
	}
	l.tail = append(tail, '\n')
	if err := l.commit(store.Durable(e.Body)); err != nil {
		l.takeBack(before)
		return err
	}
	l.last, l.mark, l.added = e.Seq, mark, l.added+1
	l.remember(e, len(tail)-before)
	return nil
}

// ready creates the folder and the file of a new session.
func (l *Log) ready() error {
	if l.f != nil {
		return nil
	}
	if l.dir == nil {
		dir, err := l.opt.Disk(l.opt.Dir, true)
		if err != nil {
			return l.failed(err)
		}
		l.dir = dir
	}
	return l.attach()
}

// commit hands what waits to the system, which keeps it when this process is
// killed. A durable event is on the disk afterwards.
func (l *Log) commit(durable bool) error {
	if l.opt.Bulk {
		if len(l.tail)-l.wrote < bulkAt {
			return nil
		}
		durable = false
	}
	return l.flush(durable || len(l.tail) > syncAt)
}

// takeBack removes the line of an event that could not be recorded.
func (l *Log) takeBack(before int) {
	l.tail = l.tail[:before]
	if l.wrote <= before && !l.unsure {
		return
	}
	l.wrote = min(l.wrote, before)
	l.unsure = true
	_ = l.f.Truncate(l.synced + int64(before)) // flush does it again
}

// flush writes the tail to the file, and to the disk if sync is set. When it
// fails, what was synced is untouched, and the next flush starts from there.
func (l *Log) flush(sync bool) error {
	if err := l.stillOurs(); err != nil {
		return err
	}
	if l.unsure {
		if err := l.f.Truncate(l.synced); err != nil {
			return l.failed(err)
		}
		l.wrote, l.unsure = 0, false
	}
	if l.wrote < len(l.tail) {
		if _, err := l.f.WriteAt(l.tail[l.wrote:], l.synced+int64(l.wrote)); err != nil {
			l.unsure = true
			return l.failed(err)
		}
		l.wrote = len(l.tail)
	}
	if !sync || len(l.tail) == 0 {
		return nil
	}
	// What lines name comes first: no line on disk names what a power cut can lose.
	if err := l.blobs.Flush(); err != nil {
		return l.failed(err)
	}
	if err := l.f.Sync(); err != nil {
		// The system may have thrown the pages away, and the next sync would
		// not say so: they must be written again.
		l.unsure = true
		return l.failed(err)
	}
	l.synced += int64(len(l.tail))
	l.tail, l.wrote = l.tail[:0], 0
	if cap(l.tail) > 1<<20 {
		l.tail = nil
	}
	return l.there()
}

// stillOurs looks at the lease again when it was not refreshed for long: the
// machine may have slept while another one took the session over.
func (l *Log) stillOurs() error {
	now := l.opt.Self.Now().Round(0) // the wall clock goes on in sleep
	if l.lease != nil && !l.lost && now.Sub(l.shown) > lease.Expiry/2 {
		l.refresh(now)
	}
	switch {
	case l.removed:
		return store.ErrRemoved
	case l.lost:
		return store.ErrLost
	}
	return nil
}

// there is store.ErrRemoved when the log has no name in its folder any more, or the
// folder is gone: what is written then is nowhere.
func (l *Log) there() error {
	if _, err := l.dir.Stat(LogName); errors.Is(err, fs.ErrNotExist) {
		l.removed = true
		return store.ErrRemoved
	}
	return nil
}

// refresh touches the lease. That the disk refused is found out by the next
// event, not here.
func (l *Log) refresh(now time.Time) {
	switch err := l.lease.Refresh(); {
	case errors.Is(err, lease.ErrLost):
		l.lost = l.there() == nil
	case err == nil:
		l.shown = now
	}
}

// keeper keeps the lease alive. Close ends it.
func (l *Log) keeper() {
	defer close(l.gone)
	refresh := time.NewTicker(lease.Refresh)
	defer refresh.Stop()
	for {
		select {
		case <-refresh.C:
			l.mu.Lock()
			l.refresh(l.opt.Self.Now().Round(0))
			l.mu.Unlock()
		case <-l.quit:
			return
		}
	}
}

// Close implements store.Log. It gives the session free for other processes.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.done {
		l.mu.Unlock()
		return nil
	}
	l.done = true
	l.mu.Unlock()
	if l.f == nil {
		return l.detach()
	}
	close(l.quit)
	<-l.gone
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if !l.lost {
		if err = l.flush(true); err == nil {
			l.touch()
		}
	}
	return errors.Join(err, l.detach())
}

func (l *Log) failed(err error) error {
	return &store.WriteError{Path: filepath.Join(l.opt.Dir, LogName), Why: disk.Why(err), Err: err}
}
