// Package mention finds the files that a prompt names with "@". It looks at no
// disk.
package mention

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// A Mention is a file that a prompt names with "@".
type Mention struct {
	Path       string
	From, To   int // lines, from 1; 0 means no range, To 0 means only From
	Start, End int // the bytes of the prompt that it takes, with "@"
}

var ranges = pattern.Lazy(`^(.+?)(?::([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?|#L?([1-9][0-9]{0,8})(?:-L?([1-9][0-9]{0,8}))?)$`)

// In finds the files that a text names: @path, @path:10, @path:10-20,
// @path#L10-20, @path#10-20, and @"a path with spaces"#L3. An "@" inside a word is none, so
// that mail addresses stay what they are; punctuation after a path is not part of
// it. Whether a file exists is not looked at.
func In(text string) []Mention {
	var out []Mention
	before := ' '
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == '@' && opens(before) {
			if m, ok := mention(text, i); ok {
				out = append(out, m)
				i, before = m.End, 'x'
				continue
			}
		}
		before = r
		i += n
	}
	return out
}

// opens: an "@" after this character begins a mention.
func opens(before rune) bool {
	return unicode.IsSpace(before) || strings.ContainsRune(`([{<"'`+"`,;", before)
}

func mention(text string, start int) (Mention, bool) {
	m := Mention{Start: start}
	rest := text[start+1:]
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		name, after, closed := strings.Cut(quoted, `"`)
		if !closed || name == "" || strings.Contains(name, "\n") {
			return m, false
		}
		m.Path = name
		m.End = start + 1 + len(rest) - len(after)
		tail := after
		if i := strings.IndexFunc(after, unicode.IsSpace); i >= 0 {
			tail = after[:i]
		}
		tail = strings.TrimRight(tail, ".,;!?)]}>'\"")
		if g := ranges().FindStringSubmatch("x" + tail); g != nil && g[1] == "x" {
			m.setRange(g)
			m.End += len(tail)
		}
		return m, true
	}
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		rest = rest[:i]
	}
	rest = strings.TrimRight(rest, ".,;:!?)]}>'\"`")
	if rest == "" {
		return m, false
	}
	m.Path, m.End = rest, start+1+len(rest)
	if g := ranges().FindStringSubmatch(rest); g != nil {
		m.Path = g[1]
		m.setRange(g)
	}
	return m, true
}

func (m *Mention) setRange(g []string) {
	from, to := g[2]+g[4], g[3]+g[5]
	m.From, _ = strconv.Atoi(from)
	m.To, _ = strconv.Atoi(to)
	if m.To != 0 && m.To < m.From {
		m.From, m.To = m.To, m.From
	}
}

// String spells the mention, in quotes where it needs them.
func (m Mention) String() string {
	s := "@" + m.Path
	if strings.IndexFunc(m.Path, unicode.IsSpace) >= 0 || strings.TrimRight(m.Path, ".,;:!?)]}>'\"`") != m.Path || ranges().MatchString(m.Path) {
		s = `@"` + m.Path + `"`
	}
	switch {
	case m.From == 0:
		return s
	case m.To == 0:
		return s + "#L" + strconv.Itoa(m.From)
	}
	return s + "#L" + strconv.Itoa(m.From) + "-" + strconv.Itoa(m.To)
}

// SplitRange takes the range off what is typed after "@", so that the files can
// still be searched by the rest.
func SplitRange(query string) (name, lines string) {
	if g := ranges().FindStringSubmatch(query); g != nil {
		return g[1], query[len(g[1]):]
	}
	return query, ""
}

// InCode reports whether the byte at this place of a prompt stands in code: between
// backquotes of its line, or in a block with a fence.
func InCode(text string, at int) bool {
	fence := ""
	start := strings.LastIndexByte(text[:at], '\n') + 1
	for line := range strings.Lines(text[:start]) {
		line = strings.TrimSpace(line)
		for _, f := range []string{"```", "~~~"} {
			switch {
			case !strings.HasPrefix(line, f):
			case fence == "":
				fence = f
			case fence == f:
				fence = ""
			}
		}
	}
	return fence != "" || strings.Count(text[start:at], "`")%2 == 1
}
