//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A talk is a run of the real binary that takes prompts from a pipe.
type talk struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan map[string]any
	errs  *heard
	wait  func() error
	stuck func() // ends it, and has it say on stderr why it does not go on
}

// heard keeps what a run that goes on writes to stderr, for whoever says why a test failed.
type heard struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

func (p *place) talk(args ...string) *talk {
	p.t.Helper()
	c := p.adze(append([]string{"-p", "--input-format", "stream-json", "--output-format", "stream-json"}, args...)...)
	k := &talk{t: p.t, lines: make(chan map[string]any, 256), errs: &heard{}}
	c.Stderr = k.errs
	out, err := c.StdoutPipe()
	if err == nil {
		k.in, err = c.StdinPipe()
	}
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	read := make(chan struct{})
	go func() { // ends with adze
		defer close(read)
		defer close(k.lines)
		sc := bufio.NewScanner(out)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			var m map[string]any
			if json.Unmarshal(sc.Bytes(), &m) == nil {
				k.lines <- m
			}
		}
	}()
	k.wait = func() error { <-read; return c.Wait() }
	k.stuck = func() { // adze writes what each of its goroutines waits for
		if c.Process.Signal(syscall.SIGABRT) == nil {
			for range k.lines {
			}
			_ = k.wait()
		}
	}
	p.t.Cleanup(func() { _ = c.Process.Kill() })
	return k
}

// until reads lines up to one that is wanted, and returns them as text.
func (k *talk) until(what string, is func(m map[string]any) bool) string {
	k.t.Helper()
	var all strings.Builder
	late := time.After(time.Minute)
	for {
		select {
		case m, ok := <-k.lines:
			if !ok {
				k.t.Fatalf("it ended before %s:\n%s\n%s", what, all.String(), k.errs)
			}
			b, _ := json.Marshal(m)
			fmt.Fprintf(&all, "%s\n", b)
			if is(m) {
				return all.String()
			}
		case <-late:
			k.stuck()
			k.t.Fatalf("no %s:\n%s\n%s", what, all.String(), k.errs)
		}
	}
}

func (k *talk) prompt(text string) string {
	k.t.Helper()
	fmt.Fprintf(k.in, `{"type":"user","message":{"role":"user","content":%q}}`+"\n", text)
	return k.until("result", func(m map[string]any) bool { return m["type"] == "result" })
}

// told waits for a notice with this in it.
func (k *talk) told(part string) {
	k.t.Helper()
	k.until(fmt.Sprintf("notice with %q", part), func(m map[string]any) bool {
		s, _ := m["content"].(string)
		return m["subtype"] == "informational" && strings.Contains(s, part)
	})
}

func (p *place) settings(path, text string) {
	p.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// Between two prompts of one run a deny rule of the person counts, and so does
// one of the project; an allow rule of the project does not, until the folder
// is trusted.
func TestSettingsChangeBetweenPrompts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var script strings.Builder
	for _, c := range []string{"touch one", "touch two", "touch three", "touch four", "mkdir five", "mkdir six"} {
		fmt.Fprintf(&script, "@ Bash {\"command\":%q}\n---\n> done\n---\n", c)
	}
	p.put("script.txt", script.String())
	k := p.talk("--model", "script/script.txt", "--allowed-tools", "Bash(touch *)", "--sandbox", "false")
	if got := k.prompt("1"); strings.Contains(got, "permission_denied") {
		t.Error(got)
	}
	p.settings(filepath.Join(p.home, ".adze", "settings.json"), `{"permissions":{"deny":["Bash(touch two)"]}}`)
	// at once: nobody waits until the watch has seen it
	if got := k.prompt("2"); !strings.Contains(got, "permission_denied") || !strings.Contains(got, "settings changed: permissions.deny: added Bash(touch two) ("+filepath.Join(p.home, ".adze", "settings.json")+":1:") {
		t.Error(got)
	}
	p.settings(filepath.Join(p.dir, ".adze", "settings.json"), `{"permissions":{"allow":["Bash(mkdir *)"],"deny":["Bash(touch three)"]}}`)
	k.told("added Bash(touch three)")
	k.told("does not count until the folder is trusted again (adze trust): " + filepath.Join(p.dir, ".adze", "settings.json"))
	for i, refused := range []bool{true, false, true} {
		if got := k.prompt(fmt.Sprint(3 + i)); strings.Contains(got, "permission_denied") != refused {
			t.Errorf("prompt %d: refused should be %t:\n%s", 3+i, refused, got)
		}
	}
	if out, err := p.adze("trust", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	k.told("permissions.allow: added Bash(mkdir *)")
	if got := k.prompt("6"); strings.Contains(got, "permission_denied") {
		t.Error(got)
	}
	if err := k.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := k.wait(); err != nil {
		t.Errorf("%v\n%s", err, k.errs)
	}
	for name, want := range map[string]bool{"one": true, "two": false, "three": false, "four": true, "five": false, "six": true} {
		if _, err := os.Stat(filepath.Join(p.dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	st, _ := p.history()
	wellFormed(t, st.Messages())
}

// A single answer that takes long notices changes, too, when what it read is
// not fresh any more. In text, one line on stderr says what of a project does
// not count.
func TestSettingsChangeDuringALongAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	fifo := filepath.Join(p.dir, "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p.put("script.txt", `@ Bash {"command":"touch up; cat go"}
---
@ Bash {"command":"touch two"}
---
> done
`)
	c := p.adze("-p", "work", "--model", "script/script.txt", "--allowed-tools", "Bash(touch *)", "--sandbox", "false")
	var out bytes.Buffer
	c.Stdout = &out
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for the command to read
	if err != nil {
		t.Fatal(err)
	}
	p.settings(filepath.Join(p.home, ".adze", "settings.json"), `{"permissions":{"deny":["Bash(touch two)"]}}`)
	p.settings(filepath.Join(p.dir, ".adze", "settings.json"), `{"permissions":{"allow":["Bash(mkdir *)"]}}`)
	var errs strings.Builder
	lines := bufio.NewScanner(stderr)
	for open := true; lines.Scan(); {
		fmt.Fprintln(&errs, lines.Text())
		if open && strings.Contains(lines.Text(), "does not count until the folder is trusted again") {
			open = false
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = c.Wait()
	if _, serr := os.Stat(filepath.Join(p.dir, "two")); serr == nil {
		t.Errorf("the new deny rule did not count: %v\n%s%s", err, out.String(), errs.String())
	}
	told := strings.Count(errs.String(), "does not count until the folder is trusted again (adze trust)")
	if told != 1 || strings.Count(errs.String(), "settings changed:") != 1 { // what counts is not told to a pipe
		t.Errorf("stderr:\n%s", errs.String())
	}
}
