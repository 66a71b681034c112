//go:build unix

package cli_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A picture that is read is drawn below its call: by half blocks where a
// terminal has colours only, by the terminal's own protocol where it says that
// it has one, and not at all without colours.
func TestUIPictures(t *testing.T) {
	const edge = 512 // large enough that a person can leave before it is drawn
	img := image.NewRGBA(image.Rect(0, 0, edge, edge))
	for y := range edge {
		for x := range edge {
			img.Set(x, y, color.RGBA{uint8(x / 2), uint8(y / 2), 128, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env       string
		text, raw bool // half blocks; an image of kitty's protocol
	}{
		"half blocks": {env: "TERM=xterm-256color", text: true},
		"kitty":       {env: "TERM=xterm-kitty", raw: true},
		"no colours":  {env: "NO_COLOR=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.put("dot.png", b.String())
			p.startedBefore()
			cmd := p.adze("--model", "script/"+p.put("model.txt", "> I look.\n@ Read {\"file_path\": \"dot.png\"}\n---\n> A dot.\n"), "--sandbox", "off")
			x := p.inTerminal(cmd, 80, 30, c.env)
			x.until("What shall be done")
			x.keys("look", enter)
			x.until(`● A dot\.`)
			x.keys("/exit", enter)
			x.ended() // by then all of it was written
			if got := strings.Count(x.all(), "▀") > 20; got != c.text {
				t.Errorf("half blocks: %v, want %v:\n%s", got, c.text, x.all())
			}
			x.mu.Lock()
			got := strings.Contains(string(x.bytes), "\x1b_Ga=T")
			x.mu.Unlock()
			if got != c.raw {
				t.Errorf("an image of the terminal's own: %v, want %v", got, c.raw)
			}
			if s := x.all(); strings.Index(s, "dot.png") > strings.Index(s, "A dot.") {
				t.Errorf("in another order:\n%s", s)
			}
		})
	}
}

// The picker of the real binary previews a session and renames it on disk.
func TestUISessionPicker(t *testing.T) {
	p := newPlace(t)
	for _, said := range []string{"first words", "other words"} {
		c := p.adze("-p", said, "--model", "script/"+p.put("model.txt", "> An answer to remember.\n"))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	x := p.ui(100, 30, "> Two.\n", "--resume")
	x.until(`first words`)
	x.keys("/first") // the slash begins a search, as typing does
	x.gone(`other words`)
	x.keys("\x16") // Ctrl+V
	x.until(`An answer to remember`)
	x.keys("\x12") // Ctrl+R
	x.until(`title:`)
	x.keys("a first title", enter)
	x.until(`❯ a first title`)
	x.keys(enter)
	x.until(`● An answer to remember`)
	x.until(`a first title`)
	if strings.Contains(x.all(), "changed by another program") {
		t.Errorf("the title is not sealed:\n%s", x.all())
	}
	x.keys("/exit", enter)
	x.ended()
	out, err := p.adze("sessions", "list").Output()
	if err != nil || !strings.Contains(string(out), "a first title") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// The picker has the sessions of other worktrees of the repository beside those
// of this one, says which, and goes on with them here.
func TestUIPickerOfWorktrees(t *testing.T) {
	p := newPlace(t)
	tree := filepath.Join(t.TempDir(), "side")
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "x"}, {"worktree", "add", "-q", tree}} {
		c := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		c.Dir = p.dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	model := "script/" + p.put("model.txt", "> Said there.\n")
	for _, said := range []string{"words of the side", "the last of them"} {
		c := p.adze("-p", said, "--continue", "--model", model)
		if said == "words of the side" {
			c = p.adze("-p", said, "--model", model)
		}
		c.Dir = tree
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	x := p.ui(100, 30, "> Two.\n", "--resume")
	x.until(`❯ words of the side +side +… the last of them`)
	x.keys(enter)
	x.until(`● Said there`)
	x.keys("/exit", enter)
	x.ended()
}

// ui.fullscreen takes the alternate screen; what was said is in the terminal's
// scrollback afterwards, and every mode is as it was.
func TestUIFullscreen(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "> One answer.\n---\n> Another answer.\n", "--settings", `{"ui":{"fullscreen":true}}`)
	x.until("What shall be done")
	x.keys("first", enter)
	x.until(`● One answer\.`)
	x.keys("second", enter)
	x.until(`● Another answer\.`)
	x.mu.Lock()
	taken := strings.Contains(string(x.bytes), "\x1b[?1049h")
	x.mu.Unlock()
	if !taken {
		t.Error("the alternate screen was not taken")
	}
	x.keys("/exit", enter)
	x.ended()
	if s := x.all(); strings.Count(s, "● One answer.") != 1 || strings.Count(s, "● Another answer.") != 1 {
		t.Errorf("afterwards:\n%s", s)
	}
	x.restored()
}

// A carriage return in what a model says ends a line: it removes nothing, on the screen,
// in print mode and in what is exported.
func TestUICarriageReturnOfAModel(t *testing.T) {
	p := newPlace(t)
	const said = "> I will delete it.\rI only look.\n"
	x := p.ui(80, 24, said, "go")
	x.until(`(?s)● I will delete it\.\s+I only look\.`)
	x.gone(`interrupts`)
	x.keys("/exit", enter)
	x.ended()
	for _, args := range [][]string{{"-p", "go", "--model", "script/" + p.put("cr.txt", said)}, {"export"}} {
		out, err := p.adze(args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "I will delete it.\nI only look.") {
			t.Errorf("%s: %v: %q", args[0], err, out)
		}
	}
}
