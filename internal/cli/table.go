package cli

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// A table is text in columns, which are separated by tabs. Flush writes it.
type table struct {
	bytes.Buffer
	out   io.Writer
	width int // that its lines have at most, in characters; 0 is any
	whole int // columns in front that are cut last: names that a person types
}

// table writes columns to stdout: cut to its width at a terminal, whole elsewhere,
// because programs read them there, unless they ask for a width.
func (s System) table() *table {
	t := &table{out: s.Stdout}
	if s.OutTTY || s.asked() > 0 {
		t.width = s.columns()
	}
	return t
}

const (
	columnsVariable = "ADZE_COLUMNS"
	leastColumns    = 20
)

// asked is the width that a program asks for that reads what is drawn; 0 for none.
func (s System) asked() int {
	n, err := strconv.Atoi(s.Env(columnsVariable))
	if s.OutTTY || err != nil {
		return 0
	}
	return max(n, leastColumns)
}

const (
	tableGap = 2  // blanks between columns
	leastCol = 12 // characters that a column keeps where not all have room
)

// Flush writes what there is.
func (t *table) Flush() error {
	text := t.String()
	t.Reset()
	if t.width > 0 {
		text = fitted(text, t.width, t.whole)
	}
	var out bytes.Buffer // the tabwriter writes each cell
	w := tabwriter.NewWriter(&out, 0, 4, tableGap, ' ', 0)
	_, _ = io.WriteString(w, text)
	_ = w.Flush()
	_, err := t.out.Write(out.Bytes())
	return err
}

// fitted cuts cells until no line is wider: those of the widest columns first, and
// those of the whole columns in front last. A line without a tab is no part of the
// table.
func fitted(text string, width, whole int) string {
	lines := strings.Split(text, "\n")
	var cols []int
	for _, l := range lines {
		cells := strings.Split(l, "\t")
		for i, c := range cells {
			if len(cells) > 1 {
				cols = append(cols, make([]int, max(0, i+1-len(cols)))...)
				cols[i] = max(cols[i], utf8.RuneCountInString(c))
			}
		}
	}
	total := tableGap * max(0, len(cols)-1)
	for _, n := range cols {
		total += n
	}
	for ; total > width; total-- {
		widest := min(whole, len(cols)-1)
		for i := widest + 1; i < len(cols); i++ {
			if cols[i] > cols[widest] {
				widest = i
			}
		}
		switch {
		case cols[widest] > leastCol:
			cols[widest]--
		case whole > 0:
			whole, total = 0, total+1 // those in front, too
		default:
			total = width // a terminal this narrow wraps
		}
	}
	for i, l := range lines {
		cells := strings.Split(l, "\t")
		for k, c := range cells {
			if len(cells) > 1 {
				cells[k] = cutCell(c, cols[k])
			}
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

// cutCell cuts a text: a path in front, as its end says more.
func cutCell(s string, width int) string {
	r := []rune(s)
	switch {
	case len(r) <= width:
		return s
	case strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/"):
		return "…" + string(r[len(r)-width+1:])
	}
	return string(r[:width-1]) + "…"
}
