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
}

func newModel(t *testing.T, z Size) *model {
	return &model{t: t, size: z, lines: [][]string{nil}, wrap: true}
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
	for n := len(m.lines) - 1; n > m.line && len(m.lines[n]) == 0; n-- {
		m.lines = m.lines[:n]
	}
	m.size = z
	total := 0
	for i := range m.lines {
		total += m.rows(i)
	}
	m.top = max(0, total-z.Rows)
	if r := m.row(); r < m.top {
		m.top = r
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
		m.at(m.row(), n-1)
	case 'K':
		m.lines[m.line] = m.lines[m.line][:min(m.cell, len(m.lines[m.line]))]
	case 'J':
		if n != 0 {
			m.t.Fatal("the screen was cleared")
		}
		m.lines[m.line] = m.lines[m.line][:min(m.cell, len(m.lines[m.line]))]
		m.lines = m.lines[:m.line+1]
	case 'L':
		m.split()
		n = max(n, 1)
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
