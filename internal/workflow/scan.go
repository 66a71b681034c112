package workflow

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A kind is what a token of JavaScript is.
type kind uint8

const (
	end   kind = iota
	word       // a name or a keyword
	mark       // punctuation, one character each
	text       // a string in quotes, or a template without anything to be put in
	other      // a number, a regular expression, a template with something to be put in
	wrong      // what cannot be read
)

// A token is a piece of a source.
type token struct {
	kind kind
	s    string // as it stands in the source
	at   int    // where it begins, in bytes
}

// A scanner takes a source apart as far as that can be done without its grammar. Whether
// a slash divides or begins a regular expression, it tells from what stands before; that
// is wrong after a closing bracket that ends no value, which is rare.
type scanner struct {
	src    string
	at     int
	value  bool  // what stands before is a value: a slash divides
	braces []int // of templates that are open: how many braces are open within
}

// space is white space and comments.
func (s *scanner) space() {
	for s.at < len(s.src) {
		rest := s.src[s.at:]
		switch {
		case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "#!") && s.at == 0:
			n := strings.IndexAny(rest, "\n\r\u2028\u2029")
			if n < 0 {
				n = len(rest)
			}
			s.at += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				s.at = len(s.src)
				return
			}
			s.at += n + 4
		default:
			n := len(rest) - len(strings.TrimLeft(rest, " \t\n\r\v\f\u00a0\u2028\u2029\ufeff"))
			if n == 0 {
				return
			}
			s.at += n
		}
	}
}

// next is the token that follows.
func (s *scanner) next() token {
	s.space()
	t := token{at: s.at}
	if s.at >= len(s.src) {
		return t
	}
	switch c := s.src[s.at]; {
	case c == '\'' || c == '"':
		t.kind = s.quoted(c)
	case c == '`':
		s.at++
		t.kind = s.template(text)
	case letter(s.src[s.at:]) > 0:
		t.kind = word
		for n := letter(s.src[s.at:]); n > 0 || s.at < len(s.src) && digit(s.src[s.at]); n = letter(s.src[s.at:]) {
			s.at += max(n, 1)
		}
	case digit(c) || c == '.' && s.at+1 < len(s.src) && digit(s.src[s.at+1]):
		t.kind = other
		s.number()
	case c == '/' && !s.value:
		t.kind = s.pattern()
	case c == '}' && len(s.braces) > 0 && s.braces[len(s.braces)-1] == 0:
		s.at++
		s.braces = s.braces[:len(s.braces)-1]
		t.kind = s.template(other)
	default:
		t.kind = mark
		_, n := utf8.DecodeRuneInString(s.src[s.at:])
		s.at += n
		if n := len(s.braces); n > 0 && (c == '{' || c == '}') {
			s.braces[n-1] += map[byte]int{'{': 1, '}': -1}[c]
		}
	}
	t.s = s.src[t.at:s.at]
	switch t.kind {
	case word:
		s.value = !beforeValue[t.s]
	case mark:
		s.value = t.s == ")" || t.s == "]" || t.s == "}"
	default:
		s.value = true
	}
	return t
}

// beforeValue are keywords that a value follows.
var beforeValue = map[string]bool{
	"return": true, "typeof": true, "case": true, "do": true, "else": true, "in": true, "of": true, "instanceof": true, "new": true, "delete": true, "void": true,
	"throw": true, "await": true, "yield": true,
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// letter is the length of the letter of a name that s begins with, 0 for none.
func letter(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z' || s[0] == '$' || s[0] == '_':
		return 1
	case s[0] >= utf8.RuneSelf:
		_, n := utf8.DecodeRuneInString(s)
		return n
	}
	return 0
}

func (s *scanner) number() {
	for s.at < len(s.src) {
		c := s.src[s.at]
		sign := (c == '+' || c == '-') && strings.ContainsRune("eE", rune(s.src[s.at-1]))
		if !digit(c) && c != '.' && c != '_' && letter(s.src[s.at:]) != 1 && !sign {
			return
		}
		s.at++
	}
}

// quoted reads a string up to its closing quote.
func (s *scanner) quoted(quote byte) kind {
	for s.at++; s.at < len(s.src); s.at++ {
		switch s.src[s.at] {
		case quote:
			s.at++
			return text
		case '\\':
			s.at++
		case '\n', '\r':
			return wrong
		}
	}
	s.at = len(s.src)
	return wrong
}

// template reads a template from behind its opening quote, or from behind what was put
// in, up to its end or to the next that is put in.
func (s *scanner) template(whole kind) kind {
	for ; s.at < len(s.src); s.at++ {
		switch {
		case s.src[s.at] == '`':
			s.at++
			return whole
		case s.src[s.at] == '\\':
			s.at++
		case strings.HasPrefix(s.src[s.at:], "${"):
			s.at += 2
			s.braces = append(s.braces, 0)
			return mark // a value may follow
		}
	}
	s.at = len(s.src)
	return wrong
}

// pattern reads a regular expression.
func (s *scanner) pattern() kind {
	class := false
	for s.at++; s.at < len(s.src); s.at++ {
		switch s.src[s.at] {
		case '\\':
			s.at++
		case '[':
			class = true
		case ']':
			class = false
		case '\n', '\r':
			return wrong
		case '/':
			if class {
				continue
			}
			for s.at++; letter(s.src[s.at:]) == 1; s.at++ {
			}
			return other
		}
	}
	s.at = len(s.src)
	return wrong
}

// A SyntaxError is what is wrong with a script.
type SyntaxError struct {
	Line, Column int // from 1
	Text         string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Text)
}

// wrongAt says that something is wrong at a byte of a source.
func wrongAt(src string, at int, format string, args ...any) error {
	before := src[:min(at, len(src))]
	line := strings.Count(before, "\n")
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return &SyntaxError{line + 1, column + 1, fmt.Sprintf(format, args...)}
}
