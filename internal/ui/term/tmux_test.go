//go:build unix

package term

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// A pane is one of tmux, which is a real terminal that wraps its lines anew.
type pane struct {
	t    *testing.T
	sock string
	in   *os.File // what is written to it is shown
}

func newPane(t *testing.T, z Size) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux here")
	}
	dir := t.TempDir()
	fifo := filepath.Join(dir, "in")
	p := &pane{t: t, sock: filepath.Join(dir, "s")}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p.tmux("-u", "new-session", "-d", "-x", fmt.Sprint(z.Cols), "-y", fmt.Sprint(z.Rows), "stty raw -echo; cat "+fifo)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.sock, "kill-server").Run() }) // it may have ended with cat
	p.tmux("set", "-g", "window-size", "manual")
	p.tmux("set", "-g", "status", "off")
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	p.in = w
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", p.sock, "-f", "/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TERM=xterm-256color")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

func (p *pane) resize(z Size) {
	p.t.Helper()
	p.tmux("resize-window", "-x", fmt.Sprint(z.Cols), "-y", fmt.Sprint(z.Rows))
}

// capture is all that the pane holds, with lines that were wrapped as one.
func (p *pane) capture() string { return p.tmux("capture-pane", "-p", "-J", "-S", "-", "-E", "-") }

// write shows b, and waits until mark is seen.
func (p *pane) write(b []byte, mark string) string {
	p.t.Helper()
	if _, err := p.in.Write(b); err != nil {
		p.t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		got := p.capture()
		if strings.Contains(got, mark) {
			return got
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s never came:\n%s", mark, got)
		}
	}
}

// What was erased at the end of a row does not make it two rows when the screen
// becomes narrower.
func TestShorterRowInTmux(t *testing.T) {
	in := newInline(Size{80, 24})
	in.rewrap = true
	p := newPane(t, in.size)
	p.write(in.frame(nil, lines("said"), lines("> ", "foot."), Cursor{Col: 2}), "foot.")
	p.write(in.frame(nil, nil, lines(strings.Repeat("wide ", 15), strings.Repeat("wide ", 15), "> ", "wide."), Cursor{Row: 2, Col: 2}), "wide.")
	p.write(in.frame(nil, nil, lines("a", "w", "> ", "short."), Cursor{Row: 2, Col: 2}), "short.")
	in.size = Size{40, 24}
	p.resize(in.size)
	got := p.write(in.frame(nil, nil, lines("b", "> ", "end."), Cursor{Row: 1, Col: 2}), "end.")
	if got = strings.TrimRight(got, "\n "); got != "said\nb\n>\nend." && got != "said\nb\n> \nend." {
		t.Errorf("tmux holds\n%s", got)
	}
}

// What a person scrolls back to is what was said in tmux, too.
func TestScrollbackIsExactInTmux(t *testing.T) {
	p := newPane(t, Size{80, 24})
	r := rand.New(rand.NewPCG(3, 3))
	in := newInline(Size{80, 24})
	in.rewrap = true
	want := ""
	said, frame := 0, 0
	step := func() {
		var printed []draw.Line
		for range r.IntN(12) * min(frame/2, 1) { // nothing, at first
			said++
			l := draw.L(draw.S(fmt.Sprintf("%d said 漢字 %s.", said, strings.Repeat("words ", r.IntN(24))), draw.Plain)).Cut(in.size.Cols)
			printed = append(printed, l)
			want += strings.TrimRight(l.String(), " ") + "\n"
		}
		live, cur := liveArea(r, in.size.Cols)
		in.redraw = frame%3 == 1 // the first time at the first place of the screen
		frame++
		mark := fmt.Sprintf("frame %d.", frame)
		live = append(live, draw.L(draw.S(mark, draw.Quiet)))
		p.write(in.frame(nil, printed, live, cur), mark)
	}
	for range 20 {
		step()
		step()
		in.size = Size{Cols: 30 + r.IntN(90), Rows: 18 + r.IntN(24)}
		p.resize(in.size)
		step()
	}
	got := p.write(append(in.leave(nil, false), "the end"...), "the end")
	want += "the end\n"
	var b strings.Builder
	for l := range strings.SplitSeq(strings.TrimRight(got, "\n "), "\n") {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	if got = b.String(); got != want {
		g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("line %d of %d is\n%q, not\n%q\n%s", i, len(w), g[i], w[i], strings.Join(g[max(0, i-5):min(len(g), i+8)], "\n"))
			}
		}
		t.Fatalf("%d lines, not %d", len(g), len(w))
	}
}
