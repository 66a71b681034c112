package term

import (
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

// A model is a terminal that wraps its lines anew when its width changes, as
// most do and x/vt does not. It knows the sequences that inline writes and
// fails on any other.
type model struct {
	t     *testing.T
	size  Size
	lines [][]string // hard lines, each a list of cells; "" is the second half of a wide one
	line  int        // of the cursor
	cell  int
	top   int // the row that the screen begins with
	wrap  bool
	kind  string // "tmux", "kitty", or any other
	mark  int    // the last line that was marked, in kitty; -1: none
	// says is called with what the terminal answers.
	says func(reply)
}

func newModel(t *testing.T, z Size) *model {
	return &model{t: t, size: z, lines: [][]string{nil}, wrap: true, mark: -1}
}

// rows returns how many rows the line i takes.
func (m *model) rows(i int) int {
	return max(1, (len(m.lines[i])+m.size.Cols-1)/m.size.Cols)
}

// row returns the cursor's row, counted from the first of all.
func (m *model) row() int {
	n := 0
	for i := range m.line {
		n += m.rows(i)
	}
	return n + min(m.cell, max(m.rows(m.line)*m.size.Cols-1, 0))/m.size.Cols
}

// at puts the cursor on a row.
func (m *model) at(row, col int) {
	for i := 0; ; i++ {
		if i == len(m.lines) {
			m.lines = append(m.lines, nil)
		}
		if n := m.rows(i); row < n {
			m.line, m.cell = i, row*m.size.Cols+col
			return
		} else {
			row -= n
		}
	}
}

func (m *model) col() int { return m.cell % m.size.Cols }

// split makes a hard line of the rows of the cursor's from the cursor's row on.
func (m *model) split() {
	at := m.cell / m.size.Cols * m.size.Cols
	if l := m.lines[m.line]; at > 0 && at < len(l) {
		m.lines = slices.Insert(m.lines, m.line+1, slices.Clone(l[at:]))
		m.lines[m.line] = l[:at:at]
		m.line, m.cell = m.line+1, m.cell-at
	}
}

func (m *model) scroll() {
	if r := m.row(); r >= m.top+m.size.Rows {
		m.top = r - m.size.Rows + 1
	}
}

func (m *model) resize(z Size) {
	switch m.kind {
	case "tmux":
		m.resizeTmux(z)
		return
	case "kitty":
		m.blank()
	}
	for n := len(m.lines) - 1; n > m.line && len(m.lines[n]) == 0; n-- {
		m.lines = m.lines[:n]
	}
	before := m.lineAt(m.top)
	m.size = z
	total := m.total()
	first := 0
	if m.kind == "kitty" { // it takes nothing back out of the scrollback
		for i := range before {
			first += m.rows(i)
		}
	}
	m.top = max(first, total-z.Rows)
	if r := m.row(); r < m.top {
		m.top = r
	}
}

// total is how many rows there are, without empty ones that were never written to.
func (m *model) total() int {
	n := 0
	for i := range m.lines {
		n += m.rows(i)
	}
	return n
}

// lineAt returns the line that has a row.
func (m *model) lineAt(row int) int {
	for i := range m.lines {
		if row -= m.rows(i); row < 0 {
			return i
		}
	}
	return len(m.lines)
}

// blank empties the rows from the mark on, as kitty does before it wraps.
func (m *model) blank() {
	if m.mark < 0 || m.mark > m.line {
		return
	}
	for i := m.mark; i < len(m.lines); i++ {
		if m.lines[i] = nil; i <= m.line {
			m.lines[i] = []string{" "}
		}
	}
	m.cell = 0
}

// resizeTmux does what tmux 3.3 does: a screen that becomes lower loses the rows
// below the cursor first; empty rows below stay when lines are wrapped anew.
func (m *model) resizeTmux(z Size) {
	if by := m.size.Rows - z.Rows; by > 0 {
		gone := min(by, m.top+m.size.Rows-1-m.row())
		for end := m.top + m.size.Rows - gone; m.total() > end; {
			n := len(m.lines) - 1
			if keep := end - (m.total() - m.rows(n)); keep > 0 {
				m.lines[n] = m.lines[n][:min(keep*m.size.Cols, len(m.lines[n]))]
			} else {
				m.lines = m.lines[:n]
			}
		}
		m.top += by - gone
	} else {
		m.top = max(m.top+by, 0)
	}
	m.size.Rows = z.Rows
	empty := max(m.top+z.Rows-m.total(), 0)
	m.size.Cols = z.Cols
	if m.top = max(m.total()+empty-z.Rows, 0); m.row() < m.top {
		m.at(m.top, 0)
	}
}

func (m *model) write(b []byte) {
	for s := string(b); s != ""; {
		switch {
		case s[0] == '\r':
			m.at(m.row(), 0)
			s = s[1:]
		case s[0] == '\n':
			m.at(m.row()+1, m.col())
			m.scroll()
			s = s[1:]
		case strings.HasPrefix(s, mark):
			m.mark = m.line
			s = s[len(mark):]
		case strings.HasPrefix(s, "\x1b["):
			end := 2
			for s[end] < 0x40 || s[end] > 0x7e {
				end++
			}
			m.csi(s[2:end], s[end])
			s = s[end+1:]
		case s[0] == 0x1b || s[0] < 0x20:
			m.t.Fatalf("the terminal was sent %q", s[:min(8, len(s))])
		default:
			g := displaywidth.StringGraphemes(s)
			g.Next()
			m.put(g.Value(), g.Width())
			s = s[len(g.Value()):]
		}
	}
}

func (m *model) put(text string, w int) {
	if m.col()+w > m.size.Cols || m.cell > 0 && m.col() == 0 && m.cell == len(m.lines[m.line]) {
		m.t.Fatalf("%q does not fit at column %d of %d", text, m.col(), m.size.Cols)
	}
	for len(m.lines[m.line]) < m.cell+w {
		m.lines[m.line] = append(m.lines[m.line], " ")
	}
	m.lines[m.line][m.cell] = text
	if w == 2 {
		m.lines[m.line][m.cell+1] = ""
	}
	if m.cell += w; m.cell%m.size.Cols == 0 {
		m.cell-- // the cursor waits in the last column
	}
}

func (m *model) csi(args string, final byte) {
	n := 0
	for _, c := range args {
		if c >= '0' && c <= '9' {
			n = n*10 + int(c-'0')
		}
	}
	switch final {
	case 'A':
		m.at(max(m.row()-max(n, 1), m.top), m.col())
	case 'B':
		m.at(min(m.row()+max(n, 1), m.top+m.size.Rows-1), m.col())
	case 'G':
		m.at(m.row(), min(n, m.size.Cols)-1)
	case 'K':
		if m.col() == 0 {
			m.split()
		}
		m.lines[m.line] = m.lines[m.line][:min(m.cell, len(m.lines[m.line]))]
	case 'J':
		if n != 0 {
			m.t.Fatal("the screen was cleared")
		}
		m.lines[m.line] = m.lines[m.line][:min(m.cell, len(m.lines[m.line]))]
		m.lines = m.lines[:m.line+1]
		if m.mark > m.line {
			m.mark = -1
		}
	case 'n':
		m.says(reply{value: Size{Cols: m.col(), Rows: m.row() - m.top}})
	case 't':
		m.says(reply{size: true, value: m.size})
	case 'L':
		m.split()
		n = max(n, 1)
		if m.mark >= m.line {
			m.mark += n
		}
		for range n {
			m.lines = slices.Insert(m.lines, m.line, []string(nil))
		}
		{ // what falls off the screen is gone
			rows := 0
			for i := range m.lines {
				if rows += m.rows(i); rows > m.top+m.size.Rows {
					m.lines = m.lines[:i]
					break
				}
			}
		}
	case 'M':
		if m.mark > m.line {
			m.mark -= max(n, 1)
		}
		m.lines = slices.Delete(m.lines, m.line, min(m.line+max(n, 1), len(m.lines)))
		if m.line == len(m.lines) {
			m.lines = append(m.lines, nil)
		}
	case 'h', 'l', 'm':
	default:
		m.t.Fatalf("the terminal was sent CSI %s %c", args, final)
	}
}

// text returns all that the terminal holds, as hard lines.
func (m *model) text() string {
	var b strings.Builder
	for _, l := range m.lines {
		b.WriteString(strings.TrimRight(strings.Join(l, ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
