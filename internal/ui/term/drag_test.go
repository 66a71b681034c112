package term

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// A window is a terminal that somebody drags while it is drawn on: it has another
// size at any time, also while a frame is on its way to it.
type window struct {
	*model
	mu   sync.Mutex
	r    *rand.Rand
	left int // how many sizes are still to come
	lows int // the fewest rows
	s    *Screen
	told func(time.Duration)
}

func (w *window) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.r.IntN(3) == 0 {
		w.drag()
	}
	w.says = w.s.replied
	w.write(b)
	if w.r.IntN(6) == 0 {
		w.drag()
	}
	return len(b), nil
}

// drag gives it another size.
func (w *window) drag() {
	if w.left == 0 {
		return
	}
	w.left--
	z := Size{Cols: 60 + w.r.IntN(50), Rows: w.lows + w.r.IntN(20)}
	if w.r.IntN(2) == 0 { // a hand moves little by little
		z = Size{Cols: max(w.size.Cols+w.r.IntN(9)-4, 60), Rows: max(w.size.Rows+w.r.IntN(3)-1, w.lows)}
	}
	w.resize(z)
	if w.told != nil {
		go w.told(time.Duration(w.r.IntN(30)) * time.Millisecond)
	}
}

// What a person scrolls back to is what was said, once, when a window is dragged
// while a reply streams, whichever frames are on their way meanwhile, and when it
// gets one size after the other while nothing is said.
func TestScrollbackIsExactWhileAWindowIsDragged(t *testing.T) {
	for _, kind := range []string{"tmux", "kitty", "other"} {
		for seed := range uint64(4) {
			for _, idle := range []bool{false, true} {
				t.Run(fmt.Sprint(kind, seed, idle), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						h := newHand(t, kind, seed)
						h.drags(idle)
						h.check()
					})
				})
			}
		}
	}
}

// A hand is a program in a window, and who drags that.
type hand struct {
	*window
	t     *testing.T
	sizes sync.Mutex
	known Size // as the program knows it
	tail  []string
	words int
}

func newHand(t *testing.T, kind string, seed uint64) *hand {
	w := &window{model: newModel(t, Size{80, 24}), r: rand.New(rand.NewPCG(seed, 22)), lows: 20}
	w.kind = kind
	h := &hand{window: w, t: t, known: w.size}
	c := config(w.size)
	c.Rewrap = true
	w.s = NewScreen(w, c)
	w.s.Ask(true, true, kind == "tmux", h.know)
	w.s.SetMarks(kind == "kitty")
	if kind != "tmux" {
		w.told = func(later time.Duration) { // as the system tells of a size
			time.Sleep(later)
			w.mu.Lock()
			z := w.size
			w.mu.Unlock()
			h.know(z)
			w.s.Resize(z)
		}
	}
	for i := range 24 {
		w.s.Print(lines(fmt.Sprint("before ", i)))
	}
	h.draws(false)
	w.s.Sync()
	return h
}

func (h *hand) know(z Size) {
	h.sizes.Lock()
	defer h.sizes.Unlock()
	h.known = z
}

// draws shows the words that are not printed yet, or prints them, above a box.
func (h *hand) draws(final bool) {
	h.sizes.Lock()
	z := h.known
	h.sizes.Unlock()
	text := append(draw.Indent(draw.L(draw.S(strings.Join(h.tail, " "), draw.Plain)).Wrap(z.Cols-2), draw.S("  ", draw.Plain)), nil)
	var printed, live []draw.Line
	switch {
	case len(h.tail) == 0:
	case final:
		printed, h.tail = text, nil
	default:
		live = text
	}
	bar := strings.Repeat("─", z.Cols-2)
	live = append(live, draw.L(draw.S(fmt.Sprintf("⠹ %d s", h.words), draw.Quiet)), draw.L(draw.S("╭"+bar+"╮", draw.Border)),
		draw.L(draw.S("│ ›", draw.Border)).Pad(z.Cols-1), draw.L(draw.S("╰"+bar+"╯", draw.Border)), draw.L(draw.S("foot", draw.Quiet)).Pad(z.Cols-1))
	h.s.Update(printed, live, Cursor{Row: len(live) - 3, Col: 4})
}

// drags gives the window 25 sizes, one after the other.
func (h *hand) drags(idle bool) {
	r := rand.New(rand.NewPCG(uint64(h.r.Int()), 23))
	h.mu.Lock()
	h.left = 25
	h.mu.Unlock()
	for more := true; more; {
		if idle { // longer than any drag, so that all is drawn in its full width each time
			time.Sleep(dragged + time.Second)
			h.mu.Lock()
			h.drag()
			h.mu.Unlock()
			if h.kind == "tmux" {
				h.s.askAgain()
			}
		}
		for range r.IntN(4) {
			if !idle {
				h.words++
				h.tail = append(h.tail, fmt.Sprintf("w%dw", h.words))
			}
		}
		h.draws(len(h.tail) > 25)
		time.Sleep(time.Duration(5+r.IntN(40)) * time.Millisecond)
		h.mu.Lock()
		more = h.left > 0
		h.mu.Unlock()
	}
	time.Sleep(5 * time.Second)
	h.draws(false)
	h.draws(true)
	h.s.Sync()
	if err := h.s.Close(true); err != nil {
		h.t.Error(err)
	}
	synctest.Wait()
}

func (h *hand) check() {
	text := h.text()
	next := 1
	for _, word := range regexp.MustCompile(`w\d+w`).FindAllString(text, -1) {
		if word != fmt.Sprintf("w%dw", next) {
			h.t.Fatalf("after word %d comes %s:\n%s", next-1, word, text)
		}
		next++
	}
	if next != h.words+1 {
		h.t.Errorf("%d words of %d:\n%s", next-1, h.words, text)
	}
	for _, sign := range "╭╰›⠹" {
		if n := strings.Count(text, string(sign)); n != 1 {
			h.t.Fatalf("%c is there %d times:\n%s", sign, n, text)
		}
	}
}
