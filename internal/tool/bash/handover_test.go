package bash

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Where commands inherit no descriptors a script is in a file and never among the
// arguments, which bash reads by rules of its own there.
func TestScriptIsNoArgumentOnWindows(t *testing.T) {
	for _, command := range []string{`echo a\\\; rm x`, "true", strings.Repeat("x", maxArg+1)} {
		h := &handover{}
		if err := h.byFile(command, t.TempDir(), true); err != nil {
			t.Fatal(err)
		}
		if w := wrapper(command, h, true); strings.Contains(w, command+"'") || strings.Contains(w, `\\`) || !strings.Contains(w, h.script) {
			t.Errorf("%.40s", w)
		}
		text, err := os.ReadFile(h.paths[0])
		if diff := cmp.Diff(command, string(text)); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		paths := h.paths
		h.close()
		for _, p := range paths {
			if _, err := os.Stat(p); err == nil {
				t.Errorf("%s is left", p)
			}
		}
	}
}
