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
				if gone, came, ok := differ(was.line.String(), now.line.String()); ok {
					was.line = was.line.marked(gone, RemovedWord)
					now.line = now.line.marked(came, AddedWord)
				}
			}
		}
		i = max(k, i+1)
	}
}

// A stretch is the bytes of a line from one place up to another.
type stretch struct{ from, to int }

// maxTokens bounds the lines whose words are compared.
const maxTokens = 400

// differ returns the words of a that are not in b, and those of b that are not
// in a, in the order of the line; false when the lines share too little for
// that to help a reader.
func differ(a, b string) (gone, came []stretch, ok bool) {
	x, y := tokens(a), tokens(b)
	if len(x) > maxTokens || len(y) > maxTokens {
		return nil, nil, false
	}
	word := func(s string, t stretch) string { return s[t.from:t.to] }
	// same[i][j] is the weight of the tokens that x[i:] and y[j:] have in common.
	same := make([][]int, len(x)+1)
	for i := range same {
		same[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			same[i][j] = max(same[i+1][j], same[i][j+1])
			if w := word(a, x[i]); w == word(b, y[j]) {
				same[i][j] = max(same[i][j], same[i+1][j+1]+weight(w))
			}
		}
	}
	if ink := same[0][0] / inkWeight; a == b || ink == 0 || ink*3 < max(inked(a), inked(b)) {
		return nil, nil, false
	}
	for i, j := 0, 0; i < len(x) || j < len(y); {
		switch {
		case i < len(x) && j < len(y) && word(a, x[i]) == word(b, y[j]) && same[i][j] == same[i+1][j+1]+weight(word(a, x[i])):
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && same[i+1][j] >= same[i][j+1]:
			gone = joined(a, gone, x[i])
			i++
		default:
			came = joined(b, came, y[j])
			j++
		}
	}
	return gone, came, true
}

// inkWeight is what a byte that is no blank counts; a run of blanks counts 1, so
// that of two ways to compare lines the one that keeps blanks is taken.
const inkWeight = 2 * maxTokens

func weight(token string) int { return max(inkWeight*len(strings.TrimSpace(token)), 1) }

// inked is how many bytes of s are no blanks.
func inked(s string) int { return len(strings.Join(strings.Fields(s), "")) }

// joined adds t to list, to the last of it when only blanks stand between them.
func joined(s string, list []stretch, t stretch) []stretch {
	if n := len(list) - 1; n >= 0 && strings.TrimSpace(s[list[n].to:t.from]) == "" {
		list[n].to = t.to
		return list
	}
	return append(list, t)
}

// tokens cuts a line into words, blanks, and other characters one by one.
func tokens(s string) []stretch {
	var out []stretch
	class := func(i int) int {
		switch c := s[i]; {
		case wordByte(c) || c >= 0x80:
			return 1
		case c == ' ' || c == '\t':
			return 2
		}
		return 3
	}
	for i := 0; i < len(s); {
		j := i + 1
		for c := class(i); c < 3 && j < len(s) && class(j) == c; {
			j++
		}
		out = append(out, stretch{i, j})
		i = j
	}
	return out
}

func wordByte(c byte) bool { return c == '_' || c >= '0' && c <= '9' || letter(c) }

// marked returns l with some of its bytes in role.
func (l Line) marked(parts []stretch, role Role) Line {
	var out Line
	at := 0
	for _, p := range parts {
		out = append(out, l.from(at).bytes(p.from-at)...)
		for _, s := range l.from(p.from).bytes(p.to - p.from) {
			s.Style = Style{Role: role}
			out = append(out, s)
		}
		at = p.to
	}
	return append(out, l.from(at)...)
}

// draw returns the rows of h with their numbers and marks. The ground of lines
// that went and came is as wide as the widest of them.
func (h *hunk) draw(w int, o Options) []Line {
	var out []Line
	wide := 0
	for _, r := range h.rows {
		if r.mark != ' ' {
			wide = max(wide, r.line.Width())
		}
	}
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
		for i, part := range r.line.Wrap(max(room, 1)) {
			if i > 0 {
				num.Text = spaces(len(num.Text))
				sign.Text = "  "
			}
			row := append(Line{sign}, part...)
			if role != Plain {
				row = row.Pad(min(room, wide) + 2).On(role)
			}
			if num.Text != "" {
				row = append(Line{num}, row...)
			}
			out = append(out, row.Cut(o.width()))
		}
	}
	return out
}
