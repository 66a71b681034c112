//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
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
	x := p.ui(80, 24, "> Begin.\n@ Bash {\"command\": \"sleep 1000\"}\n---\n> Never.\n", "--allowed-tools", "Bash(sleep:*)")
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
