//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

const (
	esc   = "\x1b"
	enter = "\r"
	ctrlC = "\x03"
	down  = "\x1b[B"
	up    = "\x1b[A"
)

func TestUIAnswersAsksAndResumes(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, `
> I look **around** first.
@ Bash {"command": "touch made", "description": "Make a file"}
---
> It is there.
`)
	x.until(`What shall be done here`)
	x.keys("make it", enter)
	s := x.dialog(`Run this command\?`)
	for _, want := range []string{"touch made", "asks because", "› make it", "● I look around first."} {
		if !strings.Contains(x.all(), want) {
			t.Errorf("%q is missing:\n%s", want, s)
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "made")); err == nil {
		t.Error("it ran before the answer")
	}
	x.keys(enter)
	x.until(`● It is there\.`)
	if _, err := os.Stat(filepath.Join(p.dir, "made")); err != nil {
		t.Error(err)
	}
	x.gone(`interrupts`)
	x.keys(ctrlC, ctrlC)
	if code := x.ended(); code != 0 {
		t.Errorf("exit %d", code)
	}
	x.restored()
	id := regexp.MustCompile(`adze --resume ([0-9a-f-]{36})`).FindStringSubmatch(x.all())
	if id == nil {
		t.Fatalf("it does not say how to come back:\n%s", x.all())
	}
	x = p.ui(80, 24, "> Again.\n", "--resume", id[1])
	x.until(`● It is there\.`)
	x.keys("go on", enter)
	x.until(`● Again\.`)
	if n := strings.Count(x.all(), "It is there."); n != 1 {
		t.Errorf("what was said is shown %d times:\n%s", n, x.all())
	}
}

func TestUIInterrupts(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "> Begin.\n@ Bash {\"command\": \"ls; sleep 1000\"}\n---\n> Never.\n", "--allowed-tools", "Bash(sleep:*)")
	x.until(`╭─`)
	x.keys("wait", enter) // perhaps before the session is open
	x.until(`Esc interrupts`)
	x.until(`sleep 1000`)
	x.keys(esc)
	x.until(`Interrupted\.`)
	x.gone(`Esc interrupts`)
	if s := x.screen(); strings.Contains(s, "Never") {
		t.Errorf("it went on:\n%s", s)
	}
}

func TestUIRunsCommandsOfThePerson(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "? prompt contains \"from-the-shell\"\n> I read it.\n---\n? else\n> I read nothing.\n")
	x.until(`What shall be done here`)
	x.keys("!echo from-the-''shell; exit 3", enter)
	x.until(`│ from-the-shell`)
	x.until(`exit 3`)
	x.keys("what was that?", enter)
	x.until(`● I read`)
	if !strings.Contains(x.all(), "I read it.") {
		t.Errorf("the model did not read it:\n%s", x.all())
	}
}

// What a person scrolls back to is what was said, once, whatever happened to
// the size of the screen meanwhile.
func TestUIScrollbackAfterResizes(t *testing.T) {
	p := newPlace(t)
	var reply strings.Builder
	reply.WriteString("~ 10ms\n")
	for i := range 60 {
		fmt.Fprintf(&reply, "> - item %d\n", i)
	}
	x := p.ui(80, 24, reply.String())
	x.until(`What shall be done here`)
	x.keys("list", enter)
	x.until(`item 1`)
	for i := range 20 {
		x.resize(60+(i*7)%40, 16+(i*5)%12)
		x.until(`interrupts|item 59`)
	}
	x.resize(80, 24)
	x.until(`item 59`)
	x.gone(`interrupts`)
	all := x.all()
	for i := range 60 {
		if n := len(regexp.MustCompile(fmt.Sprintf(`(?m)item %d$`, i)).FindAllString(all, -1)); n != 1 {
			t.Errorf("item %d is there %d times", i, n)
		}
	}
	if t.Failed() {
		t.Log(all)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := strings.Count(string(x.bytes), "\x1b[2J"); n != 0 {
		t.Errorf("the screen was cleared %d times", n)
	}
}

func TestUIPasteAndCompletion(t *testing.T) {
	p := newPlace(t)
	p.put("parser.go", "package parser\n")
	x := p.ui(80, 24, "? prompt contains \"line 4999\"\n> All of it came.\n---\n? else\n> Some is missing.\n")
	x.until(`What shall be done here`)
	var big strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&big, "line %d\n", i)
	}
	x.keys("\x1b[200~" + big.String() + "\x1b[201~")
	x.until(`Pasted 5,?000 lines`)
	x.keys(" of @pars")
	x.until(`❯ parser.go`)
	x.keys("\t")
	x.until(`@parser.go`)
	x.keys(enter)
	x.until(`● All of it came\.`)
}

func TestUIIsLeftInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(*terminal)
		code  int
	}{
		"quit":    {func(x *terminal) { x.keys("/exit", enter) }, 0},
		"SIGTERM": {func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGTERM) }, 143},
		"SIGHUP":  {func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGHUP) }, 129},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			x := p.ui(80, 24, "> Begin.\n@ Bash {\"command\": \"ls; sleep 1000\"}\n", "--allowed-tools", "Bash(sleep:*)")
			x.until(`What shall be done here`)
			if name != "quit" {
				x.keys("go", enter)
				x.until(`sleep 1000`)
			}
			c.leave(x)
			if code := x.ended(); code != c.code {
				t.Errorf("exit %d, want %d:\n%s", code, c.code, x.all())
			}
			x.restored()
		})
	}
}

// When the terminal goes away, adze ends by itself, and the session is whole.
func TestUITerminalIsKilled(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "> Begin.\n@ Bash {\"command\": \"ls; sleep 1000\"}\n", "--allowed-tools", "Bash(sleep:*)")
	x.until(`What shall be done here`)
	x.keys("go", enter)
	x.until(`sleep 1000`)
	_ = x.tty.Close()
	x.ended()
	raw, err := os.ReadFile(filepath.Join(p.log(), "log.jsonl"))
	if err != nil || !strings.Contains(string(raw), `"turn_ended"`) {
		t.Errorf("the turn has no end: %v\n%s", err, raw)
	}
}

func TestUISuspends(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	adze := p.adze("--model", "script/"+p.put("model.txt", "> Back again.\n"), "--sandbox", "off")
	shell := exec.Command("bash", "--norc", "--noprofile", "-i")
	shell.Dir, shell.Env = adze.Dir, append(adze.Env, "PS1=shell$ ")
	x := p.inTerminal(shell, 80, 24)
	x.until(`shell\$`)
	x.keys(strings.Join(adze.Args, " ") + enter)
	x.until(`What shall be done here`)
	x.keys("half")
	x.until(`half`)
	x.keys("\x1a")
	x.until(`Stopped`)
	x.off(1004) // bash has pastes in brackets, too
	x.keys("fg" + enter)
	x.until(`› half`)
	x.keys(" whole")
	x.until(`half whole`)
	x.keys(enter)
	x.until(`● Back again\.`)
	x.keys("/exit", enter)
	x.until(`adze --resume`)
}

func TestUISwitchesModeAndSession(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "> One.\n")
	x.until(`What shall be done here`)
	x.keys("\x1b[Z")
	x.until(`accepts edits`)
	x.keys("\x1b[Z")
	x.until(`plan mode`)
	x.keys("remember me", enter)
	x.until(`● One\.`)
	x.gone(`interrupts`)
	x.keys("/clear", enter)
	x.until(`What shall be done here`)
	x.keys("/resume", enter)
	x.until(`❯ remember me`)
	x.keys(enter)
	x.until(`● One\.`)
}

func TestUIFirstStart(t *testing.T) {
	p := newPlace(t)
	c := p.adze("--sandbox", "off")
	c.Env = append(c.Env, "OLLAMA_HOST="+closedPort())
	x := p.inTerminal(c, 90, 30)
	x.until(`Which colours\?`)
	x.keys(down, down, enter)
	x.dialog(`There is no model yet`)
	x.keys(down)
	x.until(`❯ \d See the demo`)
	x.keys(enter)
	x.until(`● Now the test`)
	x.keys("/exit", enter)
	x.ended()
	raw, err := os.ReadFile(filepath.Join(p.home, ".adze", "settings.json"))
	if err != nil || !strings.Contains(string(raw), `"light"`) {
		t.Errorf("the theme was not kept: %v, %s", err, raw)
	}
}

// Without a key, a model or settings, a person who starts adze can save a key
// and go on at once.
func TestUIFirstKey(t *testing.T) {
	p := newPlace(t)
	c := p.adze("--sandbox", "off")
	c.Env = append(c.Env, "OLLAMA_HOST="+closedPort(), "ANTHROPIC_BASE_URL=http://"+closedPort())
	x := p.inTerminal(c, 90, 30)
	x.until(`Which colours\?`)
	x.keys(enter)
	x.dialog(`❯ \d Save a key`)
	x.keys(enter)
	x.until(`❯ anthropic`)
	x.keys(esc)
	x.dialog(`❯ \d Save a key`)
	x.keys(enter)
	x.until(`❯ anthropic`)
	x.keys("anthr", enter)
	x.until(`API key of anthropic`)
	x.keys(ctrlC)
	x.dialog(`❯ \d Save a key`)
	x.keys(enter)
	x.until(`❯ anthropic`)
	x.keys(enter)
	x.gone(`❯ anthropic`)
	x.until(`(?s)API key of anthropic.*API key of anthropic`) // the first one was left
	x.keys("sk-ant-api03-a-key-that-was-typed", enter)
	x.until(`claude-.*for help`)
	raw, err := os.ReadFile(filepath.Join(p.home, ".adze", "credentials.json"))
	if err != nil || !strings.Contains(string(raw), "a-key-that-was-typed") {
		t.Errorf("the key is not saved: %v", err)
	}
	if strings.Contains(x.all(), "a-key-that-was-typed") {
		t.Errorf("the key was shown:\n%s", x.all())
	}
}

// A model for which there is no key is no dead end: a key can be saved, and another
// model chosen.
func TestUIModelWithoutKey(t *testing.T) {
	p := newPlace(t)
	p.put("one.txt", "> One.\n")
	if err := os.MkdirAll(filepath.Join(p.home, ".adze"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home, ".adze", "settings.json"), []byte(`{"model": "opus", "ui": {"theme": "dark"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := p.adze("--sandbox", "off")
	c.Env = append(c.Env, "OLLAMA_HOST="+closedPort())
	x := p.inTerminal(c, 90, 30)
	x.until(`no key is set`)
	x.until(`settings\.json:1:11\)`)
	x.dialog(`❯ \d Save a key`)
	x.keys(down)
	x.until(`❯ \d Choose another model`)
	x.keys(esc)
	x.gone(`There is no session`)
	x.keys("/model script/one.txt", enter)
	x.until(`one\.txt .*for help`)
	x.keys("hello", enter)
	x.until(`● One\.`)
}

func TestUITrust(t *testing.T) {
	p := newPlace(t)
	if err := os.MkdirAll(filepath.Join(p.dir, ".adze"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.put(".adze/settings.json", `{"permissions": {"allow": ["Bash(touch:*)"]}}`)
	x := p.ui(90, 30, "@ Bash {\"command\": \"touch made\"}\n---\n> Made.\n")
	x.dialog(`Trust .*\?`)
	if s := x.screen(); !strings.Contains(s, "Bash(touch:*)") {
		t.Errorf("it does not say what the folder brings:\n%s", s)
	}
	x.keys(down)
	x.until(`❯ \d Yes, I know`)
	x.keys(enter)
	x.gone(`Yes, I know`)
	x.until(`What shall be done here`)
	x.keys("go", enter)
	x.until(`● Made\.`)
}

// What is gone needs no question, and a no is not asked again for.
func TestUITrustAsksOnce(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	folder := filepath.Join(p.dir, ".adze")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	p.put(".adze/settings.json", `{"permissions": {"allow": ["Bash(touch:*)"]}}`)
	for i, want := range []bool{true, false} {
		x := p.ui(90, 30, "> One.\n")
		if want {
			x.dialog(`Trust .*\?`)
			x.keys(enter)
			x.until(`it is asked about again when it changes`)
		}
		x.keys("go", enter)
		x.until(`● One\.`)
		if s := x.all(); strings.Contains(s, "Yes, I know") != want && i > 0 {
			t.Errorf("asked again:\n%s", s)
		}
		x.keys("/exit", enter)
		x.ended()
	}
	if out, err := p.adze("trust", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	x := p.ui(90, 30, "> One.\n")
	x.until(`What shall be done here`)
	x.keys("go", enter)
	x.until(`● One\.`)
	if s := x.all(); strings.Contains(s, "again?") {
		t.Errorf("asked about nothing:\n%s", s)
	}
}

func TestUIBackground(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "@ Bash {\"command\": \"ls; sleep 1000\"}\n---\n> It goes on.\n", "--allowed-tools", "Bash(sleep:*)", "go")
	x.until(`sleep 1000 +[1-9] s`) // it runs
	x.keys("\x02")
	x.until(`● It goes on\.`)
	x.until(`1 task \(/tasks\)`)
	x.keys("/tasks", enter)
	x.until(`❯ 1 b1`)
	x.keys(enter)
	x.until(`x stops it, Esc closes`)
	x.keys("x")
	x.gone(`1 task`)
}

func TestUIPicksASession(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "> One.\n", "first of all")
	x.until(`● One\.`)
	x.gone(`interrupts`)
	x.keys("/exit", enter)
	x.ended()
	x = p.ui(80, 24, "> Two.\n", "--resume")
	x.until(`❯ first of all`)
	x.keys(enter)
	x.until(`● One\.`)
}

// A session that cannot be opened is no end: another one can be had.
func TestUINoSuchSession(t *testing.T) {
	p := newPlace(t)
	x := p.ui(90, 30, "> One.\n", "--resume", "nowhere-known")
	x.dialog(`❯ \d Choose another session`)
	x.until(`nowhere-known`)
	x.keys(enter)
	x.until(`no other session of this project`)
	x.keys(esc)
	x.dialog(`❯ \d Choose another session`)
	x.keys(esc)
	x.gone(`There is no session`)
	x.keys("hello", enter)
	x.dialog(`❯ \d Choose another session`)
	x.keys(down)
	x.until(`❯ \d Begin a new session`)
	x.keys(enter)
	x.until(`› hello`)
	x.gone(`Opening`)
	x.keys(enter)
	x.until(`● One\.`)

	x = p.ui(90, 30, "> One.\n", "--resume", "nowhere-known")
	x.dialog(`❯ \d Choose another session`)
	x.keys(up, up, down, down, down)
	x.until(`❯ \d Leave adze`)
	x.keys(enter)
	if code := x.ended(); code == 0 || !strings.Contains(x.all(), "nowhere-known") {
		t.Errorf("exit %d:\n%s", code, x.all())
	}
}

func TestUISessionOpenElsewhere(t *testing.T) {
	p := newPlace(t)
	first := p.ui(90, 30, "> One.\n", "say one")
	first.until(`● One\.`)
	x := p.ui(90, 30, "> Two.\n")
	x.until(`\? for help`)
	x.keys("/resume say one", enter)
	x.until(`another process has this session open`)
	x.until(`❯ \d Go on in a copy`)
	x.keys(down)
	x.until(`❯ \d Stay in this session`)
	x.keys(enter)
	x.gone(`Stay in this session`)
	x = p.ui(90, 30, "> Two.\n", "--continue")
	x.dialog(`❯ \d Go on in a copy`)
	x.keys(enter)
	x.until(`● One\.`)
	x.keys("go on", enter)
	x.until(`● Two\.`)
	if strings.Contains(first.all(), "Two.") {
		t.Error("it is no copy")
	}
}

// Between two sessions there is none whose status line could be drawn.
func TestUIStatusLineBetweenSessions(t *testing.T) {
	p := newPlace(t)
	p.settings(filepath.Join(p.home, ".claude", "settings.json"), `{"statusLine": {"type": "command", "command": "echo STATUS", "padding": 1}}`)
	x := p.ui(90, 30, "> One.\n---\n> Two.\n")
	x.until(`STATUS`)
	x.keys("say one", enter)
	x.until(`● One\.`)
	x.gone(`interrupts`) // no other session begins while the model works
	for _, c := range []struct{ command, begun string }{{"/fork", `This is a copy`}, {"/clear", `What shall be done here`}} {
		x.until(`STATUS`)
		x.keys(c.command, enter)
		x.until(c.begun) // the time between may be too short to be seen
		x.until(`STATUS`)
	}
	x.keys("again", enter)
	x.until(`● (One|Two)\.[^●]*$`)
	x.keys("/exit", enter)
	x.ended()
}

// What a session is cleared for has its model, and nothing else of it.
func TestUIClearKeepsTheModel(t *testing.T) {
	p := newPlace(t)
	model := "script/" + p.put("model.txt", "> One.\n---\n> Two.\n")
	run := func(args ...string) *terminal {
		c := p.adze(append([]string{"--sandbox", "off"}, args...)...)
		c.Env = append(c.Env, "OLLAMA_HOST="+closedPort())
		return p.inTerminal(c, 90, 30)
	}
	p.startedBefore()
	x := run("--model", model, "say one")
	x.until(`● One\.`)
	x.gone(`interrupts`)
	x.keys("/rename Old title", enter)
	x.until(`the session is now`)
	x.keys("/exit", enter)
	x.ended()
	x = run("--continue")
	x.until(`(?s)Old title.*● One\.`)
	x.keys("/clear", enter)
	x.until(`What shall be done here`)
	x.keys("again", enter)
	x.until(`(?s)● One\..*● (One|Two)\.`)
	if n := strings.Count(x.all(), "Old title"); n != 1 {
		t.Errorf("the title is there %d times:\n%s", n, x.all())
	}
}
