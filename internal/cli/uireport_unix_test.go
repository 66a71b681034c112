//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
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
	x.keys("/doctor", enter)
	x.until(`model +ok +script/`)
	x.until(`terminal +ok +xterm`)
	x.keys("/release-notes", enter)
	x.until(`No version has been released yet`)
	x.keys("/output-style nope", enter)
	x.until(`there is no output style "nope"; there are default, .*concise`)
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
	settings := func(want bool) {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(p.home, ".adze", "settings.json"))
		if err != nil || strings.Contains(string(raw), `"output_style": "concise"`) != want {
			t.Errorf("%s, %v", raw, err)
		}
	}
	x.keys("/output-style concise", enter)
	x.until(`The output style is concise from the next session on: /clear begins one`)
	settings(true)
	x.keys("/output-style default", enter)
	x.until(`The output style is default from the next session on`)
	settings(false)
	if s := x.all(); strings.Contains(s, "settings changed") {
		t.Errorf("it is told twice:\n%s", s)
	}
}

// Mistakes are told in the words of the terminal UI, and nothing comes of them.
func TestUIReportsOfMistakes(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	c := p.adze("--model", "script/"+p.put("model.txt", "> One.\n"), "--sandbox", "off")
	x := p.inTerminal(c, 100, 40, "EDITOR=true")
	x.until(`What shall be done here`)
	x.keys("begin", enter)
	x.until(`● One\.`)
	x.gone(`interrupts`)
	x.keys("/export /nonexistent/x.md", enter)
	x.until(`✗ /nonexistent/x\.md: no such file or directory`)
	x.keys("/export out.pdf", enter)
	x.until(`✗ no session can be written as "\.pdf"\n  the endings are \.md, \.html, \.json and \.jsonl`)
	if _, err := os.Lstat(filepath.Join(p.dir, "out.pdf")); err == nil {
		t.Error("it was written all the same")
	}
	x.keys("/export out.HTML", enter)
	x.until("Written to .*out\\.HTML")
	x.keys("/sandbox foo", enter)
	x.until(`✗ there is no command "sandbox foo"\n  /help says what can stand behind /sandbox`)
	x.keys("/stats --by foo", enter)
	x.until(`✗ --by cannot be "foo"\n  one of model, project, day, tool`)
	x.keys("/login bogus", enter)
	x.until(`✗ there is no such provider that takes a key\n  one of anthropic, `)
	x.keys("/login anthropi", enter)
	x.until(`did you mean anthropic\? /login lists all`)
	x.keys("/keybindings", enter)
	x.until(`The keys stay as they were`)
	if _, err := os.Lstat(filepath.Join(p.home, ".adze", "keybindings.json")); err == nil {
		t.Error("a file was left that nobody wrote")
	}
	if s := x.all(); strings.Contains(s, "adze login") || strings.Contains(s, "hint:") {
		t.Errorf("it speaks of the command line:\n%s", s)
	}
}

// A question on the side is answered while a turn runs, and nothing of it enters
// the conversation.
func TestUIAsksOnTheSide(t *testing.T) {
	p := newPlace(t)
	x := p.ui(90, 40, "@ Bash {\"command\": \"ls; sleep 1000\"}\n---\n!stall\n---\n? prompt contains \"what does Sum return\"\n> The **sum**, of course.\n---\n> Never.\n", "--allowed-tools", "Bash(sleep:*)")
	x.until(`What shall be done here`)
	x.keys("/btw", enter)
	x.until(`/btw <question>`)
	x.keys(enter)
	x.until(`what is the question`)
	x.keys("\x03")
	x.keys("begin", enter)
	x.until(`sleep 1000`)
	x.keys("/btw what hangs?", enter)
	x.until(`asking on the side`)
	x.keys("/btw again", enter)
	x.until(`asked already: Esc stops it`)
	x.keys("\x03")
	x.keys(esc)
	x.until(`the question on the side is not asked any more`)
	x.until(`Esc interrupts`) // the turn goes on
	x.keys("/btw what does Sum return?", enter)
	x.until(`/btw what does Sum return\?\n +The sum, of course\.`)
	x.gone(`asking on the side`)
	x.until(`Esc interrupts`)
	x.keys(esc)
	x.until(`Interrupted\.`)
	st, events := p.history()
	if n := strings.Count(fmt.Sprint(st.Messages()), "Sum"); n != 0 {
		t.Errorf("the conversation has it: %v", st.Messages())
	}
	if st.Helpers[event.ForAside].Requests() == 0 {
		t.Errorf("what it cost is not in the log: %+v", st.Helpers)
	}
	for _, e := range events {
		if b, ok := e.Body.(event.InputAccepted); ok && strings.Contains(b.Text, "Sum") {
			t.Errorf("it was said in the session: %+v", b)
		}
	}
}

// In tmux /copy fills tmux's buffer as well.
func TestUICopiesInTmux(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "tmux"), []byte("#!/bin/sh\n[ \"$*\" = 'load-buffer -w -' ] && cat > "+bin+"/buffer\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := p.adze("--model", "script/"+p.put("model.txt", "> To be copied.\n"), "--sandbox", "off")
	x := p.inTerminal(c, 80, 24, "TMUX="+bin+"/socket,1,0", "PATH="+bin+":"+os.Getenv("PATH"))
	x.until(`What shall be done here`)
	x.keys("go", enter)
	x.until(`● To be copied\.`)
	x.keys("/copy", enter)
	x.until(`copied the last answer to tmux's buffer, and sent it to the terminal`)
	if raw, err := os.ReadFile(filepath.Join(bin, "buffer")); err != nil || strings.TrimSpace(string(raw)) != "To be copied." {
		t.Errorf("the buffer has %q, %v", raw, err)
	}
}
