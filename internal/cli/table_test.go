package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
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

func TestListing(t *testing.T) {
	type thing struct{ Name string }
	row := func(t *table, x thing) { t.row(x.Name, "end") }
	for _, x := range []struct {
		name             string
		of               listing[thing]
		asJSON           bool
		stdout, onStderr string
	}{
		{"rows", listing[thing]{rows: []thing{{"a\tb\x1b[31m"}, {"c"}}, head: []string{"NAME", "X"}, row: row, none: "none"}, false, "NAME          X\n" + `a\tb\x1b[31m` + "  end\nc             end\n", ""},
		{"no rows", listing[thing]{row: row, none: "none"}, false, "none\n", ""},
		{"no rows, said on stderr", listing[thing]{row: row, note: "none"}, false, "", "none\n"},
		{"no rows, nothing said", listing[thing]{row: row}, false, "", ""},
		{"no rows as JSON", listing[thing]{row: row, none: "none", note: "none"}, true, "[]\n", ""},
		{"rows as JSON", listing[thing]{rows: []thing{{"c\x1b"}}, row: row}, true, "[\n  {\n    \"Name\": \"c\\u001b\"\n  }\n]\n", ""},
	} {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		if err := x.of.print(System{Stdout: &Output{File: out}, Stderr: &stderr}, x.asJSON); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		_ = out.Close()
		stdout, err := os.ReadFile(out.Name())
		if err != nil || string(stdout) != x.stdout || stderr.String() != x.onStderr {
			t.Errorf("%s: %q and %q, not %q and %q (%v)", x.name, stdout, &stderr, x.stdout, x.onStderr, err)
		}
	}
}

func TestFailing(t *testing.T) {
	bad, worse := errors.New("bad"), errors.New("worse")
	said := func(err error) answer { return failing{both{nil, func() error { return err }}, bad} }
	if err := said(nil).print(System{}, false); err != bad {
		t.Errorf("an answer that was printed: %v", err)
	}
	if err := said(worse).print(System{}, false); err != worse {
		t.Errorf("an answer that was not: %v", err)
	}
}
