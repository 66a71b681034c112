package term

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// inline makes the bytes that bring a terminal from what it shows to what it
// shall show, in the terminal's own scrollback. It is pure but for its state:
// what it believes the terminal shows.
//
// Every row is a hard line, cut to the width, and written while the terminal
// does not wrap by itself, so that a row is one row whatever the terminal
// thinks of the width of a character.
type inline struct {
	look   look
	size   Size
	rewrap bool // the terminal wraps its lines anew when its width changes

	shown  []draw.Line // the live area as the terminal shows it
	at     Cursor      // where the terminal's cursor is, in the live area
	drawn  Size        // the size shown was drawn for
	redraw bool        // nothing of shown can be trusted but its place
	torn   bool        // the last frame was drawn on another size
	whole  bool        // the last frame wrote all rows
	asking bool        // a frame asks where the cursor is, before it moves it

	// Of the last frame: what was there before it, and the rows that it printed. said
	// are the rows printed before it, the newest last, at most maxKept.
	was    *inline
	placed []draw.Line
	said   []draw.Line
	// climb is how far down from the first row of the live area the cursor is after a
	// frame that was drawn on another size than it was made for, namely on on; 0: as
	// far as the rows above it are.
	climb int
	on    Size
	hurt  bool // parts of its rows may be missing

	// marks: the terminal leaves rows from a mark on alone when its size changes
	// (kitty). marked: the live area has one, after free rows.
	marks, marked bool
	free          int

	// fills: the terminal keeps the empty rows below when it wraps its lines anew, and
	// moves all else up (tmux). gap is how many rows are left empty above the live area
	// for that, and row the cursor's since the size is another, -1: nobody knows.
	fills    bool
	gap, row int
	slim     int // how wide the live area may be, meanwhile

	lost  string // what the terminal took of the live area into its scrollback, without blanks
	taken int    // lines of shown that it took since the last frame
	fresh string // of those, what lost has not yet
}

// look is how lines become bytes.
type look struct {
	theme   *draw.Theme
	profile draw.Profile
	sync    bool // the terminal draws a synchronized frame at once (mode 2026)
}

const (
	syncOn, syncOff   = "\x1b[?2026h", "\x1b[?2026l"
	wrapOff, wrapOn   = "\x1b[?7l", "\x1b[?7h"
	hideCur, showCur  = "\x1b[?25l", "\x1b[?25h"
	eraseRow, eraseDn = "\x1b[K", "\x1b[J"
	// eraseAll erases from the first column on, all below, too. It begins in the
	// second one: tmux keeps what is erased from the first place of a screen as
	// scrolled.
	eraseAll = eraseRow + "\x1b[2G" + eraseDn + "\r"
	// mark says that what is from this row on is drawn anew by who drew it when the
	// size changes, as a shell's prompt is. It is the mark of a further line of a
	// prompt, where nobody who looks for prompts stops. unmark takes that back.
	mark, unmark = "\x1b]133;A;k=s\x1b\\", "\x1b]133;A;k=s;redraw=0\x1b\\"
)

// frame returns the bytes that print lines above the live area, once, and make
// the live area look like next with the cursor at cur. It returns nil when
// the terminal shows that already.
func (r *inline) frame(dst []byte, printed, next []draw.Line, cur Cursor) []byte {
	next, cur = fit(next, cur, Size{Cols: min(r.size.Cols, r.slim), Rows: r.size.Rows})
	if len(next) == 0 {
		next = []draw.Line{nil} // the cursor needs a row
	}
	anew := r.redraw || r.torn || r.drawn != (Size{}) && r.drawn != r.size
	printed, next, cur = r.known(printed, next, cur)
	// What is printed most often stands in the first rows of the live area
	// already, so that the rows are not written again: they are left behind.
	all := make([]draw.Line, 0, len(printed)+len(next)+r.gap)
	for _, l := range printed {
		text := l.String()
		for _, row := range l.Wrap(r.size.Cols, draw.S(text[:len(text)-len(strings.TrimLeft(text, " "))], draw.Plain)) {
			all = append(all, trimmed(tidy(row)))
		}
	}
	above := len(all)
	gap := r.spread(above+len(next), anew)
	if gap > 0 {
		next = append(make([]draw.Line, gap, gap+len(next)), next...)
		cur.Row += gap
	}
	if !anew && len(printed) == 0 && cur == r.at && r.marked == r.marks && slices.EqualFunc(next, r.shown, same) {
		r.was = nil
		return dst
	}
	dst = r.look.begin(dst)
	if r.asking {
		dst = append(dst, askPlace...)
	}
	before := *r
	before.was, r.was = nil, &before
	r.said = append(r.said, r.placed...)
	r.said = r.said[max(len(r.said)-maxKept, 0):]
	if anew {
		dst = r.toTop(dst)
		dst = append(dst, eraseAll...) // rows that were wrapped must not stay so
		r.shown = nil
	}
	r.placed = all[:above:above]
	dst = r.changes(dst, append(all, next...))
	r.at.Row -= above
	grown := len(next) != len(before.shown)
	r.gap, r.row = gap, -1
	r.shown, r.drawn, r.redraw, r.torn, r.whole, r.climb, r.hurt, r.free = next, r.size, false, false, anew, 0, false, 0
	if r.marks && (anew || grown || above > 0 || !r.marked) {
		dst = append(r.move(dst, 0), mark...)
		r.marked = true
	}
	dst = r.move(dst, cur.Row)
	dst = column(dst, cur.Col)
	r.at = cur
	return r.look.end(dst, cur)
}

// maxKept is how many printed rows are kept, for those that a frame on another
// size may erase.
const maxKept = 64

func (k look) begin(dst []byte) []byte {
	if k.sync {
		dst = append(dst, syncOn...)
	}
	return append(append(dst, hideCur...), wrapOff...)
}

func (k look) end(dst []byte, cur Cursor) []byte {
	dst = append(dst, wrapOn...)
	if !cur.Hidden {
		dst = append(dst, showCur...)
	}
	if k.sync {
		dst = append(dst, syncOff...)
	}
	return dst
}

// changes writes the rows that differ from what is shown.
func (r *inline) changes(dst []byte, next []draw.Line) []byte {
	dst, old := r.shift(dst, next)
	for i, l := range next {
		if i < len(old) && same(l, old[i]) {
			continue
		}
		if i >= len(old) { // below, the screen is empty
			if i > 0 {
				dst = r.move(dst, i-1)
				dst = append(dst, "\r\n"...)
			}
			r.at.Row = i
			dst = r.look.theme.Append(dst, l, r.look.profile)
			continue
		}
		dst = r.move(dst, i)
		dst = append(dst, '\r')
		dst = r.look.row(dst, old[i], l, r.size.Cols)
	}
	if len(next) < len(old) {
		last := max(len(next)-1, 0)
		dst = r.move(dst, min(len(next), len(old)-1))
		dst = append(append(dst, '\r'), eraseDn...)
		dst = r.move(dst, last)
	}
	return dst
}

// shift moves the rows at the end that are the same before and after to where
// they shall be, by inserting or deleting rows above them. It returns the rows
// that the terminal shows then.
func (r *inline) shift(dst []byte, next []draw.Line) ([]byte, []draw.Line) {
	old, n := r.shown, 0
	for n < len(old) && n < len(next) && same(old[len(old)-1-n], next[len(next)-1-n]) {
		n++
	}
	by := len(next) - len(old)
	first := len(old) - n // of the rows that move
	// What scrolled off the screen could not be written any more; and what is
	// deleted from the first row of a screen, some terminals keep as scrolled.
	// A mark stays in the first row.
	if n < 2 || by == 0 || len(next) > r.size.Rows || first+by < 1 || r.marks && first == 0 {
		return dst, old
	}
	out := make([]draw.Line, 0, len(next))
	if by > 0 {
		dst = r.move(dst, len(old)-1)
		for range by {
			dst = append(dst, "\r\n"...)
		}
		r.at.Row += by
		dst = r.move(dst, first)
		dst = csi(append(dst, '\r'), by, 'L')
		out = append(append(out, old[:first]...), make([]draw.Line, by)...)
	} else {
		dst = r.move(dst, first+by)
		dst = csi(append(dst, '\r'), -by, 'M')
		out = append(out, old[:first+by]...)
	}
	return dst, append(out, old[first:]...)
}

// move goes to a row of the live area that is there.
func (r *inline) move(dst []byte, row int) []byte {
	switch n := row - r.at.Row; {
	case n < 0:
		dst = csi(dst, -n, 'A')
	case n > 0:
		dst = csi(dst, n, 'B')
	}
	r.at.Row = row
	return dst
}

// leave returns the bytes that end the live area: it is erased, or, when keep
// is set, stays, and the cursor stands below.
func (r *inline) leave(dst []byte, keep bool) []byte {
	moved := r.drawn != (Size{}) && r.drawn.Cols != r.size.Cols
	if keep && !moved && len(r.shown) > 0 {
		dst = r.move(dst, len(r.shown)-1)
		dst = append(dst, "\r\n"...)
	} else {
		dst = r.toTop(dst)
		dst = append(dst, eraseAll...)
	}
	r.shown, r.at, r.drawn, r.lost, r.marked, r.was = nil, Cursor{}, Size{}, "", false, nil
	r.gap = 0
	return append(dst, showCur...)
}

// row writes l over was, from the first column. The rest of the row is empty
// afterwards.
//
// A row that becomes shorter is erased from its first column on and written
// anew. Where only its end is erased, tmux goes on to count it as part of the
// row, and wraps it when the screen becomes narrower: the row is two then.
func (k look) row(dst []byte, was, l draw.Line, cols int) []byte {
	was, l = trimmed(was), trimmed(l).Cut(cols)
	if l.Width() < was.Width() || !narrow(l) || !narrow(was) { // of others, terminals may have another width
		if len(was) > 0 {
			dst = append(dst, eraseRow...)
		}
		return k.theme.Append(dst, l, k.profile)
	}
	if skip := alike(was, l); skip > 0 {
		dst = column(dst, skip)
		l, was = l.Skip(skip), was.Skip(skip)
	}
	if n, ok := changed(was, l); ok {
		l = l.Cut(n)
	}
	return k.theme.Append(dst, l, k.profile)
}

// tidy returns l without empty spans and with spans of one style as one.
func tidy(l draw.Line) draw.Line {
	good := true
	for i, s := range l {
		if s.Text == "" || i > 0 && s.Style == l[i-1].Style && s.Link == l[i-1].Link {
			good = false
		}
	}
	if good {
		return l
	}
	out := make(draw.Line, 0, len(l))
	for _, s := range l {
		if n := len(out) - 1; s.Text != "" && n >= 0 && s.Style == out[n].Style && s.Link == out[n].Link {
			out[n].Text += s.Text
		} else if s.Text != "" {
			out = append(out, s)
		}
	}
	return out
}

// fit cuts a live area to the size: each line to the width, and of too many
// lines those around the cursor stay, the last ones if they can.
func fit(lines []draw.Line, cur Cursor, size Size) ([]draw.Line, Cursor) {
	out := make([]draw.Line, len(lines))
	for i, l := range lines {
		out[i] = trimmed(tidy(l.Cut(size.Cols)))
	}
	cur.Row = max(min(cur.Row, len(out)-1), 0)
	cur.Col = max(min(cur.Col, size.Cols-1), 0)
	if over := len(out) - size.Rows; over > 0 {
		first := min(over, cur.Row)
		out = out[first : first+size.Rows]
		cur.Row -= first
	}
	return out, cur
}

// trimmed returns l without spaces at its end that nobody sees.
func trimmed(l draw.Line) draw.Line {
	for len(l) > 0 {
		s := l[len(l)-1]
		if s.On != draw.Plain || !s.Bg.None() || s.Attr&(draw.Reverse|draw.Underline|draw.Strike) != 0 || s.Role == draw.Selected || s.Role == draw.Match {
			return l
		}
		n := len(s.Text)
		for n > 0 && s.Text[n-1] == ' ' {
			n--
		}
		if n == len(s.Text) {
			return l
		}
		l = l[: len(l)-1 : len(l)-1]
		if n > 0 {
			s.Text = s.Text[:n]
			return append(l, s)
		}
	}
	return l
}

func same(a, b draw.Line) bool { return slices.Equal(a, b) }

// alike returns how many columns two lines have in common at their start,
// counting only characters of which every terminal thinks they are one column.
func alike(a, b draw.Line) int {
	n := 0
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i].Style != b[i].Style || a[i].Link != b[i].Link {
			break
		}
		s, t := a[i].Text, b[i].Text
		j, last := 0, 0 // the common bytes, and where the last character of them begins
		for j < len(s) && j < len(t) {
			c, size := utf8.DecodeRuneInString(s[j:])
			if !strings.HasPrefix(t[j:], s[j:j+size]) || !one(c) {
				break
			}
			last, j, n = j, j+size, n+1
		}
		if j == len(s) && j == len(t) {
			continue
		}
		if joins(s[j:]) || joins(t[j:]) { // to the character before it
			if j > last {
				n--
			}
		}
		break
	}
	return n
}

// joins reports whether s begins with what may be drawn into the character
// before it.
func joins(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && !one(r)
}

// one reports whether c is one column in every terminal: ASCII, Latin, common
// punctuation, arrows, box drawing and braille.
func one(c rune) bool {
	return c < 0x300 && c != 0xad || c >= 0x2010 && c <= 0x2027 || c >= 0x2190 && c <= 0x2193 || c >= 0x2500 && c <= 0x259f || c >= 0x2800 && c <= 0x28ff
}

// changed returns after how many columns two lines of one width are the same,
// when what comes before has the same width everywhere.
func changed(was, l draw.Line) (int, bool) {
	w := l.Width()
	if w != was.Width() || len(was) != len(l) {
		return 0, false
	}
	cut := 0
	for i := len(l) - 1; i >= 0; i-- {
		if l[i].Style != was[i].Style || l[i].Link != was[i].Link {
			break
		}
		s, t := l[i].Text, was[i].Text
		j := 0
		for j < len(s) && j < len(t) && s[len(s)-1-j] == t[len(t)-1-j] && s[len(s)-1-j] < 0x80 {
			j++
		}
		cut += j
		if j < len(s) || j < len(t) {
			break
		}
	}
	if cut < 8 || !narrow(l.Cut(w-cut)) || !narrow(was.Cut(w-cut)) {
		return 0, false
	}
	return w - cut, true
}

// narrow reports whether each character of l is one column in every terminal.
func narrow(l draw.Line) bool {
	for _, s := range l {
		for _, r := range s.Text {
			if !one(r) {
				return false
			}
		}
	}
	return true
}

func csi(dst []byte, n int, final byte) []byte {
	dst = append(dst, '\x1b', '[')
	if n != 1 {
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return append(dst, final)
}

func column(dst []byte, col int) []byte {
	if col == 0 {
		return append(dst, '\r')
	}
	return csi(dst, col+1, 'G')
}
