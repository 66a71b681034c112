//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// plainUI starts adze in a terminal that can do nothing.
func (p *place) plainUI(model string, flags ...string) *terminal {
	p.t.Helper()
	p.startedBefore()
	c := p.adze(append([]string{"--model", "script/" + p.put("model.txt", model), "--sandbox", "off"}, flags...)...)
	return p.inTerminal(c, 80, 40, "TERM=dumb")
}

// typed is a line that somebody types where something is asked with words.
func (x *terminal) typed(asks, line string) {
	x.t.Helper()
	x.until(`(?m)^` + asks + `> ?\n*\z`)
	x.keys(line + "\n")
}

// Whoever uses it line by line is told whose turn it is, from the first prompt to
// the shell's own.
func TestUIPlain(t *testing.T) {
	p := newPlace(t)
	x := p.plainUI(`
> First.
@ Bash {"command": "seq 30; touch made"}
---
> Second.
@ AskUserQuestion {"questions":[{"question":"Which?","header":"Base","options":[{"label":"SQLite","description":"a file"},{"label":"Postgres","description":"a server"}]}]}
---
? result contains "banana"
> Third.
`)
	x.typed("", "go")
	x.dialog(`3 No\n`)
	x.typed("1 to 3", "yess")
	x.until(`is “yess” a yes or a no\?`)
	if _, err := os.Stat(filepath.Join(p.dir, "made")); err == nil {
		t.Error("it ran without an answer")
	}
	x.typed("1 to 3", "y")
	x.until(`25 earlier lines \(/transcript\)`)
	x.dialog(`3 Something else`)
	x.typed("number or words", "y")
	x.until(`“y” is none of the answers`)
	x.typed("number or words", "banana")
	x.until(`Your answer: “banana”`)
	x.until(`● Third\.\n\n  Done: .*tokens in, \d+ out\.\n>`)
	x.typed("", "/transcript")
	x.until(`17\n`)
	x.typed("", "/mode")
	x.typed("1 to 5", "plan")
	x.typed("", "/permissions")
	x.until(`Mode: plan \(plan mode\)\. /mode changes it\.`)
	x.typed("", "/exit")
	if code := x.ended(); code != 0 {
		t.Errorf("exit %d", code)
	}
	before, _, _ := strings.Cut(x.all(), "> /transcript")
	if n := strings.Count(before, "go\n"); n != 1 {
		t.Errorf("what was typed stands %d times:\n%s", n, before)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := strings.IndexByte(string(x.bytes), 0x1b); i >= 0 {
		t.Errorf("a sequence was written: %q", x.bytes[i:])
	}
}

// Lines that are pasted are one prompt, and an empty line sends it.
func TestUIPlainPaste(t *testing.T) {
	p := newPlace(t)
	x := p.plainUI("? prompt matches \"one\\n\\ntwo\\nthree\"\n> As one.\n---\n? else\n> Torn.\n")
	x.until(`(?m)^>`)
	x.keys("one\n\ntwo\n")
	x.until(`3 lines\. An empty line sends them`)
	x.keys("three\n")
	x.until(`4 lines\.`)
	x.keys("\n")
	x.until(`● As one\.`)
}

// Ctrl+D leaves when it comes twice, and what comes then has a line of its own.
func TestUIPlainLeaves(t *testing.T) {
	p := newPlace(t)
	x := p.plainUI("> First.\n")
	x.typed("", "go")
	x.until(`Done: `)
	x.until(`(?m)^>$`)
	x.keys("\x04")
	x.until(`Press Ctrl\+D again to quit\n>`)
	x.keys("\x04")
	if code := x.ended(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if all := x.all(); !regexp.MustCompile(`(?m)^>\n+adze: go on with: adze --resume`).MatchString(all) {
		t.Errorf("it ended with\n%s", all)
	}
}

// A server's form is filled in row by row.
func TestUIPlainForm(t *testing.T) {
	p := newPlace(t)
	file := p.put("servers.json", `{"mcpServers":{"words":{"command":"mcpserver","args":["asking"]}}}`)
	x := p.plainUI("@ mcp__words__form {}\n---\n? result contains \"Ann\"\n> Filled in.\n---\n? else\n> Nothing came.\n", "--mcp-config", file, "--strict-mcp-config", "--allowed-tools", "mcp__words")
	x.until(`(?m)^>`)
	for n := 1; !strings.Contains(x.all(), "words   connected"); n++ {
		x.keys("/mcp\n")
		x.when("what servers there are", func(string) bool { return strings.Count(x.all(), "shows its tools") == n })
	}
	x.typed("", "go")
	x.dialog(`Who\?`)
	x.typed("text", "A")
	x.until(`That cannot be taken`)
	x.typed("text", "Ann")
	x.typed("number", "20")
	x.until(`1 Send`)
	x.typed("1 to 3", "y")
	x.until(`● Filled in\.`)
}

// Whoever has no model is asked what there is to do, and keys are not shown.
func TestUIPlainLogin(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	x := p.inTerminal(p.adze(), 80, 40, "TERM=dumb")
	x.dialog(`There is no model yet`)
	x.typed("1 to 3", "9")
	x.until(`9 is no number of an answer`)
	x.typed("1 to 3", "1")
	x.until(`1 anthropic  or the variable ANTHROPIC_API_KEY`)
	x.typed("number or letters", "open")
	x.until(`(?s)17 vllm.*2 openrouter`)
	x.typed("number or letters", "1")
	x.until(`API key of openai`)
	x.keys(ctrlC)
	x.until(`adze login was interrupted`)
	x.dialog(`(?s)was interrupted.*There is no model yet`)
	x.typed("1 to 3", "")
	x.until(`there is no session: what you send asks again, /exit leaves`)
	x.typed("", "hello")
	x.until(`there is no session to send it to`)
	x.dialog(`Not sent: “hello”`)
	x.typed("1 to 3", "3")
	x.until(`(?s)1 to 3> 3\n.*Nothing was found\.`)
}

// Where Ctrl+C comes as a signal, one interrupts and two leave.
func TestUIPlainInterrupt(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	c := p.adze("--model", "script/"+p.put("model.txt", "@ Bash {\"command\": \"touch begun; sleep 1000\"}\n"), "--sandbox", "off", "--allowed-tools", "Bash", "go")
	x := p.inTerminal(c, 80, 24, "TERM=dumb")
	x.until(`adze 0`)
	x.made(filepath.Join(p.dir, "begun"))
	x.keys("\x03")
	x.until(`Press Ctrl\+C again to quit`)
	x.until(`[Ii]nterrupted`)
	x.keys("\x03") // the second within the time, or the first of two others
	again := regexp.MustCompile(`(?s)again to quit.*again to quit`)
	if s := x.when("an end, or the way to one", func(s string) bool { return strings.Contains(s, "go on with") || again.MatchString(s) }); !strings.Contains(s, "go on with") {
		x.keys("\x03")
	}
	x.until(`go on with: adze --resume`)
	if code := x.ended(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}
