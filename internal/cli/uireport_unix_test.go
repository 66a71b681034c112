//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the terminal UI answers by itself, without a model.
func TestUIReports(t *testing.T) {
	p := newPlace(t)
	in := p.adze("login", "openai")
	in.Stdin = strings.NewReader("sk-planted-0123456789abcdef\n")
	if out, err := in.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lib := filepath.Join(filepath.Dir(p.dir), "lib")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	x := p.ui(100, 40, "> One.\n")
	x.until(`What shall be done here`)
	x.keys("/logout", enter)
	x.until(`❯ openai`)
	x.keys(enter)
	x.until(`[Ff]orgotten|forgot`)
	x.keys("/logout", enter)
	x.until(`no key is saved`)
	x.keys("/release-notes", enter)
	x.until(`No version has been released yet`)
	x.keys("/output-style nope", enter)
	x.until(`there is no output style "nope"; there are .*concise`)
	x.keys("/bug", enter)
	x.until(`what adze doctor prints`)
	x.keys("begin", enter)
	x.until(`● One\.`)
	x.keys("/add-dir "+lib, enter)
	x.until(`can be used as this folder is, until adze ends`)
	x.keys("/add-dir", enter)
	x.until(`lib \(/add-dir\)`)
	if s := x.all(); strings.Contains(s, "settings changed") {
		t.Errorf("it is told twice:\n%s", s)
	}
	if raw, err := os.ReadFile(filepath.Join(p.dir, ".adze", "settings.local.json")); err == nil {
		t.Errorf("it is kept: %s", raw)
	}
	x.keys("/add-dir --keep "+lib, enter)
	x.until(`That is kept in`)
}
