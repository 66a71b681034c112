package draw

import (
	"testing"

	"github.com/adze-agent/adze/internal/view"
)

func TestDiffMarksWordsAndNumbers(t *testing.T) {
	b := view.Diff{Path: "a.go", Unified: "@@ -9,3 +9,3 @@ func f\n a\n-\tx := old + 1\n+\tx := newer + 1\n b\n@@ -20 +20 @@\n-gone\n"}
	lines := Block(b, Options{Width: 30})
	want := " 9   a\n10 −     x := old + 1\n10 +     x := newer + 1\n11   b\n   …\n20 − gone\n"
	if got := TextOf(lines); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	words := ""
	for _, l := range lines {
		for _, s := range l {
			if s.Role == RemovedWord || s.Role == AddedWord {
				words += s.Text + "|"
			}
		}
	}
	if words != "old|newer|" {
		t.Errorf("marked: %q", words)
	}
	if got := TextOf(Block(b, Options{Width: 30, MaxLines: 3})); got != " 9   a\n10 −     x := old + 1\n… 4 more lines\n" {
		t.Errorf("bounded:\n%s", got)
	}
}
