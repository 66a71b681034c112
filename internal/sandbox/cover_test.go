//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCovers(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	c, err := newCovers(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := func(n string) string { return filepath.Join(work, n) }
	if err := os.MkdirAll(path(".vscode"), 0o755); err != nil {
		t.Fatal(err)
	}
	build := func() []step {
		p := Policy{Writable: []string{work}, Protected: []string{path(".claude"), path(".mcp.json"), path(".vscode")}}
		steps, _ := p.layout()
		return steps
	}
	there := func(want ...bool) {
		t.Helper()
		for i, n := range []string{".claude", ".mcp.json", ".vscode"} {
			if exists(path(n)) != want[i] {
				t.Errorf("%s exists: %v", n, !want[i])
			}
		}
	}
	_, first, err := c.acquire(build)
	if err != nil {
		t.Fatal(err)
	}
	there(true, true, true)
	steps, second, err := c.acquire(build)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s.path == path(".claude") && s.do != coverDir || s.path == path(".vscode") && s.do != keep {
			t.Errorf("second command: %+v", s)
		}
	}
	first.Close()
	c.sweep()
	there(true, true, true) // the second command needs them
	// What somebody put into a cover is theirs.
	if err := os.WriteFile(path(".claude/CLAUDE.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	second.Close() // as the kernel does when the command is killed with us
	if _, err := newCovers(dir); err != nil {
		t.Fatal(err)
	}
	there(true, false, true)
	if list, _ := filepath.Glob(dir + "/*.claim"); len(list) > 0 {
		t.Errorf("claims are left: %v", list)
	}
}

func TestRemoveCoverLeavesOthers(t *testing.T) {
	dir := t.TempDir()
	file, full := filepath.Join(dir, "commondir"), filepath.Join(dir, "d")
	if err := os.WriteFile(file, []byte("../other\n"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(full, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{file, full, filepath.Join(dir, "none")} {
		if !removeCover(p) {
			t.Errorf("%s: to be tried again", p)
		}
	}
	if !exists(file) || !exists(full) {
		t.Error("something that is no cover was removed")
	}
}
