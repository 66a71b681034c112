// Package ignore reads .gitignore patterns and says which paths they leave
// out, with git's own meaning down to its corners (wildmatch, byte by byte).
// It works on bytes it is given: it opens no file and walks no folder.
package ignore

import (
	"bytes"
	"strings"
)

// A Verdict is what a list of patterns says about a path.
type Verdict int

// Verdicts. Kept means a "!" pattern matched last.
const (
	None Verdict = iota
	Ignored
	Kept
)

// A List is the patterns of one file, in order. The zero List matches nothing.
type List struct {
	pats []pattern
	fold bool
}

// pattern is one line. A pattern without an inner slash is tried on the last
// component of a path, any other on the whole path below its folder.
type pattern struct {
	text    string
	plain   int // bytes before the first special character
	suffix  bool
	keep    bool
	dirOnly bool
	base    bool
}

// Parse reads the content of an ignore file. fold ignores the case of ASCII
// letters, as git does where core.ignorecase is set.
func Parse(b []byte, fold bool) List {
	l := List{fold: fold}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(b) {
		line, ended := bytes.CutSuffix(line, []byte("\n"))
		if ended || bytes.HasSuffix(line, []byte("\r")) {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if i := bytes.IndexByte(line, 0); i >= 0 {
			line = line[:i]
		}
		if p, ok := parseLine(trimBlanks(string(line))); ok {
			if fold {
				p.text = lower(p.text)
			}
			l.pats = append(l.pats, p)
		}
	}
	return l
}

// Empty reports whether the list has no patterns.
func (l List) Empty() bool { return len(l.pats) == 0 }

// trimBlanks drops trailing spaces, but not one after a backslash.
func trimBlanks(s string) string {
	end := -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if end < 0 {
				end = i
			}
		case '\\':
			i++
			if i == len(s) {
				return s
			}
			end = -1
		default:
			end = -1
		}
	}
	if end >= 0 {
		return s[:end]
	}
	return s
}

func parseLine(s string) (pattern, bool) {
	var p pattern
	s, p.keep = strings.CutPrefix(s, "!")
	s, p.dirOnly = strings.CutSuffix(s, "/")
	if s == "" {
		return p, false
	}
	p.base = !strings.Contains(s, "/")
	s = strings.TrimPrefix(s, "/")
	p.text = s
	p.plain = len(s)
	if i := strings.IndexAny(s, `*?[\`); i >= 0 {
		p.plain = i
	}
	p.suffix = p.base && strings.HasPrefix(s, "*") && !strings.ContainsAny(s[1:], `*?[\`)
	return p, true
}

// Match judges a path, slash-separated and relative to the folder the list
// belongs to. The last matching pattern wins. Whether a parent of the path is
// ignored is the caller's to ask first: nothing below it can be kept.
func (l List) Match(rel string, dir bool) Verdict {
	if len(l.pats) == 0 {
		return None
	}
	if l.fold {
		rel = lower(rel)
	}
	base := rel[strings.LastIndexByte(rel, '/')+1:]
	for i := len(l.pats) - 1; i >= 0; i-- {
		p := &l.pats[i]
		if p.dirOnly && !dir || !p.match(rel, base) {
			continue
		}
		if p.keep {
			return Kept
		}
		return Ignored
	}
	return None
}

func (p *pattern) match(rel, base string) bool {
	if p.base {
		switch {
		case p.plain == len(p.text):
			return base == p.text
		case p.suffix:
			return strings.HasSuffix(base, p.text[1:])
		case !strings.HasPrefix(base, p.text[:p.plain]):
			return false
		}
		return match(p.text, base, false)
	}
	// What stands before the first special character is compared first and
	// cut off, so a "**" right behind it counts as one at the start.
	if !strings.HasPrefix(rel, p.text[:p.plain]) {
		return false
	}
	if p.plain == len(p.text) {
		return len(rel) == p.plain
	}
	return match(p.text[p.plain:], rel[p.plain:], true)
}

func lower(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
