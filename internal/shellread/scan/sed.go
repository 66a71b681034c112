// Package scan reads programs of the small languages that filters carry (sed,
// awk, jq, yq) and says why one does more than print. It knows no shell and no
// files, and refuses what it does not understand.
package scan

import "strings"

// Sed reads a script of sed; it returns why it does more than print, ""
// when it does not. What it does not know is refused.
func Sed(s string) string {
	p := &sedReader{s: s}
	for {
		p.skip(" \t\n;")
		if p.done() {
			return ""
		}
		if why := p.command(); why != "" {
			return why
		}
	}
}

type sedReader struct {
	s string
	i int
}

func (p *sedReader) done() bool { return p.i >= len(p.s) }

func (p *sedReader) peek() byte {
	if p.done() {
		return 0
	}
	return p.s[p.i]
}

func (p *sedReader) skip(set string) {
	for !p.done() && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *sedReader) command() string {
	if why := p.addresses(); why != "" {
		return why
	}
	p.skip(" \t")
	for p.peek() == '!' {
		p.i++
		p.skip(" \t")
	}
	c := p.peek()
	p.i++
	switch c {
	case '{', '}', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
		return p.end(c)
	case '#':
		p.line()
		return ""
	case 'q', 'Q', 'l', 'L':
		p.skip(" \t0123456789")
		return p.end(c)
	case ':', 'b', 't', 'T':
		p.skip(" \t")
		for !p.done() && strings.IndexByte(" \t;\n}", p.peek()) < 0 {
			p.i++
		}
		return p.end(c) // some seds go on with a command behind a blank
	case 'a', 'i', 'c':
		p.text()
		return ""
	case 's':
		return p.substitute()
	case 'y':
		if d := p.peek(); d == 0 || d == '\n' || d == '\\' || !p.until(d) || !p.until(d) {
			return "a y command of sed that is not closed"
		}
		p.i++
		return p.end(c)
	case 'w', 'W':
		return "sed's " + string(c) + " command writes a file"
	case 'r', 'R':
		return "sed's " + string(c) + " command reads a file"
	case 'e':
		return "sed's e command runs a program"
	case 0:
		return "an address of sed without a command"
	}
	return "the sed command " + string(c) + " is not known"
}

// end checks that nothing but the next command follows.
func (p *sedReader) end(c byte) string {
	p.skip(" \t")
	if p.done() || c == '{' || c == '}' {
		return ""
	}
	switch p.peek() {
	case ';', '\n':
		p.i++
		return ""
	case '}', '#':
		return ""
	}
	return "the text behind sed's " + string(c) + " is not known"
}

func (p *sedReader) line() {
	for !p.done() && p.peek() != '\n' {
		p.i++
	}
}

// text skips the text of a, i and c: to the end of the line, over escaped
// newlines.
func (p *sedReader) text() {
	for !p.done() && p.peek() != '\n' {
		if p.peek() == '\\' {
			p.i++
		}
		p.i++
	}
}

// until skips to the delimiter behind the one at i. Seds differ on one inside
// brackets and on what goes over a line's end.
func (p *sedReader) until(d byte) bool {
	p.i++
	bracket := false
	for !p.done() {
		switch c := p.peek(); {
		case c == '\\':
			p.i++
		case c == d:
			return !bracket
		case c == '\n':
			return false
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		}
		p.i++
	}
	return false
}

func (p *sedReader) addresses() string {
	for n := 0; n < 2; n++ {
		p.skip(" \t")
		switch c := p.peek(); {
		case c >= '0' && c <= '9':
			p.skip("0123456789")
			p.skip(" \t")
			if p.peek() == '~' {
				p.i++
				p.skip("0123456789")
			}
		case n == 1 && (c == '+' || c == '~'):
			p.i++
			p.skip("0123456789")
		case c == '$':
			p.i++
		case c == '/' || c == '\\':
			d := c
			if c == '\\' {
				if p.i++; p.done() {
					return "an address of sed that is not closed"
				}
				d = p.peek()
			}
			if d == '\n' || d == '\\' || !p.until(d) {
				return "an address of sed that is not closed"
			}
			p.i++
			p.skip("IM")
		default:
			if n == 1 {
				return "an address of sed that is not known"
			}
			return ""
		}
		p.skip(" \t")
		if n == 0 {
			if p.peek() != ',' {
				return ""
			}
			p.i++
		}
	}
	return ""
}

// substitute reads s/…/…/flags.
func (p *sedReader) substitute() string {
	d := p.peek()
	if d == 0 || d == '\n' || d == '\\' || d >= 0x80 || !p.until(d) || !p.until(d) {
		return "an s command of sed that is not closed"
	}
	p.i++
	for !p.done() {
		switch c := p.peek(); {
		case c == 'g' || c == 'p' || c == 'i' || c == 'I' || c == 'm' || c == 'M' || c >= '0' && c <= '9':
			p.i++
		case c == 'e':
			return "the flag e of sed's s command runs a program"
		case c == 'w':
			return "the flag w of sed's s command writes a file"
		default:
			return p.end('s')
		}
	}
	return ""
}
