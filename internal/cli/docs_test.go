package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tailscale/hujson"

	"github.com/adze-agent/adze/internal/config"
)

// A block is a fenced block of a page.
type block struct{ at, lang, text string }

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// blocks are the fenced blocks of README and docs.
func blocks(t *testing.T) (out []block) {
	t.Helper()
	pages, _ := filepath.Glob("../../docs/*.md")
	for _, page := range append([]string{"../../README.md"}, pages...) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fence.FindAllStringSubmatch(string(b), -1) {
			out = append(out, block{filepath.Base(page), m[1], m[2]})
		}
	}
	return out
}

// away are commands that need a network, a terminal, a session that runs, or what only a reader has.
var away = regexp.MustCompile(`npx|https?://|OWNER/REPO|\bNAME\b|files|\.cassette|^adze *(#|$)|:hello|/changelog|^adze (attach|tail|send) `)

// Every adze command that a block of README or docs shows runs, in the order of the page.
func TestDocsRun(t *testing.T) {
	t.Parallel()
	bin, search := adzeOf(t)
	home, dir := t.TempDir(), t.TempDir()
	env := []string{"HOME=" + home, "PATH=" + search, "TMPDIR=" + t.TempDir(), "ADZE_MODEL=script/" + filepath.Join(dir, "model.txt"), "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb"}
	run := func(line string) (string, error) {
		c := exec.CommandContext(t.Context(), "sh", "-c", line)
		c.Dir, c.Env, c.WaitDelay = dir, env, time.Second
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if err := os.WriteFile(filepath.Join(dir, "model.txt"), []byte("? else\n> hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"git init -q", "adze -p 'find WORDS'"} {
		if out, err := run(line); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	out, err := run(bin + " sessions list --json 2>/dev/null")
	var list []struct{ ID string }
	if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list) == 0 {
		t.Fatalf("no session: %v %s", err, out)
	}
	ran := 0
	for _, b := range blocks(t) {
		for line := range strings.Lines(b.text) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "adze ") && !strings.Contains(line, "| adze ") || away.MatchString(line) {
				continue
			}
			ran++
			if out, err := run(regexp.MustCompile(`\bID\b`).ReplaceAllString(line, list[0].ID)); err != nil {
				t.Errorf("%s: %s: %v\n%s", b.at, line, err, out)
			}
		}
	}
	if ran < 25 {
		t.Errorf("only %d commands were run", ran)
	}
}

// Settings that a block shows are settings, with values that they take.
func TestDocsSettings(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, b := range blocks(t) {
		if b.lang != "json" && b.lang != "jsonc" {
			continue
		}
		text, err := hujson.Standardize([]byte(b.text))
		var keys map[string]json.RawMessage
		if err != nil || json.Unmarshal(text, &keys) != nil {
			continue // lines of a protocol
		}
		for key, value := range keys {
			if _, ok := config.Canonical(key); !ok {
				continue
			}
			seen++
			if p := config.CheckValue(key, value); p != nil {
				t.Errorf("%s: %s", b.at, p)
			}
		}
	}
	if seen < 2 {
		t.Errorf("only %d settings were seen", seen)
	}
}
