//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// "#" adds a line to a memory file, /memory lists all that was read and opens one
// in the person's editor, and /init has the model write a first AGENTS.md.
func TestUIMemory(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	for name, text := range map[string]string{"CLAUDE.md": "first line", "sub/AGENTS.md": "in the folder below", "sub/x.go": "package x\n"} {
		path := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// It waits until somebody typed ahead, and until the UI's first moments are over, in
	// which each end of a line is Enter.
	editor := p.put("editor", "#!/bin/sh\necho it is edited\nuntil [ -e \"$0.typed\" ]; do sleep 0.01; done\nsleep 0.3\necho edited >> \"$1\"\n")
	if err := os.Chmod(editor, 0o755); err != nil {
		t.Fatal(err)
	}
	c := p.adze("--model", "script/"+p.put("model.txt", `@ Read {"file_path": "sub/x.go"}
---
> I have seen it.
---
? prompt contains "Write an AGENTS.md for this repository"
> I look around.
---
? else
> That was no command.
`), "--sandbox", "off")
	x := p.inTerminal(c, 100, 30, "EDITOR="+editor)
	x.until(`What shall be done here`)
	x.keys("# tests run with  make check", enter)
	x.until(`Add this line to`)
	x.keys(enter)
	x.until(`added to this project`)
	theirs := filepath.Join(p.home, ".claude", "CLAUDE.md")
	if err := os.MkdirAll(filepath.Dir(theirs), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(theirs, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	x.keys("# be brief", enter)
	x.until(`Add this line to`)
	x.keys(down, down, enter)
	x.until(`added to all my projects`)
	x.keys("# and kind", enter)
	x.until(`Add this line to`)
	x.keys(down, down, enter)
	x.gone(`Add this line to`)
	x.keys("look", enter)
	x.until(`● I have seen it`)
	x.keys("/memory", enter)
	x.until(`(?s)Edit a memory file.*this project.*only for me.*all my projects.*sub/AGENTS\.md`)
	x.keys("sub/AG", enter)
	x.until(`it is edited`)
	x.keys("/init", enter)
	p.put("editor.typed", "")
	x.until(`● I look around`)
	x.keys("/exit", enter)
	x.ended()
	for name, want := range map[string]string{"CLAUDE.md": "first line\n- tests run with make check\n", "sub/AGENTS.md": "in the folder belowedited\n"} {
		if b, err := os.ReadFile(filepath.Join(p.dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v; want %q", name, b, err, want)
		}
	}
	if b, err := os.ReadFile(filepath.Join(p.home, ".adze", "AGENTS.md")); err != nil || string(b) != "@~/.claude/CLAUDE.md\n- be brief\n- and kind\n" {
		t.Errorf("all my projects: %q, %v", b, err)
	}
	if es, _ := os.ReadDir(p.dir); strings.Contains(strings.Join(names(es), " "), "AGENTS.local.md") {
		t.Errorf("%v", names(es))
	}
}

func names(es []os.DirEntry) (out []string) {
	for _, e := range es {
		out = append(out, e.Name())
	}
	return out
}
