package policy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The order of a decision stands once, in settlings: the doc comment of Decide and the page
// for people are written from it.
func TestTheOrderIsTold(t *testing.T) {
	for _, c := range []struct{ file, begin, end, row string }{
		{"decide.go", "// The order, per action: the first step that settles it counts (go test -update writes it).\n", "//\n// end of the order\n", "//  %d. %s\n"},
		{"../../docs/permissions.md", "<!-- steps: go test ./internal/policy -update writes them -->\n", "<!-- end of steps -->\n", "%d. %s\n"},
	} {
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		have := strings.ReplaceAll(string(text), "\r", "")
		from, to := strings.Index(have, c.begin)+len(c.begin), strings.Index(have, c.end)
		if to < from {
			t.Fatalf("%s has no place for the order", c.file)
		}
		want := ""
		for i, s := range settlings() {
			want += fmt.Sprintf(c.row, i+1, s.what)
		}
		if flag.Lookup("update").Value.String() == "true" {
			if err := os.WriteFile(c.file, []byte(have[:from]+want+have[to:]), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if have[from:to] != want {
			t.Errorf("%s tells another order: go test ./internal/policy -update writes it", c.file)
		}
	}
}
