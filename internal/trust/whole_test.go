package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a person says yes to is shown whole, however much it is.
func TestClaimsAreWhole(t *testing.T) {
	for _, hooks := range []int{1, 100, 2000} {
		dir := t.TempDir()
		var list []string
		for i := range hooks {
			list = append(list, fmt.Sprintf(`{"matcher":"Bash","hooks":[{"type":"command","command":"./check %d; last-word-%d"}]}`, i, i))
		}
		if err := os.MkdirAll(filepath.Join(dir, ".claude"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".claude", "settings.json"), []byte(`{"hooks":{"PreToolUse":[`+strings.Join(list, ",")+`]}}`), 0o644); err != nil {
			t.Fatal(err)
		}
		v := look(Folder{Root: dir, Dir: dir})
		said := fmt.Sprint(v.Claims())
		if !strings.Contains(said, fmt.Sprintf("last-word-%d}", hooks-1)) || len(v.Refused) > 0 {
			t.Errorf("%d hooks: refused %q, said %.300s…", hooks, v.Refused, said)
		}
	}
}

// A file that cannot be read to its end is not taken for what was read of it.
func TestAFileThatCannotBeRead(t *testing.T) {
	root, err := os.OpenRoot("/proc/self")
	if err != nil {
		t.Skip("no folder with such a file here:", err)
	}
	defer root.Close()
	if text, err := readBelow(root, "mem", 100); err == nil { // nothing is mapped where it begins
		t.Errorf("%q", text)
	}
}
