//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A command that the terminal UI gives answers for this run: for its flags, its mode
// and its rules, and not for one that starts anew.
func TestUICommandsAnswerForThisRun(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	model := p.put("model.txt", "> Fine.\n")
	lib := filepath.Join(p.home, "lib")
	if err := os.Mkdir(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	x := p.inTerminal(p.adze("--model", "script/"+model, "--sandbox", "off", "--disallowed-tools", "Bash(git status:*)", "--permission-mode", "plan", "--settings", `{"cost":{"warn_usd":42}}`, "--add-dir", lib), 100, 40)
	x.until(`plan`)
	x.keys("/permissions check git status", enter)
	x.until(`deny +git status`)
	x.keys("/permissions list", enter)
	x.until(`(?s)mode plan, folders .*home/lib`)
	more := filepath.Join(p.home, "more")
	if err := os.Mkdir(more, 0o755); err != nil {
		t.Fatal(err)
	}
	x.keys("/add-dir "+more, enter)
	x.until(`can be used as this folder is`)
	x.keys("/doctor", enter) // which names the model, and so reads the settings once more
	x.until(`(?s)folders +ok +used as this one is:.*home/lib \(--add-dir\).*home/more\s+\(/add-dir\)`)
	x.keys("/config get cost.warn_usd", enter)
	x.until(`42`)
	x.keys("/permissions check --cwd .. ls", enter)
	x.until(`counts for a whole run`)
	x.keys("\x1b[Z", "/permissions list", enter) // Shift+Tab: another mode
	x.until(`mode (default|acceptEdits|auto), folders`)
}
