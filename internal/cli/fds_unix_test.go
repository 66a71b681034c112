//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Fault 14: with only so many descriptors adze does its work, or says what it
// is short of. Nothing of it crashes, at whatever point they run out: at the
// start, in the log, in a file tool, in a search, in starting a command.
func TestFault14_FewDescriptors(t *testing.T) {
	const script = `@ Read {"file_path": "f.txt"}
@ Grep {"pattern": "0"}
@ Glob {"pattern": "**"}
---
@ Edit {"file_path": "f.txt", "old_string": "0", "new_string": "1"}
---
@ Bash {"command": "cat f.txt"}
---
> the end
`
	short := 0
	for n := 8; n <= 18; n += 2 { // with fewer, the poller of Go itself cannot start
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := newPlace(t)
			p.put("f.txt", "0\n")
			p.put("sub.txt", "0\n")
			p.put("script.txt", script)
			c := p.adze("-p", "go", "--model", "script/script.txt", "--allowed-tools", "Bash", "--allowed-tools", "Edit", "--output-format", "stream-json")
			sh := exec.Command("/bin/sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d || exit 99; exec "$0" "$@"`, n), c.Path}, c.Args[1:]...)...)
			sh.Dir, sh.Env = c.Dir, c.Env
			var out, errs bytes.Buffer
			sh.Stdout, sh.Stderr = &out, &errs
			code := codeOf(sh.Run())
			if code == 99 {
				t.Skip("no ulimit")
			}
			for _, word := range []string{"panic", "goroutine ", "fatal error", "SIGSEGV"} {
				if strings.Contains(errs.String()+out.String(), word) {
					t.Errorf("it crashed: %s", errs.String())
				}
			}
			told := strings.Contains(errs.String()+out.String(), "too many open files") || strings.Contains(errs.String(), "too many files are open")
			switch {
			case code == 0 && lastLine(t, out.String())["result"] == "the end":
			case code == 1 && told:
			default:
				t.Errorf("exit code %d, told %v\n%s\n%s", code, told, out.String(), errs.String())
			}
			if told {
				short++
			}
			for line := range strings.Lines(out.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("not JSON: %q", line)
				}
			}
			left, err := filepath.Glob(filepath.Join(p.dir, ".adze*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	if short == 0 {
		t.Error("no run was short of descriptors")
	}
}
