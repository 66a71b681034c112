//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The program of a server that comes while a turn runs is protected before it is
// started, in that turn too: from the file tools, and from what a command is read to
// write.
func TestServerThatComesLaterIsProtected(t *testing.T) {
	p := newPlace(t)
	p.startedBefore()
	server := "touch started\ncat >/dev/null\n"
	p.put("srv.sh", server)
	model := p.put("model.txt", strings.Join([]string{
		`@ Bash {"command": "until [ -e started ]; do sleep 0.05; done"}`,
		`@ Bash {"command": "echo bad >> srv.sh"}`,
		`@ Edit {"file_path": "srv.sh", "old_string": "touch", "new_string": "bad"}`,
		"> all refused",
	}, "\n---\n")+"\n")
	k := p.talk("--model", "script/"+model, "--permission-mode", "acceptEdits", "--allowed-tools", "Bash", "--sandbox", "off")
	fmt.Fprintln(k.in, `{"type":"user","message":{"role":"user","content":"go"}}`)
	k.until("call", func(m map[string]any) bool { return m["type"] == "assistant" })
	p.settings(filepath.Join(p.home, ".adze", "settings.json"), fmt.Sprintf(`{"mcpServers": {"one": {"command": "sh", "args": [%q]}}}`, filepath.Join(p.dir, "srv.sh")))
	k.until("the end", func(m map[string]any) bool { return m["type"] == "result" })
	if got, err := os.ReadFile(filepath.Join(p.dir, "srv.sh")); err != nil || string(got) != server {
		t.Errorf("%s %v", got, err)
	}
	if err := k.in.Close(); err != nil {
		t.Fatal(err)
	}
}
