package draw

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/clip"
)

const (
	// maxLine bounds one line of what a tool or a file brought, in bytes.
	maxLine = 16 << 10
	// maxMarks bounds the combining marks on one character.
	maxMarks = 4
	// outputTab is the columns of a tab in what a program printed.
	outputTab = 8
)

// String returns s as one line that is safe to draw: escape sequences,
// controls, bidirectional controls and unseen characters are gone, a line end
// is a space, marks that tower over their line are cut. At most maxLine bytes
// of s count.
func String(s string) string {
	if len(s) > maxLine {
		s, _ = bounded(s, maxLine)
		s += " ..."
	}
	if printable(s) {
		return s
	}
	s = strings.Join(strings.FieldsFunc(clip.Clean(s), func(r rune) bool { return r == '\n' }), " ")
	return filter(strings.ReplaceAll(s, "\t", "    "))
}

// Text returns s in a style, as lines that are safe to draw.
func Text(s string, st Style) []Line {
	if s == "" {
		return nil
	}
	s = strings.TrimSuffix(clip.Clean(s), "\n")
	out := make([]Line, 0, strings.Count(s, "\n")+1)
	for part := range strings.SplitSeq(s, "\n") {
		part, more := bounded(part, maxLine)
		l := Line{}
		if part != "" {
			l = append(l, Span{Text: filter(tabs(part, 0, outputTab)), Style: st})
		}
		out = append(out, append(l, more...))
	}
	return out
}

// bounded returns the first max bytes of s, and what says how many are missing.
func bounded(s string, max int) (string, Line) {
	if len(s) <= max {
		return s, nil
	}
	head, _ := clip.Head(s, max)
	return head, Line{S(fmt.Sprintf(" [%s more in this line]", clip.Size(int64(len(s)-len(head)))), Quiet)}
}

// Exact returns s as one line in which nothing is left out: what cannot be
// seen or would change how the rest reads is written as its escape, in the
// style Attention. It is for what a person decides about.
func Exact(s string, role Role) Line {
	if printable(s) {
		return Line{{Text: s, Style: Style{Role: role}}}
	}
	var out Line
	start := 0
	flush := func(end int) {
		if end > start {
			out = append(out, Span{Text: s[start:end], Style: Style{Role: role}})
		}
	}
	marks := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && n == 1
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		if !bad && r != ' ' && marks <= maxMarks && seen(r) || r == ' ' {
			i += n
			continue
		}
		flush(i)
		out = append(out, Span{Text: escape(r, s[i], bad), Style: Style{Role: Attention}})
		i += n
		start = i
	}
	flush(len(s))
	return out
}

// escape writes one character as Go would.
func escape(r rune, b byte, bad bool) string {
	switch {
	case bad:
		return fmt.Sprintf(`\x%02x`, b)
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// seen reports whether r has a shape of its own, whatever stands beside it.
func seen(r rune) bool {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return false
	case r < 0x7f:
		return true
	case r == 0x034f || r == 0x115f || r == 0x1160 || r == 0x17b4 || r == 0x17b5 || r == 0x3164 || r == 0xffa0 || r == 0x2800,
		r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe0fff:
		return false // letters, marks and symbols that are blank
	case r >= 0xe000 && r <= 0xf8ff: // signs of fonts made for terminals
		return true
	}
	return unicode.IsPrint(r)
}

// filter takes out of s, a clean line without tabs, what clip.Clean leaves to
// it: characters of no width but joiners where they join, and marks beyond
// maxMarks. What is unassigned becomes U+FFFD, other spaces become a space.
func filter(s string) string {
	if printable(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	marks := 0
	prev := rune(0)
	for i, r := range s {
		switch {
		case r < 0x7f && r >= 0x20:
			marks = 0
		case r >= 0xa1 && r < 0x300 && r != 0xad:
			marks = 0
		case r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me) && seen(r):
			if marks++; marks > maxMarks || prev == 0 {
				continue
			}
		case r == 0x200c || r == 0x200d || r == 0xfe0f:
			_, n := utf8.DecodeRuneInString(s[i:])
			next, _ := utf8.DecodeRuneInString(s[i+n:])
			if !joins(prev, r, next) {
				continue
			}
		case seen(r):
			marks = 0
		case unicode.Is(unicode.Zs, r):
			r, marks = ' ', 0
		case unicode.In(r, unicode.C, unicode.M, unicode.L, unicode.So, unicode.Zl, unicode.Zp):
			if r == 0x2800 {
				r = ' '
				break
			}
			continue
		default:
			r, marks = utf8.RuneError, 0
		}
		b = utf8.AppendRune(b, r)
		prev = r
	}
	return string(b)
}

// joins reports whether an unseen r does its work between prev and next: in an
// emoji, or between letters of a script that joins them.
func joins(prev, r, next rune) bool {
	if r == 0xfe0f {
		return emoji(prev) || next == 0x20e3
	}
	if r == 0x200d && (emoji(prev) || prev == 0xfe0f) && emoji(next) {
		return true
	}
	return joining(prev) && joining(next)
}

func emoji(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff || r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299 || r == 0xa9 || r == 0xae
}

func joining(r rune) bool { return r >= 0x0600 && r <= 0x0dff }

// tabs returns s with its tabs as spaces to the next multiple of stop; s
// begins at column col.
func tabs(s string, col, stop int) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\t')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		col += Width(s[:i])
		n := stop - col%stop
		b.WriteString(spaces(n))
		col += n
		s = s[i+1:]
	}
}
