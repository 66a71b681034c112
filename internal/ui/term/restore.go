package term

import (
	"time"

	xterm "golang.org/x/term"
)

// patience bounds what a way out waits for a terminal that does not take what
// is written to it.
const patience = 300 * time.Millisecond

// Restore puts the terminal back as it was: modes, cursor, main screen. It is
// the way out of everything (a normal end, a panic, a signal, a terminal that
// is gone); it may be called at any time, from any goroutine, and again. The
// live area stays where it is unless Screen.Close took it away before.
func (t *Terminal) Restore() {
	t.once.Do(func() {
		t.cooked(true)
		close(t.quit)
	})
}

// Close ends the screen (see Screen.Close), restores the terminal and waits
// for the goroutines.
func (t *Terminal) Close(keep bool) error {
	err := within(patience, func() error { return t.Screen.Close(keep) })
	t.Restore()
	t.mu.Lock()
	g := t.guard
	t.guard = nil
	t.mu.Unlock()
	if g != nil {
		g.close()
	}
	stopSignals(t.sig)
	_ = within(patience, func() error { t.wg.Wait(); return nil })
	return err
}

// Recover is deferred by each goroutine of the program: a panic restores the
// terminal first, so that what it says can be read.
func (t *Terminal) Recover() {
	if p := recover(); p != nil {
		t.Restore()
		panic(p)
	}
}

// cooked leaves raw mode and all others, and stops the reading.
func (t *Terminal) cooked(last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reader != nil {
		t.reader.Cancel()
		t.reader = nil
	}
	if !t.modes.on {
		return
	}
	t.modes.on = false
	_ = within(patience, func() error {
		_, err := t.o.Out.Write(t.off(last))
		return err
	})
	if t.asked || t.Screen.awaits() { // an answer would be read as keys by who comes next
		time.Sleep(20 * time.Millisecond)
		flush(t.o.In)
	}
	if t.saved != nil {
		_ = restore(t.o.In, t.o.Out, t.saved)
		t.saved = nil
	}
	t.guarded()
}

// brief is how long a way out waits for who draws at the moment. It may be the
// one that panicked, and then holds the screen's state for good.
const brief = 100 * time.Millisecond

// off returns the bytes that switch off what is on. It needs no more than a
// look at the screen's state, and goes without it when somebody keeps that.
func (t *Terminal) off(last bool) []byte {
	var b []byte
	locked := false
	for late := time.Now().Add(brief); last; time.Sleep(time.Millisecond) {
		if locked = t.Screen.mu.TryLock(); locked || time.Now().After(late) {
			break
		}
	}
	if locked {
		if !t.Screen.closed && !t.Screen.held {
			b = t.Screen.leave(true)
			t.Screen.held = true
		}
		t.Screen.mu.Unlock()
	}
	return append(append(b, "\x1b[?2004l"...), t.ways()...)
}

// within runs f and waits for it no longer than d. A terminal that never takes
// a write holds only that goroutine, which ends with the program.
func within(d time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }() // ends when the terminal takes the bytes
	select {
	case err := <-done:
		return err
	case <-time.After(d):
		return nil
	}
}

// Release gives the terminal to another program, such as an editor; Reclaim
// takes it back.
func (t *Terminal) Release() {
	t.Screen.Hold(false)
	t.cooked(false)
}

// Reclaim takes the terminal back after Release. The caller draws anew.
func (t *Terminal) Reclaim() error {
	if err := t.begin(); err != nil {
		return err
	}
	t.resized()
	t.Screen.Resume()
	return nil
}

// Suspend stops the program until the shell continues it (Ctrl+Z, fg).
func (t *Terminal) Suspend() {
	defer t.Recover()
	if t.o.Plain {
		stopSelf()
		t.Screen.Echoed(true) // the shell ended its line
		t.send(Resumed{})
		return
	}
	t.Release()
	stopSelf()
	if err := t.Reclaim(); err != nil {
		t.gone()
		return
	}
	t.send(Resumed{})
}

// makeRaw puts a terminal into raw mode.
func makeRaw(fd int) (*xterm.State, error) { return xterm.MakeRaw(fd) }
