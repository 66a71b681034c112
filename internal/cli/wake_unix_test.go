//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tilGo runs in the background until there is a file "go".
const tilGo = "@ Bash {\"command\": \"until test -e go; do sleep 0.02; done; exit 3\", \"run_in_background\": true}\n---\n> It runs.\n---\n" +
	"? prompt contains \"<task-notification>\" && prompt contains \"<status>failed</status>\" && prompt contains \"exited with code 3\"\n> I see that it failed.\n---\n? else\n> I see nothing.\n"

func (p *place) goes(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The end of a command in the background begins a turn of a host's session whose input is
// open.
func TestHost_AnEndInTheBackgroundWakes(t *testing.T) {
	p := newPlace(t)
	h := p.host(tilGo, "--allowed-tools", "Bash")
	h.prompt("build")
	if l := h.next("result"); l["result"] != "It runs." {
		t.Errorf("%v", l)
	}
	p.goes(t)
	h.next("system/task_notification")
	if l := h.next("result"); l["result"] != "I see that it failed." {
		t.Errorf("%v", l)
	}
	if err := h.in.Close(); err != nil {
		t.Error(err)
	}
	for h.out.Scan() {
	}
	if err := h.wait(); err != nil {
		t.Errorf("%v: %s", err, h.errs.String())
	}
}

// With the setting off, the model reads it with the next prompt.
func TestHost_AnEndWaitsForAPrompt(t *testing.T) {
	p := newPlace(t)
	h := p.host(tilGo, "--allowed-tools", "Bash", "--settings", `{"bash":{"wake":false}}`)
	h.prompt("build")
	h.next("result")
	p.goes(t)
	h.next("system/task_notification")
	h.prompt("and now?")
	for {
		l := h.next("")
		if strings.Contains(strings.ToLower(h.out.Text()), "without a prompt") {
			t.Errorf("a turn began: %v", l)
		}
		if l["type"] == "result" {
			break
		}
	}
	if err := h.in.Close(); err != nil {
		t.Error(err)
	}
	for h.out.Scan() {
	}
	if err := h.wait(); err != nil {
		t.Errorf("%v: %s", err, h.errs.String())
	}
}

// The terminal UI says why a turn began.
func TestUIAnEndInTheBackgroundWakes(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	x := p.inTerminal(p.adze("--model", "script/"+p.put("model.txt", tilGo), "--sandbox", "off", "--allowed-tools", "Bash"), 120, 30)
	x.until(`What shall be done here`)
	x.keys("build", enter)
	x.until(`It runs`)
	p.goes(t)
	x.until(`this turn began without a prompt: the background command b1 exited with code 3`)
	x.until(`I see that it failed`)
}
