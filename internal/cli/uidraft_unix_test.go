//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Killed in the middle of a prompt: the next start in the folder names the
// session and has the prompt again.
func TestUIKilledWithADraft(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "> One.\n", "first of all")
	x.until(`● One\.`)
	x.gone(`interrupts`)
	x.keys("and then rename")
	drafts := func() (texts string) {
		files, _ := filepath.Glob(filepath.Join(p.home, ".adze", "drafts", "*"))
		for _, f := range files {
			b, _ := os.ReadFile(f)
			if i, err := os.Stat(f); err == nil && i.Mode().Perm() != 0o600 {
				t.Errorf("%s has the mode %v", f, i.Mode())
			}
			texts += string(b)
		}
		return texts
	}
	limit, look := time.After(waitFor), time.NewTicker(10*time.Millisecond)
	defer look.Stop()
	for !strings.Contains(drafts(), "and then rename") {
		select {
		case <-look.C:
		case <-limit:
			t.Fatal("the draft is not kept")
		}
	}
	_ = x.cmd.Process.Kill()
	<-x.done

	x = p.ui(80, 24, "> Two.\n")
	x.until(`cut off .* ago: first of all`)
	x.until(`/resume [0-9a-f-]{36}`)
	x.until(`is in the history`)
	x.keys("\x10") // Ctrl+P
	x.until(`│ › and then rename`)
	x.keys("\x03")
	x.gone(`› and then rename`)
	x.keys("/exit", enter)
	x.ended()
	if s := drafts(); s != "" {
		t.Errorf("it stays on disk: %s", s)
	}
	x = p.ui(80, 24, "> Three.\n")
	x.until(`What shall be done here`)
	if s := x.all(); strings.Contains(s, "cut off") {
		t.Errorf("told twice:\n%s", s)
	}
}
