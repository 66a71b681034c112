//go:build unix

package cli_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
)

// Fault 25: whoever reads the answer goes away, as in adze -p … | head -c1.
// That is no error: adze stops what it does, says nothing, and leaves a
// session that can be gone on with.
func TestFault25_ReaderGoesAway(t *testing.T) {
	for _, format := range []string{"text", "json", "stream-json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.put("many.txt", steps(3)+strings.Repeat("> the answer is long, longer than what a pipe holds\n", 3000))
			p.put("f.txt", "0\n")
			c := p.adze("-p", "go", "--model", "script/many.txt", "--allowed-tools", "Bash", "--allowed-tools", "Edit", "--output-format", format)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			var errs bytes.Buffer
			c.Stdout, c.Stderr = w, &errs
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
				t.Error(err)
			}
			r.Close()
			if code := codeOf(c.Wait()); code != 0 || errs.Len() > 0 {
				t.Errorf("exit code %d, stderr %q", code, errs.String())
			}
			how := event.Done
			if format == "stream-json" {
				how = event.Interrupted
			}
			p.goOn(how)
		})
	}
}

// Fault 25: an answer that cannot be written is an error with its cause, and
// nothing of the session is lost.
func TestFault25_NowhereToWriteTheAnswer(t *testing.T) {
	for _, format := range []string{"text", "json", "stream-json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Skip(err)
			}
			defer full.Close()
			p := newPlace(t)
			p.put("hello.txt", "> hello\n")
			c := p.adze("-p", "go", "--model", "script/hello.txt", "--output-format", format)
			var errs bytes.Buffer
			c.Stdout, c.Stderr = full, &errs
			code, text := codeOf(c.Run()), errs.String()
			if code != 1 || !strings.HasPrefix(text, "adze: write the answer: no space left on device\nhint: the session is kept; go on with: adze --resume ") || strings.Count(text, "\n") != 2 {
				t.Errorf("exit code %d, stderr %q", code, text)
			}
			_, es := p.history()
			for len(es) > 1 { // what there is of extensions is recorded in the background
				if _, extended := es[len(es)-1].Body.(event.Extended); !extended {
					break
				}
				es = es[:len(es)-1]
			}
			if _, ended := es[len(es)-1].Body.(event.TurnEnded); !ended {
				t.Errorf("the session ends in %T", es[len(es)-1].Body)
			}
		})
	}
}

// Fault 25: adze that is started without any stdout does its work all the
// same, in silence.
func TestFault25_StartedWithoutStdout(t *testing.T) {
	p := newPlace(t)
	p.put("f.txt", "0\n")
	p.put("work.txt", steps(1))
	c := p.adze("-p", "go", "--model", "script/work.txt", "--allowed-tools", "Bash", "--allowed-tools", "Edit")
	sh := exec.Command("/bin/sh", append([]string{"-c", `exec "$0" "$@" >&-`, c.Path}, c.Args[1:]...)...)
	sh.Dir, sh.Env = c.Dir, c.Env
	var errs bytes.Buffer
	sh.Stderr = &errs
	if code := codeOf(sh.Run()); code != 0 || errs.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, errs.String())
	}
	if b, err := os.ReadFile(filepath.Join(p.dir, "f.txt")); err != nil || string(b) != "1\n" {
		t.Errorf("the work is not done: %q, %v", b, err)
	}
	p.goOn(event.Done)
}
