package draw

import (
	"strings"
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

// The words of a line that changed are marked, not all between the first and
// the last of them; lines that share little are marked nowhere.
func TestDiffer(t *testing.T) {
	for _, c := range []struct{ a, b, gone, came string }{
		{"for i := 1; i < len(nums); i++ {", "for _, n := range nums {", "i|1; i < len(|); i++|", "_, n|range|"},
		{"f(a, b, c)", "f(x, b, y)", "a|c|", "x|y|"},
		{"the same", "the same", "", ""},
		{"nothing here", "is(alike)", "", ""},
		{"größer", "größer als", "", "als|"},
		{"", "new", "", ""},
	} {
		gone, came, _ := differ(c.a, c.b)
		for i, side := range []struct {
			s, want string
			got     []stretch
		}{{c.a, c.gone, gone}, {c.b, c.came, came}} {
			got := ""
			for _, x := range side.got {
				got += strings.TrimSpace(side.s[x.from:x.to]) + "|"
			}
			if got != side.want {
				t.Errorf("%q and %q, side %d: %q, want %q", c.a, c.b, i, got, side.want)
			}
		}
	}
}
