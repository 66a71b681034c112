package draw

import (
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
)

// Output returns what a program printed as lines: its colours and attributes
// (SGR) become styles, and everything else that Text takes out is out. Text
// in a color that hides it (SGR 8) is shown.
func Output(s string, base Style) []Line {
	if s == "" {
		return nil
	}
	if strings.IndexByte(s, 0x1b) < 0 {
		return Text(s, base)
	}
	st := base
	var out []Line
	s = strings.TrimSuffix(s, "\n")
	for raw := range strings.SplitSeq(s, "\n") {
		var l Line
		col := 0
		put := func(part string) {
			if part = clip.Clean(part); part == "" {
				return
			}
			part = tabs(part, col, outputTab)
			col += Width(part)
			if part = filter(part); part != "" {
				l = append(l, Span{Text: part, Style: st})
			}
		}
		raw, more := bounded(overwritten(raw), maxLine)
		for raw != "" {
			i := strings.IndexByte(raw, 0x1b)
			if i < 0 {
				put(raw)
				break
			}
			put(raw[:i])
			end := clip.Escape(raw, i)
			if seq := raw[i:end]; strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m") {
				st = sgr(seq[2:len(seq)-1], st, base)
			}
			raw = raw[end:]
		}
		out = append(out, append(l, more...))
	}
	return out
}

// overwritten returns what a carriage return leaves of a line: the text after
// the last one that has any, with the styles that were set before it.
func overwritten(s string) string {
	s = strings.TrimRight(s, "\r")
	i := strings.LastIndexByte(s, '\r')
	if i < 0 {
		return s
	}
	var kept strings.Builder
	for head := s[:i]; ; {
		j := strings.IndexByte(head, 0x1b)
		if j < 0 {
			break
		}
		end := clip.Escape(head, j)
		kept.WriteString(head[j:end])
		head = head[end:]
	}
	return kept.String() + s[i+1:]
}

// sgr returns st after the parameters p, of which only those that are listed
// here count.
func sgr(p string, st, base Style) Style {
	v, ok := parameters(p)
	if !ok {
		return st
	}
	for i := 0; i < len(v); i++ {
		switch n := v[i]; {
		case n == 0:
			st = base
		case n == 1:
			st.Attr |= Bold
		case n == 2:
			st.Attr |= Dim
		case n == 3:
			st.Attr |= Italic
		case n == 4 || n == 21:
			st.Attr |= Underline
		case n == 7:
			st.Attr |= Reverse
		case n == 9:
			st.Attr |= Strike
		case n == 22:
			st.Attr &^= Bold | Dim
		case n == 23:
			st.Attr &^= Italic
		case n == 24:
			st.Attr &^= Underline
		case n == 27:
			st.Attr &^= Reverse
		case n == 29:
			st.Attr &^= Strike
		case n >= 30 && n <= 37:
			st.Fg = Index(uint8(n - 30))
		case n >= 90 && n <= 97:
			st.Fg = Index(uint8(n - 90 + 8))
		case n >= 40 && n <= 47:
			st.Bg = Index(uint8(n - 40))
		case n >= 100 && n <= 107:
			st.Bg = Index(uint8(n - 100 + 8))
		case n == 39:
			st.Fg = base.Fg
		case n == 49:
			st.Bg = base.Bg
		case n == 38 || n == 48:
			c, used := extended(v[i+1:])
			i += used
			if n == 38 {
				st.Fg = c
			} else {
				st.Bg = c
			}
		}
	}
	return st
}

// parameters reads the numbers between ; and :, at most 32 of them.
func parameters(p string) ([]int, bool) {
	v := make([]int, 0, 8)
	n := 0
	for i := 0; i <= len(p); i++ {
		switch {
		case i == len(p) || p[i] == ';' || p[i] == ':':
			if len(v) == 32 {
				return nil, false
			}
			v = append(v, n)
			n = 0
		case p[i] >= '0' && p[i] <= '9':
			n = min(n*10+int(p[i]-'0'), 10_000)
		default:
			return nil, false
		}
	}
	return v, true
}

// extended reads the color after 38 or 48, and how many numbers it took.
func extended(v []int) (Color, int) {
	switch {
	case len(v) >= 2 && v[0] == 5 && v[1] < 256:
		return Index(uint8(v[1])), 2
	case len(v) >= 4 && v[0] == 2 && v[1] < 256 && v[2] < 256 && v[3] < 256:
		return RGB(uint8(v[1]), uint8(v[2]), uint8(v[3])), 4
	}
	return 0, len(v)
}
