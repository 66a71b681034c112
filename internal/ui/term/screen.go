package term

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// A Size is that of a terminal, in cells.
type Size struct{ Cols, Rows int }

// A Cursor is a place in the live area (or, in full-screen mode, on the
// screen), counted from 0.
type Cursor struct {
	Row, Col int
	Hidden   bool
}

// Config says how a Screen draws.
type Config struct {
	Size    Size
	Theme   *draw.Theme
	Profile draw.Profile
	Sync    bool // the terminal has synchronized output
	Rewrap  bool // the terminal wraps lines anew when its width changes
	Plain   bool // no cursor movement at all: lines are printed, and the live area is a line that asks for one
}

// A Screen shows finished lines, once, in the terminal's own scrollback, and
// below them a live area that is drawn anew whenever it changes. None of its
// methods waits for the terminal: what is to be shown is kept, and one
// goroutine writes frame after frame. When the terminal is slow, frames of the
// live area between two writes are never made; printed lines are never lost.
type Screen struct {
	w    io.Writer
	wake chan struct{}
	done chan struct{}

	mu      sync.Mutex // guards everything below
	idle    *sync.Cond // signalled after each write
	in      inline
	full    fullscreen
	plain   bool
	begun   bool   // in plain mode: the cursor stands behind something
	asked   []byte // and behind this, if nobody has typed
	onFull  bool   // the terminal is in full-screen mode
	want    bool   // it shall be
	next    bool   // want, from the next Live on
	printed []draw.Line
	images  []placed // in printed, in their order
	live    []draw.Line
	cur     Cursor
	raw     []byte // to be written as it is, before the next frame
	dirty   bool
	busy    bool
	held    bool // nothing is written until Resume
	asks    asks
	closed  bool
	err     error
}

// NewScreen returns a Screen that writes to w. Close ends its goroutine.
func NewScreen(w io.Writer, c Config) *Screen {
	k := look{theme: c.Theme, profile: c.Profile, sync: c.Sync}
	s := &Screen{w: w, wake: make(chan struct{}, 1), done: make(chan struct{}), plain: c.Plain,
		in: inline{look: k, size: sane(c.Size), rewrap: c.Rewrap, slim: maxCols, row: -1}, full: fullscreen{look: k, size: sane(c.Size)}}
	s.idle = sync.NewCond(&s.mu)
	s.asks.replies = make(chan reply, 8)
	go s.write() // ends with Close
	return s
}

func sane(z Size) Size {
	if z.Cols < 1 {
		z.Cols = 80
	}
	if z.Rows < 1 {
		z.Rows = 24
	}
	return Size{Cols: min(z.Cols, maxCols), Rows: min(z.Rows, 10_000)}
}

const maxCols = 10_000

// Print puts lines above the live area, for good. One that is wider than the
// terminal is then is wrapped. In full-screen mode they wait until it ends.
func (s *Screen) Print(lines []draw.Line) {
	s.change(func() { s.printed = append(s.printed, lines...) })
}

// Live makes lines the live area, or in full-screen mode the screen, with the
// cursor at cur. More lines than the screen has are cut around the cursor.
// The caller does not change lines afterwards.
func (s *Screen) Live(lines []draw.Line, cur Cursor) {
	s.change(func() { s.live, s.cur, s.want = lines, cur, s.next })
}

// Update is Print and Live in one frame, so that a line that moves from the
// live area to the scrollback is never seen twice nor missing.
func (s *Screen) Update(printed, live []draw.Line, cur Cursor) {
	s.change(func() {
		s.printed = append(s.printed, printed...)
		s.live, s.cur, s.want = live, cur, s.next
	})
}

// A placed is an image among the printed lines.
type placed struct {
	at, rows int // the first of its rows in printed, and how many
	seq      []byte
	instead  []draw.Line
}

// PrintImage puts an image above the live area, for good: rows empty lines, and
// seq written where they begin. Where they do not fit on the screen, instead
// is printed.
func (s *Screen) PrintImage(seq []byte, rows int, instead []draw.Line) {
	s.change(func() {
		if s.plain || rows < 1 {
			s.printed = append(s.printed, instead...)
			return
		}
		s.images = append(s.images, placed{at: len(s.printed), rows: rows, seq: seq, instead: instead})
		s.printed = append(s.printed, make([]draw.Line, rows)...)
	})
}

// Resize tells the Screen that the terminal has another size, or had one for a
// moment. The caller draws the live area for it next, in the same breath.
func (s *Screen) Resize(z Size) {
	s.change(func() { s.resize(sane(z)) })
}

func (s *Screen) resize(z Size) {
	s.in.size, s.full.size = z, z
	s.full.redraw = true
	if now := time.Now(); now.Sub(s.asks.moved) < dragged {
		s.asks.steps++
	} else {
		s.asks.steps = 1
	}
	s.asks.moved, s.asks.swayed = time.Now(), true
	if s.onFull { // the mark is of no use there
		s.in.marked = false
	}
}

// Full goes to the full-screen mode and back, with the next Live or Update:
// what one mode shows must not be seen in the other.
func (s *Screen) Full(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = on
}

// alternate reports whether the terminal shows the alternate screen, or will.
func (s *Screen) alternate() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next || s.want || s.onFull
}

// Redraw draws the live area anew, for when something else wrote to the
// terminal (Ctrl+L).
func (s *Screen) Redraw() { s.change(func() { s.in.redraw, s.full.redraw = true, true }) }

// SetTheme draws in other colours from now on. What is printed stays.
func (s *Screen) SetTheme(t *draw.Theme) {
	s.change(func() {
		s.in.look.theme, s.full.look.theme = t, t
		s.in.redraw, s.full.redraw = true, true
	})
}

// SetSync says that the terminal has synchronized output.
func (s *Screen) SetSync(on bool) {
	s.change(func() { s.in.look.sync, s.full.look.sync = on, on })
}

// SetRewrap says what the terminal does with its lines at another width.
func (s *Screen) SetRewrap(on bool) { s.change(func() { s.in.rewrap = on }) }

// SetMarks says that the terminal leaves what is marked as a prompt alone when
// its size changes.
func (s *Screen) SetMarks(on bool) { s.change(func() { s.in.marks = on }) }

// Raw writes bytes that are neither text nor movement: a title, a
// notification, the clipboard. They come between frames.
func (s *Screen) Raw(b []byte) { s.change(func() { s.raw = append(s.raw, b...) }) }

// Err returns the error that ended the writing, if any: the terminal is gone.
func (s *Screen) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Sync waits until the terminal has taken all that was asked for.
func (s *Screen) Sync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for (s.dirty && !s.held || s.busy) && s.err == nil && !s.closed {
		s.idle.Wait()
	}
}

func (s *Screen) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	f()
	s.dirty = true
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// write makes and writes frames until the Screen is closed.
func (s *Screen) write() {
	defer close(s.done)
	again := time.AfterFunc(time.Hour, func() { s.change(func() {}) })
	again.Stop()
	defer again.Stop()
	var buf []byte
	for range s.wake {
		for {
			s.mu.Lock()
			if !s.dirty || s.held || s.err != nil {
				s.idle.Broadcast()
				s.mu.Unlock()
				break
			}
			s.busy = true
			s.certain()
			s.dirty = false
			if wait := s.narrower(); wait > 0 {
				again.Reset(wait)
			}
			buf = s.compose(buf[:0])
			s.mu.Unlock()
			var err error
			if len(buf) > 0 {
				_, err = s.w.Write(buf)
			}
			s.mu.Lock()
			if len(buf) > 0 && err == nil {
				s.confirm(buf)
			}
			s.busy = false
			if err != nil {
				s.err = err
			}
			s.idle.Broadcast()
			s.mu.Unlock()
		}
	}
}

// compose returns the next frame, and after it what Raw wants. s.mu is held.
func (s *Screen) compose(dst []byte) []byte {
	if s.plain {
		dst = s.plainLines(dst)
	} else {
		dst = s.picture(dst)
	}
	dst = append(dst, s.raw...)
	s.raw = s.raw[:0]
	if len(dst) > 0 && s.asks.size && !s.onFull {
		s.asks.begin()
		dst = append(dst, askSize...)
	}
	return dst
}

// picture returns what shows the lines.
func (s *Screen) picture(dst []byte) []byte {
	if s.want != s.onFull {
		s.onFull = s.want
		if s.want {
			dst = append(dst, "\x1b[?1049h\x1b[2J"...)
			s.full.shown, s.full.redraw = nil, true
		} else {
			dst = append(dst, "\x1b[?1049l"...)
		}
	}
	if s.onFull {
		return s.full.frame(dst, s.live, s.cur)
	}
	// A great deal to print goes out in parts, so that a slow terminal shows
	// the first of it early and the frames in between stay small.
	part := s.printed[:min(len(s.printed), 2000)]
	var img *placed
	if len(s.images) > 0 {
		img = &s.images[0]
		end := img.at + img.rows
		if img.rows+max(len(s.live), 1) > s.in.size.Rows {
			s.printed = slices.Replace(s.printed, img.at, end, img.instead...)
			for i := range s.images[1:] {
				s.images[1+i].at += len(img.instead) - img.rows
			}
			s.images, s.dirty = s.images[1:], true
			return dst
		}
		if part = s.printed[:min(len(part), end)]; len(part) < end {
			part, img = part[:min(len(part), img.at)], nil
		}
	}
	dst = s.in.frame(dst, part, s.live, s.cur)
	if img != nil { // its rows are the last above the live area
		dst = append(dst, "\x1b7"...)
		dst = csi(dst, s.in.at.Row+img.rows, 'A')
		dst = append(append(append(dst, '\r'), img.seq...), "\x1b8"...)
		s.images = s.images[1:]
	}
	for i := range s.images {
		s.images[i].at -= len(part)
	}
	if s.printed = s.printed[len(part):]; len(s.printed) == 0 {
		s.printed = nil
	} else {
		s.dirty = true
	}
	return dst
}

// plainLines prints lines, and then the one that asks for something to be typed
// behind it. That one is printed again below whatever came after it.
func (s *Screen) plainLines(dst []byte) []byte {
	var ask []byte
	if len(s.live) > 0 {
		ask = s.in.look.theme.Append(nil, s.live[0], s.in.look.profile)
	}
	if s.begun && (len(s.printed) > 0 || len(ask) > 0 && !bytes.Equal(ask, s.asked)) {
		dst = append(dst, '\n')
		s.begun = false
	}
	for _, l := range s.printed {
		dst = s.in.look.theme.Append(dst, l, s.in.look.profile)
		dst = append(dst, '\n')
	}
	s.printed = nil
	if !s.begun && len(ask) > 0 {
		dst = append(dst, ask...)
		s.begun, s.asked = true, ask
	}
	return dst
}

// Echoed tells, in plain mode, that the terminal itself showed what somebody
// typed: a line with its end, which answers what was asked, or something without
// one, such as "^C".
func (s *Screen) Echoed(whole bool) {
	s.change(func() {
		if s.begun = !whole; whole {
			s.live = nil
		}
	})
}

// Hold writes what is pending, takes the live area away (it stays when keep
// is set) and writes nothing more until Resume: for an editor that takes the
// terminal, or for Ctrl+Z.
func (s *Screen) Hold(keep bool) {
	s.Sync()
	s.mu.Lock()
	if s.held || s.closed {
		s.mu.Unlock()
		return
	}
	s.held = true
	buf := s.leave(keep)
	s.mu.Unlock()
	if _, err := s.w.Write(buf); err != nil {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
	}
}

func (s *Screen) leave(keep bool) []byte {
	var buf []byte
	if s.plain {
		if s.begun { // what comes next has a line of its own
			buf, s.begun = append(buf, '\n'), false
		}
		return buf
	}
	if s.onFull {
		buf = append(buf, "\x1b[?1049l"...)
		s.onFull = false
	}
	return s.in.leave(buf, keep)
}

// Resume draws again after Hold.
func (s *Screen) Resume() {
	s.change(func() { s.held, s.in.redraw, s.full.redraw = false, true, true })
}

// Close writes what is pending, takes the live area away (it stays when keep
// is set) and ends.
func (s *Screen) Close(keep bool) error {
	s.mu.Lock()
	closed := s.closed
	if !closed && s.want {
		s.next, s.want, s.dirty = false, false, true
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	s.mu.Unlock()
	if closed {
		return s.Err()
	}
	s.Hold(keep)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.wake)
	}
	return s.err
}
