//go:build unix

package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

// A plugin that another process updates, or takes away, is another one for a session
// that runs.
func TestPluginChangesDuringASession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.startedBefore()
	shop := filepath.Join(filepath.Dir(p.dir), "shop")
	command := filepath.Join(shop, "plug", "commands", "hello.md")
	p.settings(filepath.Join(shop, ".claude-plugin", "marketplace.json"), `{"name":"shop","owner":{"name":"o"},"plugins":[{"name":"plug","source":"./plug"}]}`)
	p.settings(filepath.Join(shop, "plug", ".claude-plugin", "plugin.json"), `{"name":"plug","version":"1.0.0"}`)
	p.settings(command, "FIRST WORDS\n")
	run := func(args ...string) {
		t.Helper()
		if out, err := p.adze(append([]string{"plugin"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
	run("marketplace", "add", shop)
	run("install", "plug@shop", "--yes")
	k := p.talk("--model", "script/"+p.put("model.txt", strings.Repeat("> ok\n---\n", 5000)))
	seen := 0
	says := func() string { // what the model reads of the command, "" when there is none
		t.Helper()
		k.prompt("/plug:hello")
		_, es := p.history()
		read := ""
		for _, e := range es[seen:] {
			if b, ok := e.Body.(event.InputAccepted); ok {
				read = b.Read
			}
		}
		seen = len(es)
		return read
	}
	if got := says(); !strings.Contains(got, "FIRST WORDS") {
		t.Fatalf("at first: %q", got)
	}
	until := func(want string) {
		t.Helper()
		got := ""
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			if got = says(); strings.TrimSpace(got) == want {
				return
			}
		}
		t.Fatalf("not %q but %q", want, got)
	}
	p.settings(command, "SECOND WORDS\n")
	p.settings(filepath.Join(shop, "plug", ".claude-plugin", "plugin.json"), `{"name":"plug","version":"2.0.0"}`)
	run("update", "plug@shop", "--yes")
	until("SECOND WORDS")
	run("uninstall", "plug@shop")
	until("")
	_ = k.in.Close()
	_ = k.wait()
}
