package wire

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

var (
	errStalled = errors.New("no bytes for the idle limit")
	errEmpty   = errors.New("signs of life and nothing else")
	errOver    = errors.New("nothing more came behind the end of the reply")
	errWoke    = errors.New("no bytes since the computer slept")
)

const (
	watchSlice = 5 * time.Second
	sleepJump  = 20 * time.Second // the wall clock ran this far ahead of the monotonic one
	wokeLimit  = 5 * time.Second  // patience after a sleep: the connection is most likely dead
	// patience is how long a model may reason without a byte, and how long
	// comments and pings may keep up a stream in which nothing is said.
	patience = 10 * time.Minute
	// overLimit is how long a complete reply may go on without a byte: counts of tokens
	// come behind it.
	overLimit = 3 * time.Second
)

// A watch cancels a request when nothing arrives for too long. Only the time
// somebody waits for bytes counts, so a slow consumer is never a stall. It
// looks up every few seconds to notice a sleep of the computer.
type watch struct {
	cancel context.CancelCauseFunc
	wall   func() time.Time
	base   time.Time
	first  time.Duration // limit for the first byte of the answer
	idle   time.Duration // limit after it
	// patient is the limit while reasoning is open.
	patient time.Duration

	thinks  atomic.Bool  // reasoning is open: patience, where that is more
	said    atomic.Int64 // when something was said last, ns after base
	since   atomic.Int64 // when the waiting began, ns after base; negative: nobody waits
	bytes   atomic.Int64
	over    atomic.Bool // the reply is complete
	wake    chan struct{}
	stop    chan struct{}
	stopped chan struct{}
}

// startWatch starts the watch; end must be called.
func startWatch(cancel context.CancelCauseFunc, first, idle, patient time.Duration, wall func() time.Time) *watch {
	if wall == nil {
		wall = time.Now
	}
	w := &watch{cancel: cancel, wall: wall, base: time.Now(), first: first, idle: idle, patient: patient,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{})}
	w.wait()
	go w.run() // ends with end, or after it has cancelled
	return w
}

func (w *watch) wait() { w.since.Store(int64(time.Since(w.base))) }

func (w *watch) arrived(n int) {
	w.since.Store(-1)
	if n > 0 {
		w.bytes.Add(int64(n))
	}
}

// complete says that the reply is complete.
func (w *watch) complete() {
	if !w.over.Swap(true) {
		w.wake <- struct{}{} // there is room for the only one
	}
}

func (w *watch) end() {
	close(w.stop)
	<-w.stopped
}

func (w *watch) run() {
	defer close(w.stopped)
	timer := time.NewTimer(min(watchSlice, w.first, w.idle))
	defer timer.Stop()
	wokeAt, wokeBytes := int64(-1), int64(0)
	for {
		mono, wall := time.Now(), w.wall().Round(0)
		select {
		case <-w.stop:
			return
		case <-w.wake:
		case <-timer.C:
		}
		now := int64(time.Since(w.base))
		if w.wall().Round(0).Sub(wall)-time.Since(mono) > sleepJump {
			wokeAt, wokeBytes = now, w.bytes.Load()
		}
		since, bytes := w.since.Load(), w.bytes.Load()
		if bytes != wokeBytes {
			wokeAt = -1
		}
		limit, cause := w.idle, errStalled
		if w.thinks.Load() {
			limit = max(limit, w.patient)
		}
		if quiet := max(w.idle, patience); since >= 0 && time.Duration(now-w.said.Load()) > quiet {
			w.cancel(errEmpty)
			return
		}
		if bytes == 0 {
			limit = w.first
		}
		if w.over.Load() {
			limit, cause = min(limit, overLimit), errOver
		}
		if wokeAt >= 0 {
			limit, cause = min(limit, wokeLimit), errWoke
			if since >= 0 { // what was waited before the sleep does not count
				since = max(since, wokeAt)
			}
		}
		next := min(watchSlice, limit)
		if since >= 0 {
			left := limit - time.Duration(now-since)
			if left <= 0 {
				w.cancel(cause)
				return
			}
			next = min(next, left)
		}
		timer.Reset(next)
	}
}
