package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A table fits the terminal: its widest columns are cut, what has room is whole, and
// nothing is cut where no width is known.
func TestTable(t *testing.T) {
	text := "KEY\tVALUE\tFROM\n" +
		"max_turns\t7\t/home/someone/projects/one/.adze/settings.json:3:5\n" +
		"permissions.allow\t[" + strings.Repeat(`"Bash(go test:*)",`, 30) + "]\tuser\n" +
		"a line without columns may be as long as it likes, because nothing stands beside it and it wraps as text does\n"
	whole := 0
	write := func(width int) string {
		var out strings.Builder
		tab := table{out: &out, width: width, whole: whole}
		_, _ = tab.WriteString(text)
		if err := tab.Flush(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	want := "KEY                VALUE                      FROM\n" +
		"max_turns          7                          …e/.adze/settings.json:3:5\n" +
		"permissions.allow  [\"Bash(go test:*)\",\"Bash…  user\n"
	if d := cmp.Diff(want, write(72)[:len(want)]); d != "" {
		t.Error(d)
	}
	if out := write(0); !strings.Contains(out, strings.Repeat(`"Bash(go test:*)",`, 30)) || !strings.Contains(out, "/home/someone/projects/one/.adze/settings.json:3:5") {
		t.Errorf("cut without a width: %s", out)
	}
	for _, whole = range []int{0, 1} {
		for width := 42; width < 130; width++ {
			out := write(width)
			for i, l := range strings.Split(out, "\n")[:3] {
				if n := utf8.RuneCountInString(strings.TrimRight(l, " ")); n > width {
					t.Errorf("line %d has %d characters at %d: %q", i, n, width, l)
				}
			}
			if room := width >= 17+2*(tableGap+leastCol); whole == 1 && strings.Contains(out, "permissions.allow") != room {
				t.Errorf("at %d: %s", width, out)
			}
		}
	}
}
