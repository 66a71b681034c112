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
	write := func(width int) string {
		var out strings.Builder
		tab := table{out: &out, width: width}
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
	if whole := write(0); !strings.Contains(whole, strings.Repeat(`"Bash(go test:*)",`, 30)) || !strings.Contains(whole, "/home/someone/projects/one/.adze/settings.json:3:5") {
		t.Errorf("cut without a width: %s", whole)
	}
	for width := 42; width < 130; width++ {
		for i, l := range strings.Split(write(width), "\n")[:3] {
			if n := utf8.RuneCountInString(strings.TrimRight(l, " ")); n > width {
				t.Errorf("line %d has %d characters at %d: %q", i, n, width, l)
			}
		}
	}
}
