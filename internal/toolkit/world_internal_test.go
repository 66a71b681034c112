package toolkit

import (
	"os"
	"path/filepath"
	"testing"
)

// TestJudgingRunsNoProgramOfTheRepository: while a command is judged, git is never one that
// lies in the repository, although the search path may name its folder.
func TestJudgingRunsNoProgramOfTheRepository(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{".git/objects", ".git/refs", "bin", "sub"} {
		if err := os.MkdirAll(filepath.Join(top, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ran := filepath.Join(top, "ran")
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", "bin/git": "#!/bin/sh\n: > '" + ran + "'\n"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := Config{Home: top, Variables: func() (environ, allow []string) { return []string{"PATH=" + filepath.Join(top, "bin")}, nil }}
	if names, ok := c.world(filepath.Join(top, "sub")).Changed(filepath.Join(top, "sub"), "a", "b"); ok {
		t.Errorf("it says %q", names)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the repository's own git ran")
	}
}
