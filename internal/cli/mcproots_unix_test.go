//go:build unix

package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server that is connected knows of folders that a running session gets.
func TestServersKnowNewFolders(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.startedBefore()
	config := p.put("servers.json", `{"mcpServers":{"words":{"command":"mcpserver","args":["asking"]}}}`)
	k := p.talk("--model", "script/"+p.put("model.txt", strings.Repeat("@ mcp__words__roots {}\n---\n> done\n---\n", 2000)), "--mcp-config", config, "--allowed-tools", "mcp__words")
	if got := k.prompt("go"); !strings.Contains(got, "file://"+p.dir) || strings.Contains(got, "/further") {
		t.Fatal(got)
	}
	further := filepath.Join(filepath.Dir(p.dir), "further")
	p.settings(filepath.Join(further, "x"), "")
	p.settings(filepath.Join(p.home, ".adze", "settings.json"), `{"permissions":{"additionalDirectories":["`+further+`"]}}`)
	k.told("additionalDirectories")
	got := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && !strings.Contains(got, "file://"+further); { // servers are told beside what goes on
		got = k.prompt("again")
	}
	if !strings.Contains(got, "file://"+p.dir) || !strings.Contains(got, "file://"+further) {
		t.Error(got)
	}
	_ = k.in.Close()
	_ = k.wait()
}
