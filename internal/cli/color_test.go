package cli

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ui/draw"
)

func TestColorOnlyOnATerminal(t *testing.T) {
	for _, c := range []struct {
		name  string
		sys   System
		color bool
	}{
		{"a terminal", System{OutTTY: true, Environ: []string{"TERM=xterm-256color"}}, true},
		{"a file", System{Environ: []string{"TERM=xterm-256color", "COLORTERM=truecolor"}}, false},
		{"NO_COLOR", System{OutTTY: true, Environ: []string{"TERM=xterm-256color", "NO_COLOR=1"}}, false},
		{"a dumb terminal", System{OutTTY: true, Environ: []string{"TERM=dumb"}}, false},
	} {
		p := c.sys.painter()
		for what, got := range map[string]string{
			"a word": p.paint(draw.Wrong, "broken"), "a cell": p.cell(draw.OK, "ok", 6), "a diff": p.diff("a.go", "@@ -1 +1 @@\n-old\n+new\n"),
		} {
			if has := strings.Contains(got, "\x1b["); has != c.color {
				t.Errorf("%s: %s has colour: %v: %q", c.name, what, has, got)
			}
		}
	}
	if got := (System{}).painter().cell(draw.OK, "ok", 6); got != "ok    " {
		t.Errorf("a cell is %q", got)
	}
	if got := (System{}).painter().diff("a.go", "@@ -1 +1 @@\n-old\n+new\n"); got != "--- a.go\n+++ a.go\n@@ -1 +1 @@\n-old\n+new\n" {
		t.Errorf("a diff is %q", got)
	}
}
