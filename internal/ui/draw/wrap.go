package draw

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Cut returns the first at most width columns of l.
func (l Line) Cut(width int) Line {
	head, _ := l.split(width)
	return head
}

// Skip returns l without its first width columns. A wide character that
// stands across the edge goes.
func (l Line) Skip(width int) Line {
	head, rest := l.split(width)
	if head.Width() < width && len(rest) > 0 {
		_, rest = rest.split(2)
	}
	return rest
}

// split returns the longest head of l with at most width columns, and the rest.
func (l Line) split(width int) (head, rest Line) {
	for i, s := range l {
		n, w := prefix(s.Text, width)
		if n == len(s.Text) {
			width -= w
			continue
		}
		head = append(make(Line, 0, i+1), l[:i]...)
		if n > 0 {
			a := s
			a.Text = s.Text[:n]
			head = append(head, a)
		}
		s.Text = s.Text[n:]
		return head, append(Line{s}, l[i+1:]...)
	}
	return l, nil
}

// prefix returns the length in bytes of the longest prefix of s with at most
// width columns, and its columns. It reads no more of s than that.
func prefix(s string, width int) (n, w int) {
	if width <= 0 {
		return 0, 0
	}
	if head := s[:min(len(s), width+1)]; printable(head) {
		n = min(len(s), width)
		return n, n
	}
	g := displaywidth.StringGraphemes(s)
	for g.Next() {
		cols := g.Width()
		if w+cols > width {
			break
		}
		w += cols
		n += len(g.Value())
	}
	return n, w
}

// Truncate returns l with at most width columns; a cut ends in "…".
func (l Line) Truncate(width int, o Options) Line {
	if l.Width() <= width {
		return l
	}
	end := o.glyph(Ellipsis)
	head := l.Cut(max(width-Width(end), 0)).trimRight()
	out := append(make(Line, 0, len(head)+1), head...)
	if width >= Width(end) {
		st := Style{Role: Quiet}
		if len(head) > 0 {
			st.On = head[len(head)-1].On
		}
		out = append(out, Span{Text: end, Style: st})
	}
	return out
}

// Pad returns l with spaces to width columns.
func (l Line) Pad(width int) Line {
	n := width - l.Width()
	if n <= 0 {
		return l
	}
	st := Style{}
	if len(l) > 0 {
		st.On = l[len(l)-1].On
	}
	return append(append(make(Line, 0, len(l)+1), l...), Span{Text: spaces(n), Style: st})
}

// Beside returns left and right at the two edges of width columns. When there
// is no room for both, left is cut; when right alone does not fit, it goes.
func Beside(left, right Line, width int, o Options) Line {
	w := right.Width()
	if w == 0 || w+8 > width {
		return left.Truncate(width, o)
	}
	left = left.Truncate(width-w-1, o).Pad(width - w)
	return append(append(make(Line, 0, len(left)+len(right)), left...), right...)
}

// Wrap returns l as lines of at most width columns, broken between words
// where there are any. The lines after the first begin with hang.
func (l Line) Wrap(width int, hang ...Span) []Line {
	width = max(width, 1)
	if _, rest := l.split(width); len(rest) == 0 {
		return []Line{l}
	}
	in := Line(hang).Width()
	if in > width/2 {
		hang, in = nil, 0
	}
	var out []Line
	room := width
	for len(l) > 0 {
		head, rest := l.split(room)
		if len(rest) > 0 {
			if cut := breakAt(head, rest); cut > 0 {
				head, rest = head.bytes(cut), l.from(cut)
			}
			if len(head) == 0 { // one character is wider than the room
				g := displaywidth.StringGraphemes(l[0].Text)
				g.Next()
				head, rest = Line{{Text: "?", Style: l[0].Style}}, l.from(len(g.Value()))
			}
		}
		head = head.trimRight()
		if len(out) > 0 && len(hang) > 0 {
			head = append(append(make(Line, 0, len(hang)+len(head)), hang...), head...)
		}
		out = append(out, head)
		if len(rest) > 0 {
			rest = rest.trimLeft()
		}
		l, room = rest, width-in
	}
	return out
}

// breakAt returns after how many bytes of head a line can end, or 0 when no
// place is good: after a space, after a hyphen between letters, between wide
// characters.
func breakAt(head, rest Line) int {
	s := head.String()
	if next := rest[0].Text; next != "" && (next[0] == ' ' || next[0] >= 0x80 && wide(next)) {
		return len(s)
	}
	for i := len(s) - 1; i > 0; i-- {
		switch c := s[i]; {
		case c == ' ':
			if strings.TrimLeft(s[:i], " ") == "" {
				return 0 // only the indentation stands before it
			}
			return i + 1
		case c == '-' && i > 1 && letter(s[i-1]) && i+1 < len(s) && letter(s[i+1]):
			return i + 1
		case c >= 0x80 && c&0xc0 == 0xc0 && wide(s[i:]):
			return i
		}
	}
	return 0
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

// wide reports whether s begins with a character of two columns.
func wide(s string) bool {
	g := displaywidth.StringGraphemes(s)
	return g.Next() && g.Width() == 2
}

// bytes returns the first n bytes of l.
func (l Line) bytes(n int) Line {
	var out Line
	for _, s := range l {
		if n <= 0 {
			break
		}
		if len(s.Text) > n {
			s.Text = s.Text[:n]
		}
		n -= len(s.Text)
		out = append(out, s)
	}
	return out
}

// from returns l without its first n bytes.
func (l Line) from(n int) Line {
	for i, s := range l {
		if n < len(s.Text) {
			s.Text = s.Text[n:]
			return append(Line{s}, l[i+1:]...)
		}
		n -= len(s.Text)
	}
	return nil
}

func (l Line) trimRight() Line {
	for len(l) > 0 {
		s := l[len(l)-1]
		t := strings.TrimRight(s.Text, " ")
		if len(t) == len(s.Text) {
			return l
		}
		l = l[: len(l)-1 : len(l)-1]
		if t != "" {
			s.Text = t
			return append(l, s)
		}
	}
	return l
}

func (l Line) trimLeft() Line {
	for len(l) > 0 {
		t := strings.TrimLeft(l[0].Text, " ")
		if t != "" {
			if len(t) != len(l[0].Text) {
				s := l[0]
				s.Text = t
				return append(Line{s}, l[1:]...)
			}
			return l
		}
		l = l[1:]
	}
	return l
}

// WrapAll wraps each line.
func WrapAll(lines []Line, width int, hang ...Span) []Line {
	out := make([]Line, 0, len(lines))
	for _, l := range lines {
		out = append(out, l.Wrap(width, hang...)...)
	}
	return out
}

const blanks = "                                                                                                                                "

func spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}
