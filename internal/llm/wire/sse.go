package wire

import (
	"bytes"
	"errors"
	"io"
)

// maxEvent is the longest event, and the longest line, that is read, in bytes.
const maxEvent = 64 << 20

// ErrEventTooLong says that one event was longer than maxEvent.
var ErrEventTooLong = errors.New("one event of the stream is larger than 64 MB")

// An Event is one server-sent event. Its bytes are valid until the next call of Next.
type Event struct {
	Name []byte // the event field, nil when there was none
	Data []byte // the data lines, joined by line feeds
}

// errorEvent is the name of an event that says what went wrong.
var errorEvent = []byte("error")

// A reader reads server-sent events. It accepts LF, CRLF and CR line ends, a
// byte order mark, comments and unknown fields, and gives the last event even
// when the body ends without the blank line.
type reader struct {
	r          io.Reader
	buf        []byte
	start, end int // the unread bytes are buf[start:end]
	skipLF     bool
	begun      bool
	err        error
	joined     []byte
}

// newReader returns a reader of r.
func newReader(r io.Reader) *reader { return &reader{r: r, buf: make([]byte, 16<<10)} }

// Next returns the next event that has data. At the end of the body it
// returns io.EOF, and the error of the body when it broke.
func (s *reader) Next() (Event, error) {
	at := s.start // cursor; buf[s.start:at] belongs to the event being read
	var name, data span
	lines := 0
	s.joined = s.joined[:0]
	for {
		line, next, err := s.line(at)
		if err != nil {
			// line may have moved the bytes, but spans are relative to start.
			if err == io.EOF && lines > 0 {
				ev := s.event(name, data, lines)
				s.start = s.end
				return ev, nil
			}
			s.start = s.end
			return Event{}, err
		}
		if line.n == 0 {
			if lines > 0 {
				ev := s.event(name, data, lines)
				s.start = next
				return ev, nil
			}
			s.start, at = next, next
			name = span{}
			continue
		}
		at = next
		field, value := s.split(line)
		switch field {
		case fieldData:
			if lines == 1 {
				s.joined = append(s.joined, s.bytes(data)...)
			}
			if lines >= 1 {
				s.joined = append(append(s.joined, '\n'), s.bytes(value)...)
			}
			if len(s.joined) > maxEvent {
				return Event{}, ErrEventTooLong
			}
			data = value
			lines++
		case fieldEvent:
			name = value
		case fieldError:
			if lines == 0 && value.n > 0 {
				s.joined = append(s.joined[:0], s.bytes(value)...)
				s.start = at
				return Event{Name: errorEvent, Data: s.joined}, nil
			}
		case fieldNone:
			if lines == 0 && name.n == 0 { // nothing of this event is worth keeping
				s.start = at
			}
		}
	}
}

// A span is a piece of the buffer, relative to start.
type span struct{ at, n int }

func (s *reader) bytes(p span) []byte { return s.buf[s.start+p.at : s.start+p.at+p.n] }

func (s *reader) event(name, data span, lines int) Event {
	ev := Event{Data: s.bytes(data)}
	if lines > 1 {
		ev.Data = s.joined
	}
	if name.n > 0 {
		ev.Name = s.bytes(name)
	}
	return ev
}

const (
	fieldNone = iota
	fieldData
	fieldEvent
	fieldError
)

func (s *reader) split(line span) (int, span) {
	b := s.bytes(line)
	colon := bytes.IndexByte(b, ':')
	field, value := b, span{line.at + line.n, 0}
	if colon >= 0 {
		field = b[:colon]
		colon++
		if colon < len(b) && b[colon] == ' ' {
			colon++
		}
		value = span{line.at + colon, len(b) - colon}
	}
	switch string(field) {
	case "data":
		return fieldData, value
	case "event":
		return fieldEvent, value
	case "error": // llama.cpp's server has no event for an error, but a field
		return fieldError, value
	}
	return fieldNone, span{}
}

// line finds the line that begins at buf[at]. It returns the line relative to
// start and where the next one begins. Reading more may move the bytes; at is
// then moved along.
func (s *reader) line(at int) (span, int, error) {
	scanned := at
	for {
		if s.skipLF && at < s.end {
			if s.buf[at] == '\n' {
				at++
				if scanned < at {
					scanned = at
				}
			}
			s.skipLF = false
		}
		part := s.buf[scanned:s.end]
		lf := bytes.IndexByte(part, '\n')
		seg := part
		if lf >= 0 {
			seg = part[:lf]
		}
		if cr := bytes.IndexByte(seg, '\r'); cr >= 0 {
			s.begun = true
			stop := scanned + cr
			s.skipLF = true
			return span{at - s.start, stop - at}, stop + 1, nil
		}
		if lf >= 0 {
			s.begun = true
			stop := scanned + lf
			return span{at - s.start, stop - at}, stop + 1, nil
		}
		off, seen := at-s.start, s.end-s.start
		if s.err == nil {
			s.fill()
		}
		at, scanned = s.start+off, min(s.start+seen, s.end) // a byte order mark may have gone
		if s.err != nil && scanned == s.end {
			if at < s.end && s.err == io.EOF {
				return span{at - s.start, s.end - at}, s.end, nil
			}
			return span{}, at, s.err
		}
	}
}

// fill reads more bytes behind the unread ones.
func (s *reader) fill() {
	if s.end == len(s.buf) {
		if s.start > 0 && s.start >= len(s.buf)/2 {
			copy(s.buf, s.buf[s.start:s.end])
		} else {
			const limit = maxEvent + 64<<10
			if len(s.buf) >= limit {
				s.err = ErrEventTooLong
				return
			}
			size := 2 * len(s.buf)
			if size > 4<<20 { // at once all there may be: copies would cost more than pages that are never touched
				size = limit
			}
			grown := make([]byte, size)
			copy(grown, s.buf[s.start:s.end])
			s.buf = grown
		}
		s.end -= s.start
		s.start = 0
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.err = err
		}
		if n > 0 && !s.begun && s.end-s.start >= 3 {
			s.begun = true
			if bytes.HasPrefix(s.buf[s.start:s.end], []byte("\xEF\xBB\xBF")) {
				copy(s.buf[s.start:], s.buf[s.start+3:s.end])
				s.end -= 3
			}
		}
		if n > 0 || err != nil {
			return
		}
	}
	s.err = io.ErrNoProgress
}
