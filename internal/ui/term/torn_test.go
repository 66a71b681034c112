package term

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// A frame that was drawn on another size than it was made for: how far the next one
// has to go up, and what is printed again.
func TestArrived(t *testing.T) {
	for _, c := range []struct {
		on    Size
		again string
		climb int
	}{
		{Size{20, 10}, "two three", 1}, // it went too far up
		{Size{8, 10}, "", 0},           // as far as it had to
		{Size{5, 10}, "three", 2},      // a row of what was live stands above what it printed
		{Size{4, 10}, "three", 3},
	} {
		in := newInline(Size{20, 10})
		in.rewrap = true
		in.frame(nil, lines("one", "two"), lines(strings.Repeat("x", 15), "> "), Cursor{Row: 1, Col: 2})
		in.size = Size{10, 10}
		frame := in.frame(nil, lines("three"), lines("> "), Cursor{Col: 2})
		if got := strings.Join(strings.Fields(draw.TextOf(in.arrived(frame, c.on, 8))), " "); got != c.again || in.climb != c.climb {
			t.Errorf("on %v %q comes again, and the next frame goes up %d rows", c.on, got, in.climb)
		}
	}
}

func TestWalk(t *testing.T) {
	for _, c := range []struct {
		frame         string
		row           int
		up, down, end int
	}{
		{"text", 3, 0, 0, 3},
		{"\x1b[2A\rtext\x1b[B", 3, 2, -1, 2},
		{"\x1b[5A", 3, 3, -3, 0},            // the first row of the screen
		{"\x1b[5B", 8, 0, 1, 9},             // the last one
		{"a\r\nb\r\nc", 8, 0, 2, 9},         // it scrolls
		{"a\r\nb\r\nc\x1b[4A", 8, 2, -2, 5}, // what is above went up
		{"\x1b[38;2;1;2;3mA\x1b[0m\x1b[?7lB\x1b[3G", 3, 0, 0, 3},
		{"\x1b]2;\x1b[9A\x1b\\\x1b_G\n\x1b\\\x1b]9;\n\a", 3, 0, 0, 3}, // strings
		{"\x1b7\x1b[3Aimage\x1b8", 5, 3, 0, 5},
		{"\x1b", 5, 0, 0, 5}, {"\x1b[", 5, 0, 0, 5}, {"\x1b]", 5, 0, 0, 5},
	} {
		if up, down, end := walk([]byte(c.frame), c.row, 10); up != c.up || down != c.down || end != c.end {
			t.Errorf("%q goes %d up and ends %d down in row %d", c.frame, up, down, end)
		}
	}
}

// The first row of the live area has the mark wherever it goes.
func TestMarkOfTheFirstRow(t *testing.T) {
	m, in := newModel(t, Size{40, 10}), newInline(Size{40, 10})
	in.marks = true
	for _, c := range []struct {
		printed, live []draw.Line
		marks         int
	}{
		{nil, lines("> ", "foot"), 1},
		{nil, lines("> a", "foot"), 0},
		{nil, lines("spinner", "> a", "foot"), 1},
		{lines("said"), lines("spinner", "> a", "foot"), 1},
		{lines("said", "more"), lines("> a", "foot"), 1},
		{nil, lines("> a", "menu", "foot"), 1},
	} {
		frame := in.frame(nil, c.printed, c.live, Cursor{Row: len(c.live) - 2})
		m.write(frame)
		if n := strings.Count(string(frame), mark); n != c.marks {
			t.Errorf("%q has %d marks", frame, n)
		}
		if got := strings.Join(m.lines[m.mark], ""); got != strings.TrimRight(c.live[0].String(), " ") {
			t.Errorf("the mark is at %q", got)
		}
	}
	in.redraw = true
	if frame := in.frame(nil, nil, lines("> "), Cursor{}); !strings.Contains(string(frame), mark) {
		t.Errorf("%q has no mark", frame)
	}
}

// What a way out writes takes the mark back: it would have the rows from it on go
// with the next size, whoever wrote them.
func TestMarkIsTakenBack(t *testing.T) {
	term := &Terminal{}
	if out := string(term.ways()); strings.Contains(out, "133") {
		t.Errorf("%q", out)
	}
	term.modes.marks = true
	if out := string(term.ways()); !strings.Contains(out, unmark) {
		t.Errorf("%q", out)
	}
}

func TestWhoKnowsMarks(t *testing.T) {
	for name, want := range map[string]bool{"kitty(0.26.5)": true, "kitty(0.45.0)": true, "kitty(1.0.0)": true, "kitty(0.25.2)": false, "tmux 3.4": false, "XTerm(379)": false, "": false} {
		if got := marksOf(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
