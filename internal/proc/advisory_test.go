package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestAdvisories holds published weaknesses of starting programs against us.
func TestAdvisories(t *testing.T) {
	t.Run("CVE-2026-10591_no_program_from_the_workspace", func(t *testing.T) {
		work, system := t.TempDir(), t.TempDir()
		tool := "git"
		if runtime.GOOS == "windows" {
			tool = "git.exe"
		}
		for _, d := range []string{work, filepath.Join(work, "node_modules", ".bin"), system} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(d, tool), []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir(work)
		search := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
		for _, before := range []string{"", ".", "node_modules/.bin", work, work + string(filepath.Separator), filepath.Join(work, "node_modules", ".bin"), system + "/../" + filepath.Base(work)} {
			got, ok := Lookup("git", search(before, system), []string{work})
			if want := filepath.Join(system, tool); !ok || got != want {
				t.Errorf("%q before the system's: %q, want %q", before, got, want)
			}
			if got, ok := Lookup("git", before, []string{work}); ok {
				t.Errorf("%q alone: %q", before, got)
			}
		}
	})
	t.Run("CVE-2025-61260_no_steering_variable_for_our_own_programs", func(t *testing.T) {
		in := []string{"HOME=/h", "GIT_DIR=x", "GIT_SSH_COMMAND=x", "GIT_EXTERNAL_DIFF=x", "LD_PRELOAD=x", "BASH_ENV=x", "NODE_OPTIONS=x", "PYTHONSTARTUP=x", "PERL5OPT=x", "RUBYOPT=x"}
		got := Pin(in, nil, func(string) bool { return true }, nil)
		for _, kv := range got {
			if strings.HasSuffix(kv, "=x") {
				t.Errorf("%s is left", kv)
			}
		}
		if !strings.Contains(strings.Join(got, " "), "HOME=/h") {
			t.Errorf("nothing is left: %q", got)
		}
	})
}
