//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// With --worktree the sessions of the terminal UI work there, also one that was cleared, and the
// checkout stays as it is. What is left in it is told at the end.
func TestUIWorktree(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not here")
	}
	p := newPlace(t)
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=P", "-c", "user.email=p@example.org", "commit", "-q", "--allow-empty", "-m", "begin"}} {
		c := exec.Command(git, args...)
		c.Dir, c.Env = p.dir, []string{"HOME=" + p.home, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	x := p.ui(100, 24, `
@ Write {"file_path": "made", "content": "x\n"}
---
> It is there.
---
@ Write {"file_path": "more", "content": "x\n"}
---
> More is there.
`, "--worktree=login", "--permission-mode", "acceptEdits")
	x.until(`What shall be done here`)
	x.keys("make it", enter)
	x.until(`● It is there\.`)
	x.keys("/clear", enter)
	x.until(`What shall be done here`)
	x.keys("make more", enter)
	x.until(`is there\.`)
	x.gone(`interrupts`)
	x.keys(ctrlC, ctrlC)
	if code := x.ended(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if all := strings.Join(strings.Fields(x.all()), " "); !strings.Contains(all, "stays (login, branch adze/login)") {
		t.Errorf("it does not say what stays:\n%s", x.all())
	}
	if _, err := os.Stat(filepath.Join(p.dir, ".adze/worktrees/login/made")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"made", "more"} {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
			t.Errorf("%s is in the checkout", name)
		}
	}
}
