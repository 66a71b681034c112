package draw

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/view"
)

// A hunk is a part of a unified diff.
type hunk struct {
	old, new int // the number of its first line on either side
	rows     []row
}

// A row is a line of a hunk: ' ', '+' or '-' and its text.
type row struct {
	mark byte
	text string
	line Line // drawn
}

// hunks reads a unified diff without file headers. What is none of its lines
// is left out.
func hunks(s string) []hunk {
	var out []hunk
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		if strings.HasPrefix(l, "@@") {
			h := hunk{old: 1, new: 1}
			f := strings.Fields(l)
			if len(f) > 2 {
				h.old, h.new = lineOf(f[1]), lineOf(f[2])
			}
			out = append(out, h)
			continue
		}
		if len(out) == 0 {
			if strings.HasPrefix(l, "---") || strings.HasPrefix(l, "+++") || l == "" {
				continue
			}
			out = append(out, hunk{old: 1, new: 1})
		}
		h := &out[len(out)-1]
		switch {
		case l == "":
			h.rows = append(h.rows, row{mark: ' '})
		case l[0] == ' ' || l[0] == '+' || l[0] == '-':
			h.rows = append(h.rows, row{mark: l[0], text: l[1:]})
		}
	}
	return out
}

// lineOf reads the line of "-12,3".
func lineOf(s string) int {
	s, _, _ = strings.Cut(strings.TrimLeft(s, "+-"), ",")
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 1
	}
	return n
}

// diffBlock draws a change: the numbers of lines, what went and what came, in
// the colours of the language, with the words that changed marked.
func diffBlock(b view.Diff, o Options) []Line {
	parts := hunks(clip.Clean(o.enough(b.Unified)))
	last := 0
	for _, h := range parts {
		last = max(last, h.old+len(h.rows), h.new+len(h.rows))
	}
	w := len(strconv.Itoa(last))
	var out []Line
	for i, h := range parts {
		if o.MaxLines > 0 && !o.Tail && len(out) > o.MaxLines {
			n := 0 // what is cut off anyway need not be drawn, but counted
			for _, rest := range parts[i:] {
				n += len(rest.rows) + 1
			}
			out = append(out, make([]Line, n)...)
			break
		}
		if i > 0 {
			out = append(out, L(Span{Text: spaces(w) + " "}, sign(o.glyph(Ellipsis), Hunk)))
		}
		h.color(b.Path, o)
		h.words()
		out = append(out, h.draw(w, o)...)
	}
	return o.Bound(out)
}

// color draws both sides of h in the colours of the language. Each side is
// read as a whole, because a string or a comment may go over its lines.
func (h *hunk) color(path string, o Options) {
	for _, side := range [...]byte{'-', '+'} {
		var b strings.Builder
		var at []int
		for i, r := range h.rows {
			if r.mark == ' ' || r.mark == side {
				b.WriteString(r.text)
				b.WriteByte('\n')
				at = append(at, i)
			}
		}
		lines := o.highlight(path, b.String())
		for i, n := range at {
			if i < len(lines) {
				h.rows[n].line = lines[i]
			}
		}
	}
}

// words marks what differs between lines that went and the lines that came
// in their place, where they are as many and have enough in common.
func (h *hunk) words() {
	for i := 0; i < len(h.rows); {
		j := i
		for j < len(h.rows) && h.rows[j].mark == '-' {
			j++
		}
		k := j
		for k < len(h.rows) && h.rows[k].mark == '+' {
			k++
		}
		if n := j - i; n > 0 && n == k-j {
			for x := range n {
				was, now := &h.rows[i+x], &h.rows[j+x]
				a, b := was.line.String(), now.line.String()
				if from, toA, toB, ok := middle(a, b); ok {
					was.line = was.line.marked(from, toA, RemovedWord)
					now.line = now.line.marked(from, toB, AddedWord)
				}
			}
		}
		i = max(k, i+1)
	}
}

// middle returns what two lines do not have in common at their ends, cut at
// the bounds of words, and whether what they share is worth the marking.
func middle(a, b string) (from, toA, toB int, ok bool) {
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	end := 0
	for end < len(a)-from && end < len(b)-from && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for from > 0 && (wordByte(a[from-1]) && (from < len(a) && wordByte(a[from]) || from < len(b) && wordByte(b[from]))) {
		from--
	}
	for end > 0 && wordByte(a[len(a)-end]) && (len(a)-end > from && wordByte(a[len(a)-end-1]) || len(b)-end > from && wordByte(b[len(b)-end-1])) {
		end--
	}
	toA, toB = len(a)-end, len(b)-end
	same := len(strings.TrimSpace(a[:from])) + len(strings.TrimSpace(a[toA:]))
	return from, toA, toB, same > 0 && same*3 >= max(len(strings.TrimSpace(a)), len(strings.TrimSpace(b))) && (toA > from || toB > from)
}

func wordByte(c byte) bool { return c == '_' || c >= '0' && c <= '9' || letter(c) }

// marked returns l with the bytes between from and to upon role.
func (l Line) marked(from, to int, role Role) Line {
	if from >= to {
		return l
	}
	mid := l.from(from).bytes(to - from)
	out := append(Line{}, l.bytes(from)...)
	for _, s := range mid {
		s.Style = Style{Role: role}
		out = append(out, s)
	}
	return append(out, l.from(to)...)
}

// draw returns the rows of h with their numbers and marks.
func (h *hunk) draw(w int, o Options) []Line {
	var out []Line
	was, now := h.old, h.new
	for _, r := range h.rows {
		n, role, mark := now, Plain, " "
		switch r.mark {
		case '-':
			n, role, mark = was, Removed, o.glyph(Minus)
			was++
		case '+':
			role, mark = Added, "+"
			now++
		default:
			was++
			now++
		}
		num := Span{Text: fmt.Sprintf("%*d ", w, n), Style: Style{Role: Quiet}}
		sign := Span{Text: mark + " ", Style: Style{Role: role}}
		room := o.width() - w - 3
		if room < 4 { // too narrow for numbers
			num, room = Span{}, o.width()-2
		}
		line := r.line
		if role == Removed { // what is gone is not read as code
			line = append(Line{}, line...)
			for i := range line {
				if line[i].Role != RemovedWord {
					line[i].Role = Removed
				}
			}
		}
		for i, part := range line.Wrap(max(room, 1)) {
			if i > 0 {
				num.Text = spaces(len(num.Text))
				sign.Text = "  "
			}
			row := append(Line{num, sign}, part...)
			if num.Text == "" {
				row = row[1:]
			}
			out = append(out, row.Cut(o.width()))
		}
	}
	return out
}
