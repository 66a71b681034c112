package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLockedFoldersHideNothing: a command that locks folders keeps nothing in
// them from being found and moved.
func TestLockedFoldersHideNothing(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("no mode stops root")
	}
	c := testConfig(t, "bwrap")
	s := open(t, c)
	unlock := func() {
		for _, d := range []string{"", "sub", "noread"} {
			_ = os.Chmod(filepath.Join(c.Dir, d), 0o700)
		}
	}
	t.Cleanup(unlock)
	for script, path := range map[string]string{
		"echo '{}' >.mcp.json; chmod 555 .":                 ".mcp.json",
		"mkdir -p sub && echo x >sub/.envrc; chmod 555 sub": "sub/.envrc",
		// Locked before it has the name for which it is taken.
		"mkdir -p noread/deep/v && echo x >noread/deep/v/a; chmod 311 noread; mv noread/deep/v noread/deep/.vscode": "noread/deep/.vscode",
	} {
		unlock() // what was taken before the lock came left the folder locked
		sh(t, s, script)
		found := s.Found()
		if len(found) != 1 || found[0].Path != filepath.Join(c.Dir, path) || found[0].At == "" {
			t.Errorf("%s: %+v", script, found)
		}
		if exists(filepath.Join(c.Dir, path)) {
			t.Errorf("%s: it is still there", script)
		}
	}
}

// TestFoundShowsWhatItHolds: nothing of a file is hidden from who is asked, and
// what is not shown is said.
func TestFoundShowsWhatItHolds(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".envrc")
	for text, want := range map[string][]string{
		"touch MARK #\r# use nix\n":             {`touch MARK #\r# use nix`},
		"echo a\x1b[2K\x1b[1G# harmless\n":      {`\x1b[2K`},
		strings.Repeat("# pad\n", 5000) + "x\n": {"NOT ALL IS SHOWN"},
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := preview(file)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%.40q is shown as %.80q, without %s", text, got, w)
			}
		}
		if strings.ContainsAny(got, "\r\x1b") {
			t.Errorf("%.40q: control characters are shown", text)
		}
	}
	many := filepath.Join(dir, ".vscode")
	for i := range shownFiles + 5 {
		if err := os.MkdirAll(many, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(many, strings.Repeat("f", i+1)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := preview(many); !strings.Contains(got, "NOT ALL IS SHOWN") {
		t.Errorf("a folder of many: %.200s", got)
	}
}
