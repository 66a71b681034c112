package conf

import (
	"bytes"
	"fmt"
	"strings"
)

// parse reads git's configuration format and calls yield for each setting, with
// section and key in lower case and the value as it stands. What git would refuse is
// an error, as is everything this reader is not sure about.
func parse(b []byte, yield func(section, sub, key, value string)) error {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	s := &scanner{b: bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))}
	section, sub := "", ""
	for {
		c, ok := s.next()
		switch {
		case !ok:
			return nil
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
		case c == '#' || c == ';':
			s.line()
		case c == '[':
			var err error
			if section, sub, err = s.header(); err != nil {
				return err
			}
		case isAlpha(c):
			key, value, err := s.setting(c)
			if err != nil {
				return err
			}
			if section == "" {
				return fmt.Errorf("a setting stands before the first section")
			}
			yield(section, sub, key, value)
		default:
			return fmt.Errorf("unexpected character %q", c)
		}
	}
}

type scanner struct {
	b []byte
	i int
}

func (s *scanner) next() (byte, bool) {
	if s.i >= len(s.b) {
		return 0, false
	}
	s.i++
	return s.b[s.i-1], true
}

func (s *scanner) line() {
	for {
		if c, ok := s.next(); !ok || c == '\n' {
			return
		}
	}
}

// header reads what follows '[': name], name.sub] or name "sub"].
func (s *scanner) header() (section, sub string, err error) {
	var name strings.Builder
	for {
		c, ok := s.next()
		switch {
		case !ok || c == '\n':
			return "", "", fmt.Errorf("a section's name is not closed")
		case c == ']':
			section, sub, _ = strings.Cut(strings.ToLower(name.String()), ".")
			return section, sub, nil
		case c == ' ' || c == '\t':
			sub, err := s.subsection()
			return strings.ToLower(name.String()), sub, err
		case isAlpha(c) || c >= '0' && c <= '9' || c == '-' || c == '.':
			name.WriteByte(c)
		default:
			return "", "", fmt.Errorf("unexpected character %q in a section's name", c)
		}
	}
}

func (s *scanner) subsection() (string, error) {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t') {
		s.i++
	}
	if c, ok := s.next(); !ok || c != '"' {
		return "", fmt.Errorf("a subsection's name is not in quotes")
	}
	var sub strings.Builder
	for {
		c, ok := s.next()
		switch {
		case !ok || c == '\n':
			return "", fmt.Errorf("a subsection's name is not closed")
		case c == '"':
			if c, ok = s.next(); !ok || c != ']' {
				return "", fmt.Errorf("a section's name is not closed")
			}
			return sub.String(), nil
		case c == '\\':
			if c, ok = s.next(); !ok || c == '\n' {
				return "", fmt.Errorf("a subsection's name is not closed")
			}
		}
		sub.WriteByte(c)
	}
}

// setting reads "key", "key = value" with quotes, escapes, comments and
// continued lines as git does.
func (s *scanner) setting(first byte) (key, value string, err error) {
	k := []byte{first}
	for s.i < len(s.b) && (isAlpha(s.b[s.i]) || s.b[s.i] == '-' || s.b[s.i] >= '0' && s.b[s.i] <= '9') {
		k = append(k, s.b[s.i])
		s.i++
	}
	key = strings.ToLower(string(k))
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t') {
		s.i++
	}
	c, ok := s.next()
	switch {
	case !ok || c == '\n':
		return key, "true", nil
	case c == '#' || c == ';':
		s.line()
		return key, "true", nil
	case c != '=':
		return "", "", fmt.Errorf("unexpected character %q after %s", c, key)
	}
	value, err = s.value()
	return key, value, err
}

func (s *scanner) value() (string, error) {
	var v strings.Builder
	quoted := false
	for {
		c, ok := s.next()
		switch {
		case !ok || c == '\n':
			if quoted {
				return "", fmt.Errorf("a quote is not closed")
			}
			return strings.TrimSpace(v.String()), nil
		case !quoted && (c == '#' || c == ';'):
			s.line()
			return strings.TrimSpace(v.String()), nil
		case c == '"':
			quoted = !quoted
			continue
		case c == '\\':
			c, ok = s.next()
			if !ok {
				return "", fmt.Errorf("a backslash ends the file")
			}
			switch c {
			case '\n':
				continue
			case 't':
				c = '\t'
			case 'n':
				c = '\n'
			case 'b':
				c = '\b'
			case '\\', '"':
			default:
				return "", fmt.Errorf("unknown escape \\%c", c)
			}
		}
		v.WriteByte(c)
	}
}

func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
