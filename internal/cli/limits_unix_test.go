//go:build unix

package cli_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

// Fault 38 with the real binary, inside the sandbox and without: a command
// that fills memory and a fork bomb (with an end, for when this fails) are
// killed, the model is told why, and the run goes on.
func TestFault38_LimitsHold(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("limits are watched on Linux only")
	}
	for _, sandbox := range []string{"true", "false"} {
		for name, c := range map[string]struct{ command, want string }{
			"memory":    {`head -c 300000000 /dev/zero | tr '\0' a | sort | wc -c`, "[killed: its processes used more than 150.0 MB of memory]"},
			"processes": {`for i in {1..90}; do (setsid sleep 1000 &); done; sleep 1000`, "[killed: it had more than 40 processes]"},
		} {
			t.Run(name+" sandbox "+sandbox, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				input, err := json.Marshal(map[string]any{"command": c.command})
				if err != nil {
					t.Fatal(err)
				}
				p.put("hog.txt", "@ Bash "+string(input)+"\n---\n> gone on\n")
				cmd := p.adze("-p", "go", "--model", "script/hog.txt", "--allowed-tools", "Bash", "--output-format", "stream-json",
					"--sandbox", sandbox, "--settings", `{"bash":{"max_memory":"150MB","max_processes":40}}`)
				out, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(string(out), c.want) || !strings.Contains(string(out), `"result":"gone on"`) {
					t.Errorf("%v, no %q in\n%s", err, c.want, out)
				}
			})
		}
	}
}
