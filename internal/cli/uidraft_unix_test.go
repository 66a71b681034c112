//go:build unix

package cli_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
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

// Who leaves with something in the box finds it again, and what was put aside in the
// history.
func TestUILeftWithADraft(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "> One.\n", "first of all")
	x.until(`● One\.`)
	x.gone(`interrupts`)
	x.keys("put aside")
	x.until(`│ › put aside`)
	x.keys("\x13") // Ctrl+S
	x.until(`stashed`)
	x.keys("half a thought")
	x.until(`│ › half a thought`)
	x.keys("\x04")
	x.until(`again to quit`)
	x.keys("\x04")
	x.ended()

	x = p.ui(80, 24, "> Two.\n")
	x.until(`What had not been sent then is in the history`)
	if s := x.all(); strings.Contains(s, "cut off") {
		t.Errorf("nothing was cut off:\n%s", s)
	}
	x.keys("\x04", "\x04")
	x.ended()
	x = p.ui(80, 24, "> Two.\n", "--continue")
	x.until(`● One\.`)
	x.keys("\x10") // Ctrl+P
	x.until(`│ › half a thought`)
	x.keys("\x10")
	x.until(`│ › put aside`)
}

// Where the session is gone on with, what was not sent is in the prompt again, with
// its pictures.
func TestUIKilledWithAPicture(t *testing.T) {
	p := newPlace(t)
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewRGBA(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	path := p.put("shot.png", file.String())
	x := p.ui(80, 24, "> One.\n", "first of all")
	x.until(`● One\.`)
	x.gone(`interrupts`)
	x.keys("\x1b[200~" + path + "\x1b[201~")
	x.until(`│ › \[Image 1\]`)
	x.keys("what is this")
	limit, look := time.After(waitFor), time.NewTicker(10*time.Millisecond)
	defer look.Stop()
	for kept := false; !kept; {
		files, _ := filepath.Glob(filepath.Join(p.home, ".adze", "drafts", "*"))
		images, text := 0, ""
		for _, f := range files {
			b, _ := os.ReadFile(f)
			if text += string(b); filepath.Ext(f) == ".image" {
				images++
			}
		}
		kept = images == 1 && strings.Contains(text, "what is this")
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("it is not kept: %q", files)
		}
	}
	_ = x.cmd.Process.Kill()
	<-x.done

	x = p.ui(80, 24, "> Two.\n", "--continue")
	x.until(`│ › \[Image 1\] what is this`)
	x.keys(enter)
	x.until(`● Two\.`)
	_, events := p.history()
	sent := 0
	for _, e := range events {
		if b, ok := e.Body.(event.InputAccepted); ok {
			sent += len(b.Images)
		}
	}
	if sent != 1 {
		t.Errorf("%d images were sent", sent)
	}
}

// Killed while prompts wait: after the resume they are in the list, where they
// can be dropped, edited and sent.
func TestUIKilledWithPromptsThatWait(t *testing.T) {
	p := newPlace(t)
	x := p.ui(80, 24, "@ Bash {\"command\": \"ls; sleep 1000\"}\n", "--allowed-tools", "Bash(sleep:*)")
	x.until(`╭─`)
	x.keys("begin", enter)
	x.until(`sleep 1000`)
	x.keys("then test it", enter)
	x.until(`› then test it +with the next step`)
	x.keys("then ship it", enter)
	limit, look := time.After(waitFor), time.NewTicker(10*time.Millisecond)
	defer look.Stop()
	for st, _ := p.history(); len(st.Queue) < 2; st, _ = p.history() {
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("the prompts are not kept:\n%s", x.all())
		}
	}
	_ = x.cmd.Process.Kill()
	<-x.done

	x = p.ui(80, 24, "? prompt contains \"ship\"\n> Shipped.\n---\n? prompt contains \"test\"\n> Tested.\n---\n? else\n> What?\n---\n> More.\n", "--continue")
	x.until(`› then test it +before the next prompt\n *› then ship it +before the next prompt, Enter: now, ↑ takes it back`)
	x.until(`Enter sends what waits`)
	x.keys("\x1b[A")
	x.until(`│ › then ship it`)
	x.keys("\x03")
	x.until(`› then test it +before the next prompt, Enter: now, ↑ takes it back`)
	x.keys(enter)
	x.until(`● Tested\.`)
	x.gone(`before the next prompt`)
	if st, _ := p.history(); len(st.Queue) != 0 {
		t.Errorf("%+v still wait", st.Queue)
	}
}
