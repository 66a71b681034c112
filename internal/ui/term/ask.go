package term

import (
	"slices"
	"time"
)

// What a terminal is asked while it is drawn on. All of it is what only the
// terminal knows once its size has changed; a terminal that does not answer is
// drawn on by arithmetic, see inline.above.
//
//   - Where the cursor is, after each change of the size: a screen that became
//     smaller may have moved rows of the live area into the scrollback.
//   - With each frame, where the cursor was when it came and which size it was drawn
//     on: it may have been on its way when the size changed, see inline.arrived. A
//     terminal behind a network is not asked that, because each frame waits for it.
//   - Its size before each frame, where it is told late: when tmux is resized more than
//     once in 250 ms it tells of the last size only after that time, and has wrapped its
//     lines anew meanwhile. It answers within a millisecond.
type asks struct {
	size, place bool // the terminal is known to answer
	late        bool // it tells of its size late
	waiting     bool // for a reply
	replies     chan reply
	missed      int
	answered    bool       // the terminal has answered, and may be late
	moved       time.Time  // when it was found to have another size
	steps       int        // how many sizes it has had since it had one for long
	framed      time.Time  // when the last frame was written
	swayed      bool       // it had another size since then, though it may be the same again
	row         int        // of the cursor, when the last frame came; -1: it did not say
	sized       func(Size) // is called with a size that nobody told yet
}

// A reply is what a terminal answered: its size, or where the cursor is.
type reply struct {
	size  bool
	value Size // or the cursor, counted from 0
}

const (
	askSize, askPlace = "\x1b[18t", "\x1b[6n"
	// replyWait is how long an answer is waited for.
	replyWait = 200 * time.Millisecond
	// maxMissed is after how many questions without an answer no more are asked.
	maxMissed = 2
	// maxLate is the same for a terminal that has answered before: on a busy machine
	// it is late for a while.
	maxLate = 25
	// still is how long a size has to last before anything is drawn for it, and
	// maxSteps how many sizes are waited for.
	still, maxSteps = 40 * time.Millisecond, 12
	// dragged is for how long after a change of the size another one is likely, and
	// calm how far apart frames are meanwhile: the fewer there are, the less often
	// one is on its way when the size changes.
	dragged, calm = time.Second, 250 * time.Millisecond
	// rest is how long a size has to last until the live area is as wide as the screen
	// again, and slim how wide it is until then, see narrower.
	rest, slim = 400 * time.Millisecond, 20
)

// Ask says which questions the terminal answers, and whether it tells of its size
// late. Sized is called, without waiting for it, when it says that it has another
// size than it told.
func (s *Screen) Ask(size, place, late bool, sized func(Size)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks.size, s.asks.place, s.asks.late, s.asks.sized = size, place, size && late, sized
	s.in.asking, s.in.fills = size && place, s.asks.late
}

// ownSize reports whether the screen asks for its size itself.
func (s *Screen) ownSize() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asks.late && !s.onFull && !s.want && !s.held && !s.closed
}

// askAgain has the screen ask for its size, if it does that itself.
func (s *Screen) askAgain() bool {
	if !s.ownSize() {
		return false
	}
	s.change(func() { s.asks.swayed = true })
	return true
}

// replied takes an answer of the terminal. One that nobody waits for is nothing.
func (s *Screen) replied(r reply) {
	if s.asking() {
		select {
		case s.asks.replies <- r:
		default:
		}
	}
}

func (s *Screen) asking() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asks.waiting
}

// awaits reports whether an answer is still to come.
func (s *Screen) awaits() bool {
	if !s.mu.TryLock() { // by who panicked, or at work
		return true
	}
	defer s.mu.Unlock()
	return s.asks.waiting || s.asks.missed > 0
}

// certain asks the terminal for what the next frame has to know. s.mu is held,
// but for the time that the terminal takes to answer.
func (s *Screen) certain() {
	for range maxSteps { // it is resized again and again: then by arithmetic
		if s.plain || s.onFull || s.want || s.in.drawn == (Size{}) || s.held || s.closed {
			return
		}
		if now := time.Now(); s.asks.size && now.Sub(s.asks.moved) < dragged {
			if !s.in.torn { // rows that are wrong do not wait
				s.pause(calm - now.Sub(s.asks.framed))
			}
			s.asks.swayed = true // a size of which nothing is known may have come and gone
		}
		if s.asks.late {
			s.another()
		}
		z := s.in.size
		if z == s.in.drawn && !s.asks.swayed {
			s.in.taken, s.in.fresh, s.in.row = 0, "", -1
			return
		}
		// A screen that was lower for a moment lost the rows below the cursor, and one
		// that was higher has others above it: all is drawn anew.
		s.in.redraw = s.in.redraw || s.asks.swayed
		if !s.asks.place {
			return
		}
		if s.pause(still); s.in.size != z || s.asks.late && s.another() {
			continue
		}
		at, ok := s.ask(askPlace, false)
		if ok && z == s.in.size {
			s.in.place(at.Rows)
			if !s.asks.late || !s.another() {
				return
			}
		}
	}
}

// narrower has the live area drawn narrow while a window of tmux is dragged: each
// row that is wider than the screen becomes, tmux makes two rows of, and moves all
// that is above up by one, for good. It returns when it may be wide again. s.mu is held.
func (s *Screen) narrower() (wait time.Duration) {
	if s.asks.late && s.asks.steps > 1 {
		wait = max(rest-time.Since(s.asks.moved), 0)
	}
	s.in.slim = maxCols
	if wait > 0 {
		s.in.slim = slim
	}
	return wait
}

// another asks for the size, takes it over, and reports whether it is another.
func (s *Screen) another() bool {
	z, ok := s.ask(askSize, true)
	if z = sane(z); !ok || z == s.in.size {
		return false
	}
	s.takes(z)
	return true
}

// takes takes over a size that the terminal told when it was asked.
func (s *Screen) takes(z Size) {
	s.resize(z)
	if s.asks.sized != nil {
		s.asks.sized(z)
	}
}

// pause waits for the one who drags a window to hold still: a frame in the
// middle of that would be drawn on a size that is gone already. s.mu is held,
// but not meanwhile.
func (s *Screen) pause(d time.Duration) {
	s.mu.Unlock()
	time.Sleep(d)
	s.mu.Lock()
}

// confirm takes the answers to the questions that came with a frame. One that was
// drawn on another size than it was made for is drawn again. s.mu is held, but not
// meanwhile.
func (s *Screen) confirm(frame []byte) {
	s.asks.framed, s.asks.swayed = time.Now(), false
	if !s.asks.size || s.onFull || s.plain {
		return
	}
	before := s.in.size
	z, ok := s.ask("", true)
	if z = sane(z); !ok || z == s.in.drawn || s.in.drawn == (Size{}) {
		return
	}
	s.dirty = true
	if again := s.in.arrived(frame, z, s.asks.row); len(s.images) == 0 {
		s.printed = slices.Concat(again, s.printed)
	}
	if s.in.size == before && z != before { // nobody told a later one meanwhile
		s.takes(z)
	}
}

// begin waits for an answer to what is written next.
func (a *asks) begin() {
	for len(a.replies) > 0 {
		<-a.replies
	}
	a.waiting = true
}

// ask writes a question, unless one was written with the frame,
// and returns the answer. s.mu is held, but not meanwhile.
func (s *Screen) ask(what string, size bool) (Size, bool) {
	var err error
	if what != "" {
		s.asks.begin()
	}
	s.mu.Unlock()
	if what != "" {
		_, err = s.w.Write([]byte(what))
	}
	late := time.NewTimer(replyWait)
	defer late.Stop()
	var out Size
	ok, row := false, -1
	for more := err == nil; more && !ok; {
		select {
		case r := <-s.asks.replies:
			if out, ok = r.value, r.size == size; !ok && !r.size {
				row = r.value.Rows
			}
		case <-late.C:
			more = false
		}
	}
	s.mu.Lock()
	s.asks.waiting, s.asks.row = false, row
	if ok {
		s.asks.missed, s.asks.answered = 0, true
	} else if s.asks.missed++; s.asks.missed >= maxLate || s.asks.missed >= maxMissed && !s.asks.answered {
		s.asks.size, s.asks.place, s.asks.late, s.in.asking = false, false, false, false
	}
	return out, ok
}
