//go:build unix

package environment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/prompt"
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
	put(filepath.Join(root, ".git/index"), "DIRC\x00\x00\x00\x02\x00\x00\x00\x00FILL\x00\x10\x00\x00"+strings.Repeat("x", smallIndex+20), 0o644) // no file, and much else
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
	told := make(chan prompt.Git, 1)
	end := f.Later(func(g prompt.Git) { told <- g })
	put(gate, "", 0o644)
	g := <-told
	if text := prompt.Late(g); !strings.Contains(text, "slow.go") || !strings.Contains(text, "the first") || !strings.Contains(text, "by now") {
		t.Errorf("told %q", text)
	}
	end()
	// Until git answers, what it said when it was told last counts; then, what it says.
	env := func(g prompt.Git) event.Situated {
		return Event(prompt.Situation(prompt.Assemble(prompt.Input{Env: prompt.Environment{Dir: "/w", Git: g}})))
	}
	was, now := env(prompt.Git{Branch: "main", Status: []string{" M old"}}), env(f.Git)
	if d := cmp.Diff(was, Pending(was, now)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(env(g), Answered(now, g)); d != "" {
		t.Error(d)
	}
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
	f.Later(func(g prompt.Git) { t.Errorf("told after the end: %+v", g) })()
}

// The larger git's index is, the less a session waits.
func TestPatience(t *testing.T) {
	root := t.TempDir()
	index := filepath.Join(root, ".git", "index")
	if err := os.MkdirAll(filepath.Join(root, ".git", "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, ".git", "refs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := Place{Paths: settings.Paths{Root: root, Dir: root}}
	if got := p.patient(); got != patienceSmall {
		t.Errorf("no index: %v", got)
	}
	for size, want := range map[int64]time.Duration{smallIndex: patienceSmall, largeIndex: patience, largeIndex + 1: 0} {
		if err := os.WriteFile(index, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(index, size); err != nil {
			t.Fatal(err)
		}
		if got := p.patient(); got != want {
			t.Errorf("an index of %d bytes: %v, want %v", size, got, want)
		}
	}
}
