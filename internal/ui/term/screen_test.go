package term

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/vt"

	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// A slow terminal takes a write only when it is let.
type slow struct {
	mu   sync.Mutex
	out  bytes.Buffer
	n    int
	gate chan struct{}
}

func (s *slow) Write(b []byte) (int, error) {
	if s.gate != nil {
		<-s.gate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return s.out.Write(b)
}

func config(z Size) Config {
	th, _ := draw.Named("dark", true)
	return Config{Size: z, Theme: th, Sync: true}
}

// A terminal that takes nothing holds nobody up: frames in between are never
// made, and what was printed comes, all of it and in order.
func TestSlowTerminal(t *testing.T) {
	w := &slow{gate: make(chan struct{})}
	s := NewScreen(w, config(Size{40, 10}))
	for i := range 1000 {
		s.Update(lines(fmt.Sprintf("line %d.", i)), lines(fmt.Sprintf("live %d.", i)), Cursor{})
	}
	close(w.gate)
	s.Sync()
	if err := s.Close(true); err != nil {
		t.Fatal(err)
	}
	e := newVT(t, Size{40, 10})
	if _, err := e.Write(w.out.Bytes()); err != nil {
		t.Fatal(err)
	}
	want := ""
	for i := range 1000 {
		want += fmt.Sprintf("line %d.\n", i)
	}
	if got := screen(e); got != want+"live 999.\n" {
		t.Errorf("the terminal holds\n%s", got)
	}
	if w.n > 10 {
		t.Errorf("%d writes", w.n)
	}
}

func TestPlainModeMovesNothing(t *testing.T) {
	w := &slow{}
	c := config(Size{20, 5})
	c.Plain, c.Profile = true, draw.Profile{}
	s := NewScreen(w, c)
	s.Update(lines("one"), nil, Cursor{})
	s.Full(true)
	s.Print(lines("two"))
	if err := s.Close(false); err != nil {
		t.Fatal(err)
	}
	if got := w.out.String(); got != "one\ntwo\n" {
		t.Errorf("%q", got)
	}
}

// In plain mode the live area is a line that asks: it stands below what was
// printed, once, and what comes after it begins on a line of its own.
func TestPlainModeAsks(t *testing.T) {
	for name, c := range map[string]struct {
		does func(*Screen)
		want string
	}{
		"nothing typed":     {func(*Screen) {}, "one\n> \n"},
		"asked once":        {func(s *Screen) { s.Live(lines("> "), Cursor{}) }, "one\n> \n"},
		"something else":    {func(s *Screen) { s.Live(lines("1 or 2> "), Cursor{}) }, "one\n> \n1 or 2> \n"},
		"news come":         {func(s *Screen) { s.Print(lines("news")) }, "one\n> \nnews\n> \n"},
		"nothing asked":     {func(s *Screen) { s.Live(nil, Cursor{}) }, "one\n> \n"},
		"a line was typed":  {func(s *Screen) { s.Echoed(true); s.Live(nil, Cursor{}) }, "one\n> "},
		"and it asks again": {func(s *Screen) { s.Echoed(true); s.Sync(); s.Live(lines("> "), Cursor{}) }, "one\n> > \n"},
		"Ctrl+C while it works": {func(s *Screen) {
			s.Echoed(true)
			s.Update(lines("it works"), nil, Cursor{})
			s.Sync()
			s.Echoed(false)
			s.Print(lines("stopped"))
		}, "one\n> it works\n\nstopped\n"},
	} {
		w := &slow{}
		k := config(Size{20, 5})
		k.Plain, k.Profile = true, draw.Profile{}
		s := NewScreen(w, k)
		s.Update(lines("one"), lines("> "), Cursor{})
		s.Sync()
		c.does(s)
		if err := s.Close(false); err != nil {
			t.Fatal(err)
		}
		if got := w.out.String(); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

func TestFullScreenAndBack(t *testing.T) {
	e := newVT(t, Size{20, 6})
	s := NewScreen(e, config(Size{20, 6}))
	s.Update(lines("said"), lines("live", "> "), Cursor{Row: 1, Col: 2})
	s.Full(true)
	s.Live(lines("a", "b", "c", "d", "e", "f", "g"), Cursor{Row: 6})
	s.Sync()
	if got := e.String(); got != "b\nc\nd\ne\nf\ng" {
		t.Errorf("full screen shows %q", got)
	}
	s.Print(lines("meanwhile"))
	s.Live(lines("a", "", "c"), Cursor{})
	s.Sync()
	if got := strings.TrimRight(e.String(), "\n "); got != "a\n\nc" {
		t.Errorf("full screen shows %q", got)
	}
	s.Full(false)
	s.Print(nil)
	s.Sync()
	if got := strings.TrimRight(e.String(), "\n "); got != "a\n\nc" {
		t.Errorf("one mode shows %q of the other", got)
	}
	s.Live(lines("live 2", "> "), Cursor{Row: 1, Col: 2})
	s.Sync()
	if got := screen(e); got != "said\nmeanwhile\nlive 2\n>\n" {
		t.Errorf("then %q", got)
	}
	if err := s.Close(false); err != nil {
		t.Fatal(err)
	}
	if got := screen(e); got != "said\nmeanwhile\n" {
		t.Errorf("in the end %q", got)
	}
}

// Nothing is known of what full screen shows after another size, nor when it is to be
// drawn again: cells of before are nowhere.
func TestFullScreenIsDrawnAnew(t *testing.T) {
	for name, does := range map[string]func(*vt.Emulator, *Screen){
		"resize": func(e *vt.Emulator, s *Screen) { e.Resize(24, 6); s.Resize(Size{24, 6}) },
		"redraw": func(e *vt.Emulator, s *Screen) { _, _ = e.WriteString("\x1b[1;1Hsomething else"); s.Redraw() },
		"theme":  func(e *vt.Emulator, s *Screen) { th, _ := draw.Named("light", false); s.SetTheme(th) },
	} {
		e := newVT(t, Size{20, 6})
		s := NewScreen(e, config(Size{20, 6}))
		s.Full(true)
		s.Live(lines(slices.Repeat([]string{"a row that is full ."}, 6)...), Cursor{})
		s.Sync()
		does(e, s)
		s.Live(lines("", "b", "漢字", "", "d"), Cursor{})
		s.Sync()
		if got := strings.TrimRight(screen(e), "\n"); got != "\nb\n漢字\n\nd" {
			t.Errorf("%s: full screen shows %q", name, got)
		}
		if err := s.Close(false); err != nil {
			t.Fatal(err)
		}
	}
}

// An image stands where its rows are, between what was printed before and
// after it; one that is too tall gives way to what stands for it.
func TestImageAmongLines(t *testing.T) {
	e := newVT(t, Size{20, 8})
	w := &slow{}
	s := NewScreen(io.MultiWriter(e, w), config(Size{20, 8}))
	s.Live(lines("live", "> "), Cursor{Row: 1, Col: 2})
	s.Print(lines("before"))
	s.PrintImage([]byte("IMAGE"), 3, lines("alt"))
	s.Print(lines("after"))
	s.PrintImage([]byte("TALL"), 7, lines("too tall"))
	s.Print(lines("last"))
	s.Sync()
	if got := screen(e); got != "before\nIMAGE\n\n\nafter\ntoo tall\nlast\nlive\n>\n" {
		t.Errorf("the terminal holds\n%s", got)
	}
	if strings.Contains(w.out.String(), "TALL") {
		t.Error("the tall image was written")
	}
	if err := s.Close(false); err != nil {
		t.Fatal(err)
	}
}

// What was laid out for a wider terminal is wrapped, not cut: it was said.
func TestPrintedForAnotherWidth(t *testing.T) {
	e := newVT(t, Size{10, 8})
	s := NewScreen(e, config(Size{40, 8}))
	s.Hold(false)
	s.Update(lines("some words that were said"), lines("live"), Cursor{})
	s.Resize(Size{10, 8})
	s.Resume()
	s.Sync()
	if got := screen(e); got != "some words\nthat were\nsaid\nlive\n" {
		t.Errorf("the terminal holds\n%s", got)
	}
	if err := s.Close(false); err != nil {
		t.Fatal(err)
	}
}

// check plays random frames on a terminal and holds the terminal to what was
// asked for.
func check(t *testing.T, seed uint64, z Size, steps int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	e := newVT(t, z)
	in := newInline(z)
	words := []string{"a", "some words", "漢字", "é", "e\u0301", "👍", "❤", strings.Repeat("x", z.Cols), strings.Repeat("漢", z.Cols), "", " ", "│ box │", "[31m", "👨‍👩‍👧"}
	roles := []draw.Role{draw.Plain, draw.Accent, draw.Selected, draw.Match}
	some := func(n int) []draw.Line {
		var out []draw.Line
		for range n {
			var l draw.Line
			for range r.IntN(4) {
				l = append(l, draw.S(words[r.IntN(len(words))], roles[r.IntN(len(roles))]))
			}
			out = append(out, l.Cut(z.Cols))
		}
		return out
	}
	var said, live []draw.Line
	var cur Cursor
	for range steps {
		var printed []draw.Line
		if r.IntN(3) == 0 {
			printed = some(r.IntN(2 * z.Rows))
		}
		if r.IntN(4) > 0 || live == nil {
			live = some(r.IntN(z.Rows + 3))
		} else if len(live) > 0 {
			live = append([]draw.Line{}, live...)
			live[r.IntN(len(live))] = some(1)[0]
		}
		cur = Cursor{Row: r.IntN(z.Rows + 2), Col: r.IntN(z.Cols + 2), Hidden: r.IntN(5) == 0}
		said = append(said, printed...)
		was := in.shown
		b := in.frame(nil, printed, live, cur)
		if bytes.Contains(b, []byte("\x1b[2J")) || bytes.Contains(b, []byte("\x1b[3J")) {
			t.Fatalf("the screen is cleared: %q", b)
		}
		if _, err := e.Write(b); err != nil {
			t.Fatal(err)
		}
		shown, at := fit(live, cur, z)
		want := strings.TrimRight(draw.TextOf(said)+draw.TextOf(shown), "\n") + "\n"
		if got := screen(e); got != want {
			g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
			for i := range min(len(g), len(w)) {
				if g[i] != w[i] {
					t.Fatalf("seed %d, %v: row %d of %d (%d) is\n%q, not\n%q\nbefore\n%safter %q\n%s", seed, z, i, len(w), len(g), g[i], w[i], draw.TextOf(was), b, draw.TextOf(shown))
				}
			}
			t.Fatalf("seed %d, %v: %d rows, not %d", seed, z, len(g), len(w))
		}
		if len(shown) > 0 {
			if p := e.CursorPosition(); p.X != at.Col || p.Y < at.Row {
				t.Fatalf("seed %d: the cursor is at %v, not %v", seed, p, at)
			}
		}
	}
}

func TestRandomFrames(t *testing.T) {
	slowtest.Alone(t)
	for seed := range uint64(40) {
		if !slowtest.Due(fmt.Sprint("frames ", seed)) {
			continue
		}
		for _, z := range []Size{{40, 10}, {80, 24}, {7, 3}, {200, 50}} {
			check(t, seed, z, 12)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(uint64(1), 40, 10)
	f.Fuzz(func(t *testing.T, seed uint64, cols, rows int) {
		if cols < 3 || cols > 120 || rows < 2 || rows > 60 {
			return
		}
		check(t, seed, Size{cols, rows}, 8)
	})
}

// Streaming writes what changed: fewer than twelve bytes for each character
// that comes, at 200 pieces a second in 30 frames.
func TestBytesPerStreamedCharacter(t *testing.T) {
	text := strings.Repeat("Some *text* that a model says about `code`, with **words** of all kinds.\n\n- and a list\n- of things\n\n```go\nfunc f() int {\n\treturn 1 // a comment\n}\n```\n\n", 20)
	for _, cols := range []int{80, 200} {
		z := Size{cols, 40}
		e, in := newVT(t, z), newInline(z)
		s := draw.NewStream(draw.Options{Width: cols})
		written, frames := 0, 0
		const piece, perFrame = 4, 7
		for i := 0; i < len(text); i += piece * perFrame {
			s.Write(text[i:min(i+piece*perFrame, len(text))])
			frames++
			live := append(append([]draw.Line{}, s.Tail(20)...), nil,
				draw.L(draw.S(draw.Spinner(frames/3, false)+" ", draw.Accent), draw.S(fmt.Sprintf("Working · %d s · ↓ %d · Esc interrupts", frames/30, i/4), draw.Quiet)),
				draw.L(draw.S("╭"+strings.Repeat("─", cols-2)+"╮", draw.Border)), draw.L(draw.S("│ › ", draw.Border)), draw.L(draw.S("footer", draw.Quiet)))
			b := in.frame(nil, s.Take(), live, Cursor{Row: len(live) - 2, Col: 4})
			written += len(b)
			if bytes.Contains(b, []byte("\x1b[2J")) {
				t.Fatal("the screen was cleared")
			}
			if _, err := e.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		per := float64(written) / float64(len(text))
		t.Logf("%d columns: %.1f bytes per character", cols, per)
		if per > 12 {
			t.Errorf("%d columns: %.1f bytes per character", cols, per)
		}
	}
}
