//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const watched = `> I look first.
@ Read {"file_path": "calc.go"}
---
@ Edit {"file_path": "calc.go", "old_string": "calc", "new_string": "sums"}
---
@ Bash {"command": "rm -r build"}
---
> It is **done**.
`

// Print mode at a terminal draws what the terminal UI draws, and its answer
// once; where stdout is no terminal, the answer there is as the model gave it.
func TestPrintAtATerminal(t *testing.T) {
	for name, c := range map[string]struct {
		to     string
		answer string // on the screen
		out    string // in the file
	}{
		"both":        {"", "● It is done.", ""},
		"stdout away": {" > out.txt", "", "It is **done**.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.put("calc.go", "package calc\n")
			p.put(".env", "KEY=1\n")
			adze := p.adze("-p", "'go on with @.env'", "--model", "script/"+p.put("model.txt", watched), "--sandbox", "off", "--permission-mode", "acceptEdits")
			sh := exec.Command("sh", "-c", strings.Join(adze.Args, " ")+c.to)
			sh.Dir, sh.Env = adze.Dir, adze.Env
			x := p.inTerminal(sh, 80, 30)
			x.ended()
			s := x.all()
			for _, want := range []string{"● I look first.\n", "  Read   calc.go", "✎ Edit   calc.go", "+1 −1", "✗ Bash   rm -r build", "refused", "not attached: .env", c.answer} {
				if !strings.Contains(s, want) {
					t.Errorf("%q is missing:\n%s", want, s)
				}
			}
			if n := strings.Count(s, "It is"); n != strings.Count(c.answer, "It is") {
				t.Errorf("the answer stands there %d times:\n%s", n, s)
			}
			if n := strings.Count(s, "Edit   "); n != 1 {
				t.Errorf("what ran still stands there:\n%s", s)
			}
			out, _ := os.ReadFile(filepath.Join(p.dir, "out.txt"))
			if string(out) != c.out {
				t.Errorf("stdout has %q", out)
			}
		})
	}
}

// What runs, and a model that says nothing, is seen with how long it takes, and goes
// away with the run.
func TestPrintCountsSeconds(t *testing.T) {
	p := newPlace(t)
	x := p.inTerminal(p.adze("-p", "go", "--model", "script/"+p.put("model.txt", "!stall\n"), "--sandbox", "off"), 80, 24)
	x.until(`○ waits for the model +2 s`)
	x.until(`○ waits for the model +3 s`)
	x.keys(ctrlC)
	x.ended()
	if s := x.all(); strings.Contains(s, "waits for") {
		t.Errorf("it still stands there:\n%s", s)
	}
	x = p.inTerminal(p.adze("-p", "go", "--model", "script/"+p.put("model.txt", "@ Bash {\"command\": \"ls; sleep 1000\"}\n"), "--sandbox", "off", "--allowed-tools", "Bash(sleep:*)"), 80, 24)
	x.until(`○ Bash +ls; sleep 1000 +1 s`)
	x.until(`○ Bash +ls; sleep 1000 +2 s`)
	x.keys(ctrlC)
	x.ended()
	if s := x.all(); strings.Contains(s, "○") {
		t.Errorf("it still stands there:\n%s", s)
	}
}

// At a terminal a long message is broken between words, below its first line.
func TestMessagesAtATerminal(t *testing.T) {
	p := newPlace(t)
	x := p.inTerminal(p.adze("login", "bogus"), 60, 24)
	x.ended()
	want := "adze: there is no such provider that takes a key\nhint: one of anthropic, openai, gemini, openrouter, groq,\n      deepseek, "
	if s := x.all(); !strings.Contains(s, want) {
		t.Errorf("it says\n%s", s)
	}
}
