package cli_test

import (
	"bytes"
	"os"
	"testing"
)

// A command that runs without the sandbox finds neither in adze nor in its
// guardian what adze was started with.
func TestEnvironmentIsNotInProc(t *testing.T) {
	const key = "sk-plain-0123456789"
	p := newPlace(t)
	p.put("look.txt", `@ Bash {"command": "for p in $PPID $(cat /proc/$PPID/task/*/children); do tr '\\0' ' ' </proc/$p/cmdline; grep -c THE_MARK /proc/$p/environ 2>&1; done >found"}
---
> done
`)
	c := p.adze("-p", "go", "--model", "script/look.txt", "--allowed-tools", "Bash", "--sandbox", "false", "--permission-mode", "bypassPermissions")
	c.Env = append(c.Env, "ANTHROPIC_API_KEY="+key, "THE_MARK=1")
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	b, err := os.ReadFile(p.dir + "/found")
	if err != nil || !bytes.Contains(b, []byte("look.txt")) || !bytes.Contains(b, []byte("__guardian 0\n")) || bytes.Contains(b, []byte(" 1\n")) {
		t.Errorf("%q %v, want adze and its guardian, without the mark", b, err)
	}
}
