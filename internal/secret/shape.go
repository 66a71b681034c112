package secret

import (
	"bytes"
	"strings"
)

// A class is a set of bytes.
type class = *[256]bool

func newClass(chars string) class {
	var c [256]bool
	for i := 0; i < len(chars); i++ {
		if i+2 < len(chars) && chars[i+1] == '-' { // a range
			for x := int(chars[i]); x <= int(chars[i+2]); x++ {
				c[x] = true
			}
			i += 2
			continue
		}
		c[chars[i]] = true
	}
	return &c
}

var (
	word    = newClass("A-Za-z0-9_")
	alnum   = newClass("A-Za-z0-9")
	upper   = newClass("A-Z0-9")
	lowhex  = newClass("a-f0-9")
	token   = newClass("A-Za-z0-9_-")
	dashed  = newClass("A-Za-z0-9-")
	path    = newClass("A-Za-z0-9/")
	hook    = newClass("A-Za-z0-9/_-")
	lowdash = newClass("a-f0-9-")
	money   = newClass("a-z0-9$")
	tilde   = newClass("A-Za-z0-9_.~-")
	lowest  = newClass("a-z0-9")
	dotted  = newClass("A-Za-z0-9_.-")
	bearer  = newClass("A-Za-z0-9._~+/=-")
	padding = newClass("=")
	armour  = newClass("A-Za-z0-9+/=:,.() \t\r\n\\-")
)

// A tail is what may follow a secret and belong to it: a run of a class, or
// the rest of a private key up to its last line.
type tail struct {
	class class
	key   bool
	at    uint8 // in a key: how much of its end was seen
}

func (t *tail) on() bool { return t.class != nil }

const keyEnd = "-----END"

// take returns how much of b the tail covers; unless that is all of b, the
// tail is off.
func (t *tail) take(b []byte) int {
	for i, c := range b {
		if !t.class[c] {
			*t = tail{}
			return i
		}
		if t.key && t.keyByte(c) {
			*t = tail{}
			return i + 1
		}
	}
	return len(b)
}

// keyByte reports whether c is the last byte of a private key.
func (t *tail) keyByte(c byte) bool {
	switch {
	case t.at >= uint8(len(keyEnd)): // five dashes end the label
		if c != '-' {
			t.at = uint8(len(keyEnd))
			return false
		}
		t.at++
		return t.at == uint8(len(keyEnd))+5
	case c == keyEnd[t.at]:
		t.at++
	case c != '-':
		t.at = 0
	case t.at != 5: // five dashes and one more are still five dashes
		t.at = 1
	}
	return false
}

// extended takes what of b belongs to the tail.
func (f found) extended(b []byte) found {
	if f.goes.on() {
		f.end += f.goes.take(b[f.end:])
	}
	return f
}

// A shape is a kind of key that its issuer documents: a prefix and a run.
type shape struct {
	prefix string
	run    class
	least  int // length of the run
	exact  bool
	edge   bool // no word character stands before the prefix
	// check looks at the run, when its length is not enough; it must stay
	// true when the run goes on. At most maxRun bytes are looked at.
	check func(run []byte) bool
}

const maxRun = 512

func (s *shape) starts() []string { return []string{s.prefix[:3]} }

func (s *shape) match(b []byte, i int, before [2]byte, final bool) found {
	rest := b[i:]
	if n := min(len(rest), len(s.prefix)); string(rest[:n]) != s.prefix[:n] {
		return found{}
	} else if n < len(s.prefix) {
		return undecided(final)
	}
	if s.edge && !edge(before) {
		return found{}
	}
	rest = rest[len(s.prefix):]
	n, limit := 0, maxRun
	if s.exact {
		limit = s.least + 1
	}
	for n < len(rest) && n < limit && s.run[rest[n]] {
		n++
	}
	enough := n >= s.least && (s.check == nil || s.check(rest[:n]))
	switch ended := n < len(rest) || final; {
	case s.exact && n == s.least && enough && ended:
		return found{state: yes, start: i, end: i + len(s.prefix) + n}
	case !s.exact && enough:
		return found{state: yes, start: i, end: i + len(s.prefix) + n, goes: tail{class: s.run}}.extended(b)
	case ended || n >= limit:
		return found{}
	}
	return found{state: more}
}

func undecided(final bool) found {
	if final {
		return found{}
	}
	return found{state: more}
}

// edge reports whether a word may begin after these two bytes; the letter of
// an escape such as \n is no part of the word.
func edge(before [2]byte) bool {
	return !word[before[1]] || before[0] == '\\' && strings.IndexByte("nrt", before[1]) >= 0
}

// mixed is what a generated key looks like, unlike a word-with-dashes: it has
// capitals or several digits.
func mixed(run []byte) bool {
	digits := 0
	for _, c := range run {
		if c >= 'A' && c <= 'Z' {
			return true
		}
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits >= 3
}

// webToken checks what follows eyJ: two parts that both begin like an object
// in base64. What follows is the signature.
func webToken(run []byte) bool {
	dot := bytes.IndexByte(run, '.')
	return dot >= 8 && bytes.HasPrefix(run[dot+1:], []byte("eyJ")) && len(run) >= dot+12
}

// twoParts checks a SendGrid key.
func twoParts(run []byte) bool {
	dot := bytes.IndexByte(run, '.')
	return dot >= 16 && len(run) >= dot+17
}
