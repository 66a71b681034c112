package wire

import "bytes"

// A Scan walks one JSON value without building a tree. It is lenient about
// what it skips and strict about what it is asked for: after the first thing
// that is not as expected Bad is true and every further answer is empty.
// Strings come back as they stand between the quotes; see Text.AddJSON and
// Unquote.
type Scan struct {
	b   []byte
	i   int
	bad bool
}

// NewScan returns a Scan at the start of b.
func NewScan(b []byte) Scan { return Scan{b: b} }

// Bad reports whether something was not as expected.
func (s *Scan) Bad() bool { return s.bad }

func (s *Scan) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

func (s *Scan) peek() byte {
	s.space()
	if s.bad || s.i >= len(s.b) {
		s.bad = true
		return 0
	}
	return s.b[s.i]
}

// Object enters an object. When the value is something else it is skipped and
// Object is false.
func (s *Scan) Object() bool { return s.enter('{') }

// Array enters an array, as Object does.
func (s *Scan) Array() bool { return s.enter('[') }

func (s *Scan) enter(open byte) bool {
	if s.peek() == open {
		s.i++
		return true
	}
	s.Raw()
	return false
}

// Key moves to the next member of the entered object and returns its raw
// name. It is false after the last one.
func (s *Scan) Key() ([]byte, bool) {
	c := s.peek()
	if c == ',' {
		s.i++
		c = s.peek()
	}
	if c == '}' {
		s.i++
		return nil, false
	}
	k, ok := s.str()
	if !ok || s.peek() != ':' {
		s.bad = true
		return nil, false
	}
	s.i++
	return k, true
}

// Elem moves to the next element of the entered array and is false after the
// last one.
func (s *Scan) Elem() bool {
	c := s.peek()
	if c == ',' {
		s.i++
		c = s.peek()
	}
	if c == ']' {
		s.i++
		return false
	}
	return !s.bad
}

// Str returns the string at the cursor as it stands between the quotes. Any
// other value is skipped and ok is false.
func (s *Scan) Str() (raw []byte, ok bool) {
	if s.peek() != '"' {
		s.Raw()
		return nil, false
	}
	return s.str()
}

func (s *Scan) str() ([]byte, bool) {
	if s.bad || s.i >= len(s.b) || s.b[s.i] != '"' {
		s.bad = true
		return nil, false
	}
	start := s.i + 1
	for i := start; ; {
		q := bytes.IndexByte(s.b[i:], '"')
		if q < 0 {
			s.bad = true
			return nil, false
		}
		q += i
		n := 0
		for q-1-n >= start && s.b[q-1-n] == '\\' {
			n++
		}
		if n%2 == 0 {
			s.i = q + 1
			return s.b[start:q], true
		}
		i = q + 1
	}
}

// Int returns the number at the cursor without its fraction, 0 for any other value.
func (s *Scan) Int() int {
	raw := s.Raw()
	neg := len(raw) > 0 && raw[0] == '-'
	if neg {
		raw = raw[1:]
	}
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' || n > 1<<50 {
			break
		}
		n = n*10 + int(c-'0')
	}
	if neg {
		return -n
	}
	return n
}

// Raw skips the value at the cursor and returns its bytes.
func (s *Scan) Raw() []byte {
	c := s.peek()
	start := s.i
	switch c {
	case '"':
		s.str()
	case '{', '[':
		s.nested()
	default:
		for s.i < len(s.b) {
			switch s.b[s.i] {
			case ',', '}', ']', ' ', '\t', '\n', '\r':
				goto done
			}
			s.i++
		}
	done:
		if s.i == start {
			s.bad = true
		}
	}
	if s.bad {
		return nil
	}
	return s.b[start:s.i]
}

func (s *Scan) nested() {
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			if _, ok := s.str(); !ok {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				s.i++
				return
			}
		}
		s.i++
	}
	s.bad = true
}
