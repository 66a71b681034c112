//go:build unix

package cli_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// left are the files and session folders in the state folder that a run which came
// to nothing has no use for.
func (p *place) left() (out []string) {
	p.t.Helper()
	err := filepath.WalkDir(filepath.Join(p.home, ".adze"), func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(filepath.Join(p.home, ".adze"), path)
		switch {
		case err != nil && rel == ".":
			return filepath.SkipDir // not even the folder
		case err != nil:
			return err
		case d.IsDir() && strings.Count(rel, "/") < 1, rel == "search/pending", rel == "last-cleanup", rel == "session.key", strings.HasPrefix(rel, "cache"), strings.HasPrefix(rel, "sandbox"):
			return nil
		}
		out = append(out, rel)
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// A run that ends before any prompt leaves no session, no empty log and no mark.
func TestNothingIsLeftOfNothing(t *testing.T) {
	for _, line := range []string{
		"-p hi", "-p hi --model anthropic/claude-sonnet-4-6", "-p hi --model zzz", "-p hi --model script/none.txt", "-p hi --output-format xml",
		"-p hi --model script/hello.txt --max-turns x", "-p hi --model script/hello.txt --tools zz", "-p hi --model script/hello.txt --resume zz",
		"-p hi --model script/hello.txt --continue", "-p hi --model script/hello.txt --json-schema {", "-p hi --model script/hello.txt --fallback-model zz",
		"-p hi --model script/hello.txt --debug=zzz", "-p hi --model script/hello.txt --log-file none/x", "-p /nope --model script/hello.txt",
		"-p --model script/hello.txt", "-p hi --model script/hello.txt --zzz", "-p hi --model script/hello.txt --cwd none", "--model script/hello.txt",
		"-p hi --model script/hello.txt --fork-session", "-p hi --model script/hello.txt --session-id x", "-p hi --model script/hello.txt --agent none",
	} {
		p := newPlace(t)
		p.put("hello.txt", "> hello\n")
		if err := p.adze(strings.Fields(line)...).Run(); codeOf(err) == 0 {
			t.Errorf("adze %s has not failed", line)
		}
		if list := p.left(); len(list) > 0 {
			t.Errorf("adze %s leaves %q", line, list)
		}
	}
}

// Nor does a copy of a session stay when it could not be gone on with.
func TestNoCopyIsLeft(t *testing.T) {
	p := newPlace(t)
	p.put("hello.txt", "> hello\n")
	if b, err := p.adze("-p", "hi", "--model", "script/hello.txt").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, b)
	}
	before := p.left()
	for _, line := range []string{"--model zzz", "--model script/hello.txt --tools zz", "--model anthropic/claude-sonnet-4-6"} {
		if err := p.adze(append([]string{"-p", "hi", "--continue", "--fork-session"}, strings.Fields(line)...)...).Run(); codeOf(err) == 0 {
			t.Errorf("%s has not failed", line)
		}
		if after := p.left(); len(after) != len(before) {
			t.Errorf("%s leaves %q, and there was %q", line, after, before)
		}
	}
}

// Ctrl+C while adze starts ends it with one line, and leaves nothing.
func TestInterruptedStart(t *testing.T) {
	for _, args := range [][]string{
		{"-p", "hi", "--model", "anthropic/claude-sonnet-4-6", "--settings", `{"apiKeyHelper":"touch started; exec sleep 60"}`},
		{"mcp", "list", "--settings", `{"mcpServers":{"slow":{"command":"sh","args":["-c","touch started; exec sleep 60"]}}}`},
	} {
		p := newPlace(t)
		c := p.adze(args...)
		var errs bytes.Buffer
		c.Stderr = &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for late := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // until the program that it waits for runs
			if _, err := os.Stat(filepath.Join(p.dir, "started")); err == nil {
				break
			}
			if time.Now().After(late) {
				_ = c.Process.Kill()
				t.Fatalf("adze %s: the program that it waits for is not started (%v)\n%s", strings.Join(args, " "), c.Wait(), errs.String())
			}
		}
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if code := codeOf(c.Wait()); code != 130 || errs.String() != "adze: interrupted\n" {
			t.Errorf("adze %s: exit code %d, %q", strings.Join(args, " "), code, errs.String())
		}
		if list := p.left(); len(list) > 0 {
			t.Errorf("adze %s leaves %q", strings.Join(args, " "), list)
		}
	}
}
