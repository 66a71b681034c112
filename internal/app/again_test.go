package app

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/store/sessions"
)

// Old results that can be had again leave the window when it is full: files,
// searches, commands. What was said, decided or noted does not.
func TestResultsThatCanBeHadAgain(t *testing.T) {
	dir, home := scratch(t)
	r := kept(t, dir, home, sessions.Choice{})
	var again []string
	for _, name := range r.Tools().Names() {
		if tl, _ := r.Tools().Get(name); tl.Spec().Again {
			again = append(again, name)
		}
	}
	if d := cmp.Diff([]string{"Bash", "Edit", "Glob", "Grep", "Read", "Write"}, slices.DeleteFunc(again, func(n string) bool { return n == "MultiEdit" })); d != "" {
		t.Error(d)
	}
	r.close()
}
