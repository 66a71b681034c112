//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
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
			"memory":    {`x=$(head -c 300000000 /dev/zero | tr '\0' a); sleep 1000`, "[killed: its processes used more than 150.0 MB of memory]"},
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

// Faults 34, 36 and 37 with the real binary, inside the sandbox and without:
// a command that reads gets the end of the input at once; what a command
// leaves behind is dead before the next one runs; what runs in the background
// ends with adze, which says so.
func TestFault34_36_37_NothingWaitsAndNothingStays(t *testing.T) {
	for _, sandbox := range []string{"true", "false"} {
		t.Run("sandbox "+sandbox, func(t *testing.T) {
			t.Parallel()
			seconds, alive := marker(t)
			p := newPlace(t)
			if err := syscall.Mkfifo(filepath.Join(p.dir, "gate"), 0o644); err != nil {
				t.Skip(err)
			}
			var script strings.Builder
			for _, input := range []map[string]any{
				{"command": "cat; read x; echo \"read:$x\""},
				{"command": "setsid -f sleep " + seconds + "; (setsid sleep " + seconds + " &); sleep " + seconds + " & echo ok"},
				{"command": "cat gate"},
				{"command": "setsid -f sleep " + seconds + "; exec sleep " + seconds, "run_in_background": true},
			} {
				b, err := json.Marshal(input)
				if err != nil {
					t.Fatal(err)
				}
				script.WriteString("@ Bash " + string(b) + "\n---\n")
			}
			p.put("s.txt", script.String()+"> all done\n")
			cmd := p.adze("-p", "go", "--model", "script/s.txt", "--allowed-tools", "Bash", "--output-format", "stream-json", "--sandbox", sandbox)
			cmd.Stdin = strings.NewReader("not for commands")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			opened := make(chan error, 1)
			go func() { // ends when the third command reads, or with adze, below
				f, err := os.OpenFile(filepath.Join(p.dir, "gate"), os.O_WRONLY, 0)
				if left := alive(); err == nil && len(left) > 0 {
					err = fmt.Errorf("alive while the next command runs: %v", left)
				}
				_ = f.Close()
				opened <- err
			}()
			err := cmd.Wait()
			if r, rerr := os.OpenFile(filepath.Join(p.dir, "gate"), os.O_RDONLY|syscall.O_NONBLOCK, 0); rerr == nil {
				defer r.Close() // lets the writer go, had nobody read
			}
			if oerr := <-opened; oerr != nil {
				t.Error(oerr)
			}
			if err != nil || !strings.Contains(out.String(), "read:") || !strings.Contains(out.String(), `"result":"all done"`) {
				t.Errorf("%v\n%s%s", err, out.String(), errs.String())
			}
			if strings.Contains(out.String(), "read:not") {
				t.Errorf("a command read our input:\n%s", out.String())
			}
			if left := alive(); len(left) > 0 {
				t.Errorf("alive after the end: %v", left)
			}
			if want := "adze: ended what ran in the background: b1 (setsid -f sleep " + seconds; !strings.Contains(errs.String(), want) {
				t.Errorf("no %q in\n%s", want, errs.String())
			}
		})
	}
}
