package term

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/charmbracelet/x/vt"
)

// newVT returns a virtual terminal. It is asked nothing, because what it would
// answer nobody reads.
func newVT(t *testing.T, z Size) *vt.Emulator {
	t.Helper()
	e := vt.NewEmulator(z.Cols, z.Rows)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func newInline(z Size) *inline {
	th, _ := draw.Named("dark", true)
	return &inline{look: look{theme: th, profile: draw.Profile{Depth: draw.TrueColor}, sync: true}, size: z, slim: maxCols, row: -1}
}

func lines(s ...string) []draw.Line {
	var out []draw.Line
	for _, l := range s {
		out = append(out, draw.L(draw.S(l, draw.Plain)))
	}
	return out
}

// screen returns what the terminal holds: scrollback, then screen.
func screen(e *vt.Emulator) string {
	var b strings.Builder
	sb := e.Scrollback()
	for i := range sb.Len() {
		b.WriteString(strings.TrimRight(sb.Line(i).String(), " ") + "\n")
	}
	for row := range strings.SplitSeq(e.String(), "\n") {
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func TestPrintedOnceAboveTheLiveArea(t *testing.T) {
	e := newVT(t, Size{20, 6})
	r := newInline(Size{20, 6})
	put := func(printed, live []draw.Line, cur Cursor) {
		if _, err := e.Write(r.frame(nil, printed, live, cur)); err != nil {
			t.Fatal(err)
		}
	}
	put(nil, lines("> "), Cursor{Col: 2})
	put(lines("one", "two"), lines("> a"), Cursor{Col: 3})
	put(nil, lines("spinner", "> a", "foot"), Cursor{Row: 1, Col: 3})
	put(lines("3", "4", "5", "6", "7", "8", "9", "10"), lines("spinner 2", "> ab", "foot"), Cursor{Row: 1, Col: 4})
	put(nil, lines("> ab"), Cursor{Col: 4})
	want := "one\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n> ab\n"
	if got := screen(e); got != want {
		t.Errorf("the terminal holds\n%s\nwant\n%s", got, want)
	}
	if p := e.CursorPosition(); p.X != 4 || p.Y != 3 {
		t.Errorf("the cursor is at %v", p)
	}
}
