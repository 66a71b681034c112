package secret

import (
	"io"
	"strings"
	"unsafe"
)

// String returns s with every secret replaced by Masked. Without one it is s
// itself. In a text of up to 1 MiB it also finds values whose characters stand
// apart ("k e y"), which a stream cannot: its text is not there as a whole.
func (r *Redactor) String(s string) string {
	b := unsafe.Slice(unsafe.StringData(s), len(s)) // read only
	if out, changed := r.whole(b); changed {
		return out
	}
	return s
}

// Bytes is String for bytes; without a secret the result is b itself.
func (r *Redactor) Bytes(b []byte) []byte {
	if out, changed := r.whole(b); changed {
		return []byte(out)
	}
	return b
}

func (r *Redactor) whole(b []byte) (string, bool) {
	var out strings.Builder
	var s scanner
	changed := false
	ix := r.ix.Load()
	_, _ = s.scan(ix, b, true, func(p []byte, mask bool) error { // neither fails
		if changed = changed || mask; !changed && len(p) == len(b) {
			return nil
		}
		out.Write(p)
		if mask {
			out.WriteString(Masked)
		}
		return nil
	})
	if changed {
		text := out.String()
		b = unsafe.Slice(unsafe.StringData(text), len(text)) // read only
	}
	if text, more := withoutBodies(b); more {
		b, changed = unsafe.Slice(unsafe.StringData(text), len(text)), true // read only
		out.Reset()
		out.WriteString(text)
	}
	if text, more := ix.withoutApart(b); more {
		return text, true
	}
	return out.String(), changed
}

// A Writer hides secrets in what is written through it. It keeps back only
// what may be the beginning of a secret: of ordinary text a byte or two, and
// never more than the longest form of a value or 1 KiB, and of a word that may be
// base64 1 KiB more. It is for one goroutine.
type Writer struct {
	r    *Redactor
	w    io.Writer
	s    scanner
	keys bodies
	held []byte
	err  error
}

// Writer returns a writer that passes on to w. Flush must follow the last write.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{r: r, w: w} }

// Write never writes less than all of p without an error.
func (w *Writer) Write(p []byte) (int, error) {
	if err := w.run(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush passes on what was kept back. The writer can be used on.
func (w *Writer) Flush() error { return w.run(nil, true) }

func (w *Writer) run(p []byte, final bool) error {
	if w.err != nil {
		return w.err
	}
	b := p
	if len(w.held) > 0 {
		w.held = append(w.held, p...)
		b = w.held
	}
	n, err := w.s.scan(w.r.ix.Load(), b, final, w.emit)
	if err != nil {
		w.err = err
		return err
	}
	if final {
		if w.err = w.keys.take(nil, true, w.pass); w.err != nil {
			return w.err
		}
	}
	if rest := b[n:]; len(rest) > 0 || len(w.held) > 0 {
		w.held = append(w.held[:0], rest...)
	}
	return nil
}

func (w *Writer) emit(p []byte, mask bool) error {
	err := w.keys.take(p, false, w.pass)
	if mask && err == nil {
		err = w.keys.take([]byte(Masked), false, w.pass)
	}
	return err
}

func (w *Writer) pass(p []byte, mask bool) error {
	if len(p) > 0 {
		if _, err := w.w.Write(p); err != nil {
			return err
		}
	}
	if mask {
		_, err := io.WriteString(w.w, Masked)
		return err
	}
	return nil
}

// A scanner is what must be known of a text between two pieces of it.
type scanner struct {
	before [2]byte // what stood before the piece
	hidden int     // as much of the piece belongs to a secret that was replaced
	goes   tail    // and this may go on after it
}

// scan goes through b, which begins with what the last call left. emit gets
// what may be seen, and whether a secret follows it. It returns how much of b
// is done; the rest belongs to the beginning of the next piece.
func (s *scanner) scan(ix *index, b []byte, final bool, emit func(p []byte, mask bool) error) (int, error) {
	from := s.hidden // all before is passed on or hidden
	if s.goes.on() {
		from += s.goes.take(b[from:])
	}
	i, stop := 0, len(b)
	for {
		at, cands := ix.next(b, i)
		if cands == nil {
			if !final {
				stop = ix.wait(b, at)
			}
			break
		}
		best := s.best(cands, b, at, from, final)
		if best.state == more {
			stop = at
			break
		}
		if best.state == yes && best.end > from {
			if best.start >= from {
				if err := emit(b[from:best.start], true); err != nil {
					return 0, err
				}
			}
			from, s.goes = best.end, best.goes
		}
		i = at + 1
	}
	if from < stop {
		if err := emit(b[from:stop], false); err != nil {
			return 0, err
		}
	}
	s.hidden = max(0, from-stop)
	if from < len(b) || final {
		s.goes = tail{}
	}
	s.before = lastTwo(s.before, b[:stop])
	return stop, nil
}

// best tries the candidates at a place: the longest counts, and a longer one
// that may yet come. Inside of what is hidden already only values count, as
// one may reach beyond it.
func (s *scanner) best(cands []candidate, b []byte, at, from int, final bool) found {
	t := uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16
	var best found
	var x escape
	decoded := false
	for k := range cands {
		c := &cands[k]
		if c.trigram != t || !c.known && at < from {
			continue
		}
		if c.escape {
			if !decoded {
				x, decoded = unescape(b[at:], 0), true
			}
			if !x.short && x.text[0] != c.first {
				continue
			}
		}
		f := c.match.match(b, at, lastTwo(s.before, b[:at]), final)
		if f.state == more {
			return f
		}
		if f.state == yes && (best.state == no || f.end > best.end) {
			best = f
		}
	}
	return best
}

// lastTwo are the last two bytes of what stood before and b.
func lastTwo(before [2]byte, b []byte) [2]byte {
	switch n := len(b); n {
	case 0:
		return before
	case 1:
		return [2]byte{before[1], b[0]}
	default:
		return [2]byte{b[n-2], b[n-1]}
	}
}
