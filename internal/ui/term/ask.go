package term

import (
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// What a terminal is asked while it is drawn on. Both are questions about what
// only the terminal knows once its size has changed; a terminal that does not
// answer them is drawn on by arithmetic, see inline.toTop.
//
//   - Where the cursor is, after each change of the size: a screen that became
//     smaller may have moved rows of the live area into the scrollback.
//   - Its size, before and with each frame, in tmux: when it is resized more than once in
//     250 ms it tells of the last size only after that time, and has wrapped its
//     lines anew meanwhile. A frame for the size before would be drawn over what
//     was said. tmux is on this machine and answers within a millisecond.
type asks struct {
	size, place bool // the terminal is known to answer
	waiting     bool // for a reply
	replies     chan reply
	missed      int
	answered    bool        // the terminal has answered, and may be late
	moved       time.Time   // when it was found to have another size
	framed      time.Time   // when the last frame was written
	swayed      bool        // it had another size since then, though it may be the same again
	part        []draw.Line // what the last frame printed
	sized       func(Size)  // is called with a size that nobody told yet
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
)

// Ask says which questions the terminal answers. Sized is called, without
// waiting for it, when it says that it has another size than it told.
func (s *Screen) Ask(size, place bool, sized func(Size)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks.size, s.asks.place, s.asks.sized = size, place, sized
}

// ownSize reports whether the screen asks for its size itself, and has it do so.
func (s *Screen) ownSize() (asks bool) {
	s.change(func() { asks = s.asks.size && !s.onFull && !s.want && !s.held })
	return asks
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
		if s.asks.size {
			if now := time.Now(); now.Sub(s.asks.moved) < dragged {
				s.pause(calm - now.Sub(s.asks.framed))
				s.asks.swayed = true // a size of which nothing is known may have come and gone
			}
			s.another()
		}
		z := s.in.size
		if !s.asks.place || z == s.in.drawn && !s.asks.swayed {
			s.in.taken, s.in.fresh = 0, ""
			return
		}
		// A screen that was lower for a moment lost the rows below the cursor, and one
		// that was higher has others above it: all is drawn anew.
		s.in.redraw = s.in.redraw || s.asks.swayed
		if s.pause(still); s.in.size != z || s.asks.size && s.another() {
			continue
		}
		at, ok := s.ask(askPlace, false)
		if ok && z == s.in.size {
			s.in.place(at.Rows)
			if !s.asks.size {
				return
			}
			if !s.another() {
				return
			}
		}
	}
}

// another asks for the size, takes it over, and reports whether it is another.
func (s *Screen) another() bool {
	z, ok := s.ask(askSize, true)
	if z = sane(z); !ok || z == s.in.size {
		return false
	}
	s.in.size, s.full.size, s.asks.moved, s.asks.swayed = z, z, time.Now(), true
	if s.asks.sized != nil {
		s.asks.sized(z)
	}
	return true
}

// pause waits for the one who drags a window to hold still: a frame in the
// middle of that would be drawn on a size that is gone already. s.mu is held,
// but not meanwhile.
func (s *Screen) pause(d time.Duration) {
	s.mu.Unlock()
	time.Sleep(d)
	s.mu.Lock()
}

// confirm takes the answer to the question that came with a frame. A frame that
// was drawn on another size than it was made for is cut at the margin, so that each
// of its rows is one row there. What it printed comes again where a part of it may be
// missing. s.mu is held, but not meanwhile.
func (s *Screen) confirm() {
	part := s.asks.part
	s.asks.part, s.asks.framed, s.asks.swayed = nil, time.Now(), false
	if !s.asks.size || s.onFull || s.plain {
		return
	}
	z, ok := s.ask("", true)
	if !ok || sane(z) == s.in.drawn || s.in.drawn == (Size{}) {
		return
	}
	if s.in.torn, s.dirty = true, true; s.in.whole {
		s.in.drawn = sane(z)
	}
	// One that changed rows may have changed others than it meant to, also among
	// those that were left behind as printed.
	cut := !s.in.whole || slices.ContainsFunc(part, func(l draw.Line) bool { return l.Width() > z.Cols })
	if len(s.images) > 0 {
		return
	}
	gone := s.in.reclaim(sane(z), cut)
	if cut || len(gone) > 0 {
		s.printed = slices.Concat(gone, part, s.printed)
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
	ok := false
	for more := err == nil; more && !ok; {
		select {
		case r := <-s.asks.replies:
			out, ok = r.value, r.size == size
		case <-late.C:
			more = false
		}
	}
	s.mu.Lock()
	s.asks.waiting = false
	if ok {
		s.asks.missed, s.asks.answered = 0, true
	} else if s.asks.missed++; s.asks.missed >= maxLate || s.asks.missed >= maxMissed && !s.asks.answered {
		s.asks.size, s.asks.place = false, false
	}
	return out, ok
}
