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

// The same in tmux, which is a real terminal that wraps its lines anew.
func TestScrollbackIsExactInTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux here")
	}
	dir := t.TempDir()
	fifo, sock := filepath.Join(dir, "in"), filepath.Join(dir, "s")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	tmux := func(args ...string) string {
		cmd := exec.Command("tmux", append([]string{"-S", sock, "-f", "/dev/null"}, args...)...)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TERM=xterm-256color")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	tmux("-u", "new-session", "-d", "-x", "80", "-y", "24", "stty raw -echo; cat "+fifo)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", sock, "kill-server").Run() }) // it may have ended with cat
	tmux("set", "-g", "window-size", "manual")
	tmux("set", "-g", "status", "off")
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()

	r := rand.New(rand.NewPCG(3, 3))
	in := newInline(Size{80, 24})
	in.rewrap = true
	want := ""
	said, frame := 0, 0
	capture := func() string { return tmux("capture-pane", "-p", "-J", "-S", "-", "-E", "-") }
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
		if _, err := w.Write(in.frame(nil, printed, live, cur)); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(20 * time.Second); !strings.Contains(capture(), mark); {
			if time.Now().After(deadline) {
				t.Fatalf("%s never came:\n%s", mark, capture())
			}
		}
	}
	for range 20 {
		step()
		step()
		in.size = Size{Cols: 30 + r.IntN(90), Rows: 18 + r.IntN(24)}
		tmux("resize-window", "-x", fmt.Sprint(in.size.Cols), "-y", fmt.Sprint(in.size.Rows))
		step()
	}
	if _, err := w.Write(append(in.leave(nil, false), "the end"...)); err != nil {
		t.Fatal(err)
	}
	want += "the end\n"
	got := ""
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(got, "the end"); got = capture() {
		if time.Now().After(deadline) {
			t.Fatal("the end never came")
		}
	}
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
