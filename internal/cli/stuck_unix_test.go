//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestFault21_NothingHoldsUpTheEnd: SIGTERM ends adze within three seconds also
// when something waits that cannot be interrupted: here, a read from a pipe
// that nobody writes to.
func TestFault21_NothingHoldsUpTheEnd(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	pipe := filepath.Join(p.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for name, args := range map[string][]string{
		"a schema": {"-p", "go", "--model", "script/" + p.put("say.txt", "> hi\n"), "--json-schema", pipe},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			cmd := p.adze(args...)
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // when adze has opened it
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }() // ends with adze, which is killed at the end of the test
			select {
			case err := <-ended:
				if codeOf(err) != 143 {
					t.Errorf("%v\n%s", err, out.String())
				}
			case <-time.After(time.Minute): // it would wait for ever
				t.Error("it does not end")
			}
		})
	}
}
