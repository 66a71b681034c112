package term

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// liveArea is a status line, a box of the whole width, and a footer.
func liveArea(r *rand.Rand, cols int) ([]draw.Line, Cursor) {
	bar := strings.Repeat("─", max(cols-2, 0))
	in := fmt.Sprintf("│ › typed 漢字 %d", r.IntN(1000))
	box := draw.L(draw.S(in, draw.Plain)).Cut(max(cols-1, 1)).Pad(max(cols-1, 1))
	box = append(box, draw.S("│", draw.Border))
	out := []draw.Line{}
	for range r.IntN(3) {
		out = append(out, draw.L(draw.S(strings.Repeat("streaming tail ", r.IntN(12)), draw.Plain)).Cut(cols))
	}
	out = append(out, nil, draw.L(draw.S("╭"+bar+"╮", draw.Border)).Cut(cols), box, draw.L(draw.S("╰"+bar+"╯", draw.Border)).Cut(cols), draw.L(draw.S("footer", draw.Quiet)))
	return out, Cursor{Row: len(out) - 3, Col: min(draw.Width(in), cols-1)}
}

// What a person scrolls back to is what was said, once, whatever the sizes
// were meanwhile.
func TestScrollbackIsExactAfterResizes(t *testing.T) {
	slowtest.Alone(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		z := Size{80, 24}
		m, in := newModel(t, z), newInline(z)
		in.rewrap = true
		want := ""
		said := 0
		step := func() {
			var printed []draw.Line
			for range r.IntN(4) * r.IntN(3) * r.IntN(5) {
				said++
				l := draw.L(draw.S(fmt.Sprintf("%d said 漢字 é %s", said, strings.Repeat("words ", r.IntN(30))), draw.Plain)).Cut(in.size.Cols)
				printed = append(printed, l)
				want += strings.TrimRight(l.String(), " ") + "\n"
			}
			live, cur := liveArea(r, in.size.Cols)
			m.write(in.frame(nil, printed, live, cur))
		}
		for range 20 {
			for range r.IntN(5) {
				step()
			}
			z = Size{Cols: 30 + r.IntN(100), Rows: 20 + r.IntN(30)}
			for range 1 + r.IntN(3) { // several at once, of which one is drawn
				z = Size{Cols: 30 + r.IntN(100), Rows: 20 + r.IntN(30)}
				m.resize(z)
			}
			in.size = z
			step()
		}
		m.write(in.leave(nil, false))
		if got := m.text(); got != want {
			g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
			for i := range min(len(g), len(w)) {
				if g[i] != w[i] {
					t.Fatalf("seed %d: line %d of %d is\n%q, not\n%q", seed, i, len(w), g[i], w[i])
				}
			}
			t.Fatalf("seed %d: %d lines, not %d", seed, len(g), len(w))
		}
	}
}

// A frame that changed rows and arrived on another width than it was made for
// leaves nothing behind: what it printed is printed again in its place.
func TestChangesOnAnotherWidth(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		z := Size{80, 60}
		m, in := newModel(t, z), newInline(z)
		in.rewrap = true
		said := func(n int) draw.Line {
			return draw.L(draw.S(fmt.Sprintf("%d said %s.", n, strings.Repeat("words ", r.IntN(11))), draw.Plain))
		}
		live, cur := liveArea(r, z.Cols)
		all := []draw.Line{said(1), said(2), said(3)}
		m.write(in.frame(nil, all[:1], append([]draw.Line{all[1]}, live...), Cursor{Row: cur.Row + 1, Col: cur.Col}))
		z.Cols = 30 + r.IntN(100)
		m.resize(z)
		row := m.row() - m.top
		frame := in.frame(nil, all[1:], live, cur)
		m.write(frame)
		if z.Cols == 80 {
			continue
		}
		again := in.arrived(frame, z, row)
		in.size = z
		live, cur = liveArea(r, z.Cols)
		m.write(in.frame(nil, again, live, cur))
		m.write(in.leave(nil, false))
		want := ""
		for i, l := range all {
			rows := []draw.Line{l}
			if i > 0 {
				rows = l.Wrap(z.Cols)
			}
			for _, l := range rows {
				want += strings.TrimRight(l.String(), " ") + "\n"
			}
		}
		if got := m.text(); got != want {
			t.Fatalf("seed %d, %d columns:\n%s\nnot\n%s", seed, z.Cols, got, want)
		}
	}
}
