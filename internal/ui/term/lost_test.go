package term

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// A screen that becomes so small that the live area does not fit any more takes
// rows of it into the scrollback. What of a reply went there does not come again.
func TestRowsThatTheTerminalTook(t *testing.T) {
	slowtest.Alone(t)
	for seed := range uint64(200) {
		if !slowtest.Due(fmt.Sprint("rows ", seed)) {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 11))
		m, in := newModel(t, Size{80, 24}), newInline(Size{80, 24})
		in.rewrap = true
		var tail []string // words of a paragraph that is not printed yet
		words := 0
		draws := func(final bool) {
			l := draw.L(draw.S(strings.Join(tail, " "), draw.Plain))
			text := append(draw.Indent(l.Wrap(in.size.Cols-2), draw.S("  ", draw.Plain)), nil)
			var printed, live []draw.Line
			if final {
				printed, tail = text, nil
			} else if len(tail) > 0 {
				live = text
			}
			bar := strings.Repeat("─", in.size.Cols-2)
			live = append(live, draw.L(draw.S(fmt.Sprintf("⠹ %d s", words), draw.Quiet)), draw.L(draw.S("╭"+bar+"╮", draw.Border)),
				draw.L(draw.S("│ ›", draw.Border)), draw.L(draw.S("╰"+bar+"╯", draw.Border)))
			m.write(in.frame(nil, printed, live, Cursor{Row: len(live) - 2, Col: 4}))
		}
		for range 20 {
			for range 1 + r.IntN(4) {
				for range r.IntN(12) {
					words++
					tail = append(tail, fmt.Sprintf("w%dw", words))
				}
				draws(len(tail) > 25)
			}
			in.size = Size{Cols: 24 + r.IntN(90), Rows: 12 + r.IntN(20)}
			m.resize(in.size)
			in.place(m.row() - m.top)
			draws(false)
		}
		draws(true)
		m.write(in.leave(nil, false))
		text := m.text()
		next := 1
		for _, w := range regexp.MustCompile(`w\d+w`).FindAllString(text, -1) {
			if w != fmt.Sprintf("w%dw", next) {
				t.Fatalf("seed %d: after word %d comes %s:\n%s", seed, next-1, w, text)
			}
			next++
		}
		if next != words+1 {
			t.Fatalf("seed %d: %d words of %d:\n%s", seed, next-1, words, text)
		}
	}
}
