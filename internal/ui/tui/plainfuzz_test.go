package tui

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// Whatever is typed and happens in plain mode, nothing panics, no line is too wide,
// and whenever nothing goes on, something is asked.
func TestPlainAtRandom(t *testing.T) {
	lines := []string{
		"", "1", "2", "3", "9", "y", "n", "yess", "?", "/help", "/more", "/comment x", "/rule Bash(ls)", "/for folder", "/accept", "/skip", "/back", "/decline", "/all", "/branch", "/preview 1", "/rename 1 x", "/stop 1",
		"/model", "/resume", "/rewind", "/theme", "/mode", "/effort", "/tasks", "/transcript all", "/todos", "/permissions", "/nothing", "!ls", "# note", "&x", "a whole sentence of words", `goes on \`, "1 2", "exit now", "界界界界界界界界", strings.Repeat("long ", 60),
	}
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		r := newRig(t, 20+rnd.IntN(100), 24)
		r.m.screen.plain = true
		withMemory(r)
		r.open()
		for range 150 {
			switch rnd.IntN(4) {
			case 0:
				randomly(r, rnd)
			case 1:
				r.keys([]string{"ctrl+c", "ctrl+d"}[rnd.IntN(2)])
				r.m.left = false
			default:
				r.do(lineMsg{lines[rnd.IntN(len(lines))]})
			}
			if rnd.IntN(2) == 0 {
				r.pass(time.Duration(rnd.IntN(3000)) * time.Millisecond)
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		r.pass(time.Second).pass(time.Second)
		if d := r.m.shown; len(d) > 0 && !d[0].Poll(r.m.around()).Waits && r.m.asking() == "" {
			t.Errorf("seed %d: a dialog asks nothing", seed)
		}
		if r.m.pager == nil && !r.m.turn.running && len(r.m.shown) == 0 && !r.m.awaited() && r.m.story.Own() == nil && r.m.asking() == "" {
			t.Errorf("seed %d: nothing goes on, and nothing is asked", seed)
		}
	}
}
