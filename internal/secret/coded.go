package secret

import (
	"bytes"
	"strings"
)

// A coded finds a key of a known shape inside of base64 text, where it begins at a
// byte whose place modulo 3 is align. Unlike the characters of a hash, what follows
// the prefix must decode to a run of the shape.
type coded struct {
	shape *shape // nil for a private key in PEM
	text  string // the prefix
	core  string // characters that the prefix alone decides
	skip  int    // bits of the prefix's first byte that core begins with
}

func newCoded(s *shape, text string, align int) *coded {
	core := newBase64(text, align).core
	first := (align*8 + 5) / 6
	return &coded{shape: s, text: text, core: core, skip: (8 - (first*6 - align*8)) % 8}
}

// codedShapes are the matchers of all shapes whose prefix is long enough.
func codedShapes(all []shape) (out []*coded) {
	for align := range 3 {
		out = append(out, newCoded(nil, keyBegin, align))
		for i := range all {
			if s := &all[i]; len(s.prefix) >= 4 || align == 0 {
				out = append(out, newCoded(s, s.prefix, align))
			}
		}
	}
	return out
}

func (m *coded) starts() []string { return []string{m.core[:3]} }

// maxCoded bounds what is decoded to tell a key, in bytes.
const maxCoded = 160

func (m *coded) match(b []byte, i int, _ [2]byte, final bool) found {
	rest := b[i:]
	if n := min(len(rest), 8, len(m.core)); string(rest[:n]) != m.core[:n] {
		return found{} // before it is worth decoding
	}
	have, ends, ended := decoded(rest, m.skip)
	ended = ended || final
	want := m.text
	if m.skip > 0 {
		want = want[1:] // of the first byte only a part is here
	}
	if n := min(len(have), len(want)); string(have[:n]) != want[:n] {
		return found{}
	} else if n < len(want) {
		return undecided(ended)
	}
	have, ends = have[len(want):], ends[len(want):]
	if m.shape == nil {
		return m.privateKey(rest, i, have, ends, ended)
	}
	n := 0
	for n < len(have) && m.shape.run[have[n]] {
		n++
	}
	over := n < len(have) || ended
	full := len(have) >= maxCoded-len(m.text)
	enough := n >= m.shape.least && (m.shape.check == nil || m.shape.check(have[:n]))
	if m.shape.exact {
		enough = enough && over && n == m.shape.least
	}
	switch {
	case enough && (over || full):
		f := found{state: yes, start: i, end: i + ends[n-1], goes: tail{class: base64Text}}
		return f.extended(b)
	case over || full || m.shape.exact && n > m.shape.least:
		return found{}
	}
	return found{state: more}
}

// wrapped is within how many bytes a line of wrapped base64 ends.
const wrapped = 80

// privateKey is the answer for a PEM block: its label tells whether it is secret. It
// goes on to the end of its line, and over the next ones where that is wrapped.
func (m *coded) privateKey(rest []byte, i int, have []byte, ends []int, ended bool) found {
	label, _, whole := bytes.Cut(have[:min(len(have), maxLabel+5)], []byte("-----"))
	switch {
	case whole && (bytes.HasSuffix(label, []byte("PRIVATE KEY")) || bytes.HasSuffix(label, []byte("PRIVATE KEY BLOCK"))):
	case whole || ended || len(have) >= maxLabel+5:
		return found{}
	default:
		return found{state: more}
	}
	if !ended && len(rest) < wrapped {
		return found{state: more}
	}
	f := found{state: yes, start: i, end: i + ends[len(label)+4], goes: tail{class: base64Text}}
	if bytes.IndexByte(rest[:min(len(rest), wrapped)], '\n') > 0 {
		f.goes.class = base64Lines
	}
	f.end += f.goes.take(rest[f.end-i:])
	return f
}

var (
	base64Text  = newClass("A-Za-z0-9+/_=-")
	base64Plus  = newClass("A-Za-z0-9+/=")
	base64Lines = newClass("A-Za-z0-9+/=\r\n")
)

// decoded reads base64 from the beginning of b, without the first skip bits, over the
// ends of lines: at most maxCoded bytes. ends is where each of them ends in b; ended
// says that something else than base64 follows.
func decoded(b []byte, skip int) (out []byte, ends []int, ended bool) {
	out, ends = make([]byte, 0, maxCoded), make([]int, 0, maxCoded)
	at, acc, bits := 0, 0, -skip
	for at < len(b) && len(out) < maxCoded {
		w := 0
		if at > 0 {
			w = wrap(b[at:])
		}
		if at+w >= len(b) {
			break
		}
		c, n, short := sextet(b[at+w:])
		if short {
			break
		}
		x := strings.IndexByte(alphabet, c)
		if n == 0 || x < 0 {
			return out, ends, true
		}
		at += w + n
		acc = acc<<6 | x
		if bits += 6; bits >= 8 {
			bits -= 8
			out, ends = append(out, byte(acc>>bits)), append(ends, at)
			acc &= 1<<bits - 1
		}
	}
	return out, ends, false
}
