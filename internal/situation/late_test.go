//go:build unix

package situation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/settings"
)

// A git that takes its time holds up nobody: what it says is told when it is known.
func TestGitThatTakesItsTime(t *testing.T) {
	root, bin := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, ".git", "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(root, ".git/HEAD"), "ref: refs/heads/main\n", 0o644)
	put(filepath.Join(root, ".git/refs/heads/main"), strings.Repeat("a", 40)+"\n", 0o644)
	gate := filepath.Join(bin, "gate")
	put(filepath.Join(bin, "git"), fmt.Sprintf(`#!/bin/sh
until [ -e %s ]; do :; done
case "$*" in
*status*) printf '## main\0 M slow.go\0' ;;
*log*) echo "aaaaaaa the first" ;;
esac
`, gate), 0o755)
	place := func(whole bool) Place {
		return Place{
			Environment: settings.Environment{Env: func(name string) string {
				if name == "PATH" {
					return bin + ":/usr/bin:/bin"
				}
				return ""
			}, Note: func(text string) { t.Log(text) }},
			Paths:   settings.Paths{Root: root, Dir: root, Folders: config.Folders{State: t.TempDir()}},
			Environ: []string{"PATH=/usr/bin:/bin"}, Config: func() *config.Config { return &config.Config{} }, Whole: whole,
		}
	}
	f := <-Learn(t.Context(), place(false))
	if f.Git.Branch != "main" || len(f.Git.Status)+len(f.Git.Commits) > 0 || !strings.Contains(f.Git.Why, "follow") {
		t.Fatalf("at once: %+v", f.Git)
	}
	told := make(chan string, 1)
	end := f.Later(func(text string) { told <- text })
	put(gate, "", 0o644)
	if text := <-told; !strings.Contains(text, "slow.go") || !strings.Contains(text, "the first") || !strings.Contains(text, "by now") {
		t.Errorf("told %q", text)
	}
	end()
	if f = <-Learn(t.Context(), place(true)); len(f.Git.Status) != 1 || f.Git.Why != "" {
		t.Errorf("whole: %+v", f.Git)
	}
	f.Later(nil)()

	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f = <-Learn(ctx, place(false))
	f.Later(func(text string) { t.Errorf("told after the end: %q", text) })()
}
