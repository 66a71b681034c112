package archtest

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of levels into docs/architecture.md")

// The table of levels in docs/architecture.md is the one that holds.
func TestLevelsInArchitecture(t *testing.T) {
	const path, begin, end = top + "/docs/architecture.md", "<!-- levels: go test ./internal/archtest -update writes them -->\n", "<!-- end of levels -->\n"
	rows := map[int][]string{}
	for name := range packages(t) {
		if h, ok := level(name); ok {
			rows[h] = append(rows[h], "`"+strings.TrimPrefix(name, "internal/")+"`")
		}
	}
	var b strings.Builder
	b.WriteString("\n| level | packages |\n|--:|---|\n")
	for _, h := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "| %d | %s |\n", h, strings.Join(slices.Sorted(slices.Values(rows[h])), " "))
	}
	b.WriteString("\n")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(doc), begin)
	was, after, ends := strings.Cut(rest, end)
	switch {
	case !found || !ends:
		t.Fatalf("%s has no place for the levels, between %q and %q", path, begin, end)
	case was == b.String():
	case *update:
		if err := os.WriteFile(path, []byte(before+begin+b.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has other levels: go test ./internal/archtest -update writes them", path)
	}
}
