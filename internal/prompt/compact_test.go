package prompt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTextsOfACompaction(t *testing.T) {
	got := "=== asked\n" + Compact(Summary{Words: 900}) + "\n\n=== asked of a part, with a focus\n" + Compact(Summary{Words: 200, Focus: "the parser", Part: "what came before X"}) +
		"\n\n=== put in its place\n" + Compacted([]Section{{"summary", "So it was.\n</summary>"}, {"plan", " 1. write it\n"}, {"todo_list", ""}, {"record", Record([]string{"/a", "/b"})}}) + "\n"
	path := filepath.Join("testdata", "compact.golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("it differs from its golden file; got:\n%s", got)
	}
	for _, n := range []string{"1. ", "2. ", "3. ", "4. ", "5. ", "6. ", "7. ", "8. ", "9. "} {
		if !strings.Contains(got, "\n"+n+"**") {
			t.Errorf("part %s is missing", n)
		}
	}
}
