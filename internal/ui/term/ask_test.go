package term

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// asked is a terminal that answers what it is asked, or does not.
type asked struct {
	mu    sync.Mutex
	s     *Screen
	size  Size
	mute  bool
	place Cursor
	out   strings.Builder
	frame func() // is called when a frame arrives, before it is shown
}

func (a *asked) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out.Write(b)
	if string(b) != askSize && string(b) != askPlace && a.frame != nil {
		a.frame()
	}
	switch {
	case a.mute:
	case strings.HasSuffix(string(b), askSize):
		a.s.replied(reply{size: true, value: a.size})
	case string(b) == askPlace:
		a.s.replied(reply{value: Size{Cols: a.place.Col, Rows: a.place.Row}})
	}
	return len(b), nil
}

// A frame is for the size that the terminal has, though the system did not tell
// of it yet; where the cursor is then, the terminal says.
func TestSizeIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{size: Size{40, 10}}
		a.s = NewScreen(a, config(a.size))
		told := Size{}
		a.s.Ask(true, true, true, func(z Size) { told = z })
		a.s.Live(lines(strings.Repeat("x", 40), "y"), Cursor{Row: 1})
		a.s.Sync()
		a.mu.Lock()
		a.size = Size{20, 5}
		a.out.Reset()
		a.mu.Unlock()
		a.s.Live(lines(strings.Repeat("z", 40), "y"), Cursor{Row: 1})
		a.s.Sync()
		if told != a.size {
			t.Errorf("told of %v", told)
		}
		out := a.out.String()
		if !strings.HasPrefix(out, askSize+askSize+askPlace) || !strings.Contains(out, strings.Repeat("z", 20)) || strings.Contains(out, strings.Repeat("z", 21)) {
			t.Errorf("written was %q", out)
		}
		if err := a.s.Close(false); err != nil {
			t.Fatal(err)
		}
	})
}

// What was printed while the screen became narrower was cut, and is printed again.
func TestFrameOnAnotherSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{size: Size{40, 10}}
		a.s = NewScreen(a, config(a.size))
		a.s.Ask(true, true, true, nil)
		a.s.Live(lines("y"), Cursor{})
		a.s.Sync()
		a.frame = func() { a.size = Size{20, 10} }
		a.out.Reset()
		a.s.Print(lines(strings.Repeat("x", 30)))
		a.s.Sync()
		if out := a.out.String(); strings.Count(out, strings.Repeat("x", 30)) != 1 || !strings.Contains(out, strings.Repeat("x", 20)+"\r\n"+strings.Repeat("x", 10)+"\r\n") {
			t.Errorf("written was %q", out)
		}
		if err := a.s.Close(false); err != nil {
			t.Fatal(err)
		}
	})
}

// So is what was printed by a frame that changed rows: it may have changed them in
// other places than it meant to.
func TestChangesOnAnotherSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{size: Size{40, 10}}
		a.s = NewScreen(a, config(a.size))
		a.s.Ask(true, true, true, nil)
		a.s.Live(lines("said before", "y"), Cursor{Row: 1})
		a.s.Sync()
		a.frame = func() { a.size, a.frame = Size{30, 10}, nil }
		a.out.Reset()
		a.s.Update(lines("said before"), lines("other", "y"), Cursor{Row: 1})
		a.s.Sync()
		if out := a.out.String(); strings.Count(out, "said before") != 1 { // the first time it was left where it stood
			t.Errorf("written was %q", out)
		}
		if err := a.s.Close(false); err != nil {
			t.Fatal(err)
		}
	})
}

// A terminal that does not answer is asked twice, and waited for no more.
func TestNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{mute: true}
		a.s = NewScreen(a, config(Size{40, 10}))
		a.s.Ask(false, true, false, nil)
		a.s.Live(lines("x"), Cursor{})
		for i := range 5 {
			a.s.Resize(Size{30 + i, 10})
			a.s.Live(lines("y"), Cursor{})
			a.s.Sync()
		}
		if n := strings.Count(a.out.String(), askPlace); n != maxMissed {
			t.Errorf("asked %d times", n)
		}
		if err := a.s.Close(false); err != nil {
			t.Fatal(err)
		}
	})
}

// While a window is dragged few frames are on their way: each could arrive on
// another size than it was made for.
func TestFewFramesWhileAWindowIsDragged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{size: Size{40, 10}}
		a.s = NewScreen(a, config(a.size))
		a.s.Ask(true, true, true, nil)
		n := 0
		frames := func(d time.Duration) int {
			before := strings.Count(a.out.String(), "frame")
			for until := time.Now().Add(d); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
				n++
				a.s.Live(lines(fmt.Sprintf("%d frame", n)), Cursor{})
			}
			a.s.Sync()
			return strings.Count(a.out.String(), "frame") - before
		}
		if n := frames(time.Second); n < 90 {
			t.Errorf("%d frames in a second before", n)
		}
		a.mu.Lock()
		a.size = Size{30, 10}
		a.mu.Unlock()
		if n := frames(dragged); n < 2 || n > int(dragged/calm)+2 {
			t.Errorf("%d frames in the second after", n)
		}
		if n := frames(time.Second); n < 60 {
			t.Errorf("%d frames in a second afterwards", n)
		}
		if err := a.s.Close(false); err != nil {
			t.Fatal(err)
		}
	})
}

// A screen that had another size for a moment is drawn anew, though its size is
// the one that it was drawn for: what was below the cursor may be gone.
func TestSizeThatCameAndWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		was := Size{40, 10}
		a := &asked{size: was}
		a.s = NewScreen(a, config(a.size))
		a.s.Ask(true, true, true, func(Size) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.size = was
		})
		a.s.Live(lines("x", "y", "z"), Cursor{})
		a.s.Sync()
		a.mu.Lock()
		a.size = Size{40, 8}
		a.out.Reset()
		a.mu.Unlock()
		a.s.Live(lines("a", "y", "z"), Cursor{})
		a.s.Sync()
		if out := a.out.String(); !strings.Contains(out, askPlace) || !strings.Contains(out, eraseAll+"a\r\ny\r\nz") {
			t.Errorf("written was %q", out)
		}
		if err := a.s.Close(false); err != nil {
			t.Fatal(err)
		}
	})
}

// One that has answered is asked again, though it was late for a while.
func TestLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{size: Size{40, 10}}
		a.s = NewScreen(a, config(a.size))
		a.s.Ask(true, true, true, nil)
		say := func(s string) {
			a.s.Live(lines(s), Cursor{})
			a.s.Sync()
		}
		say("x")
		for i, mute := range []bool{true, true, true, false} {
			a.mu.Lock()
			a.mute = mute
			a.mu.Unlock()
			say(fmt.Sprint("y", i))
		}
		a.mu.Lock()
		a.size = Size{30, 10}
		a.out.Reset()
		a.mu.Unlock()
		say("z")
		if out := a.out.String(); !strings.Contains(out, askPlace) {
			t.Errorf("written was %q", out)
		}
		if err := a.s.Close(false); err != nil {
			t.Fatal(err)
		}
	})
}

// While a window of tmux is dragged no row is wide: tmux would make more rows of it
// with each step. It is once the size lasts, though nobody draws.
func TestNarrowWhileAWindowIsDragged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{size: Size{60, 10}}
		a.s = NewScreen(a, config(a.size))
		a.s.Ask(true, true, true, nil)
		widest := func(cols int) (n int) {
			a.mu.Lock()
			a.size.Cols = cols
			a.out.Reset()
			a.mu.Unlock()
			a.s.Live(lines(strings.Repeat("x", 60)), Cursor{})
			a.s.Sync()
			a.mu.Lock()
			defer a.mu.Unlock()
			for n < 60 && strings.Contains(a.out.String(), strings.Repeat("x", n+1)) {
				n++
			}
			return n
		}
		if n := widest(60); n != 60 {
			t.Errorf("%d columns at first", n)
		}
		if n := widest(58); n != 58 {
			t.Errorf("%d columns with another size", n)
		}
		for cols := 56; cols > 40; cols -= 2 {
			if n := widest(cols); n != slim {
				t.Errorf("%d columns with a further one", n)
			}
		}
		time.Sleep(rest + calm)
		synctest.Wait()
		if out := a.out.String(); !strings.Contains(out, strings.Repeat("x", 42)) {
			t.Errorf("written was %q", out)
		}
		a.out.Reset()
		time.Sleep(time.Minute)
		if out := a.out.String(); out != "" {
			t.Errorf("written was %q later", out)
		}
		if err := a.s.Close(false); err != nil {
			t.Fatal(err)
		}
	})
}
