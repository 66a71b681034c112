//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that adze reads and that is broken is named by adze doctor with its line, and
// a run goes on without it: it says so in one line where it would have used it.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	const object, hooks, front = "{\n  \"a\": 1,\n  oops\n}\n", "{\n  \"hooks\": {\n  oops\n}\n", "---\nname: x\n  bad: [yaml\n---\nhello\n"
	for _, c := range []struct {
		path, text string // below the folder of the place: home or work
		line       string // how doctor names it behind the path, "" where it has no lines
		quiet      bool   // a run in print mode does not use it
	}{
		{"home/.adze/settings.json", object, ":3:", false}, {"home/.claude/settings.json", object, ":3:", false},
		{"work/.adze/settings.json", object, ":3:", false}, {"work/.claude/settings.json", object, ":3:", false},
		{"work/.adze/settings.local.json", object, ":3:", false}, {"work/.claude/settings.local.json", object, ":3:", false},
		{"work/.mcp.json", object, "line 3", false}, {"home/.claude.json", object, "line 3", false},
		{"home/.adze/mcp-answers.json", object, "line 3", false}, {"home/.adze/trust.json", object, "line 3", true},
		{"home/.adze/skills/x/SKILL.md", front, ":3", false}, {"work/.adze/skills/x/SKILL.md", front, ":3", false}, {"home/.adze/commands/x.md", front, ":3", false},
		{"home/.adze/agents/x.md", front, ":3", false}, {"home/.adze/output-styles/x.md", front, ":3", false}, {"work/.claude/agents/x.md", front, ":3", false},
		{"home/.codex/hooks.json", hooks, "line 3", false}, {"home/.gemini/settings.json", hooks, "line 3", false}, {"home/.codex/config.toml", "# hooks\n\n[a]\nb = =\n", "line 4", false},
		{"home/.adze/keybindings.json", object, "line 3", true}, {"home/.adze/themes/mine.json", object, "line 3", true},
		{"home/.adze/plugins/plugins.lock.json", object, "line 3", true}, {"home/.adze/credentials.json", object, "line 3", true},
		{"home/.adze/session.key", "oops", "", false},
	} {
		p := newPlace(t)
		p.put("hello.txt", "> hello\n")
		path := filepath.Join(filepath.Dir(p.dir), c.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := p.adze("doctor", "--json", "--trust").Output()
		var list struct {
			Findings []struct{ Name, Level, Text, Hint string }
		}
		if err := json.Unmarshal(out, &list); err != nil {
			t.Errorf("%s: %v in %s", c.path, err, out)
		}
		found := 0
		for _, f := range list.Findings {
			_, rest, named := strings.Cut(f.Text, filepath.Base(path))
			if f.Level != "ok" && named && strings.Contains(rest, c.line) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s: doctor has %d findings with %q: %s", c.path, found, c.line, out)
		}
		run := p.adze("-p", "hi", "--model", "script/hello.txt", "--trust")
		var said, errs bytes.Buffer
		run.Stdout, run.Stderr = &said, &errs
		if code := codeOf(run.Run()); code != 0 || said.String() != "hello\n" {
			t.Errorf("%s: a run ends with %d: %s%s", c.path, code, said.String(), errs.String())
		}
		if n := strings.Count(errs.String(), "\n"); n != 1 && !c.quiet || n != 0 && c.quiet {
			t.Errorf("%s: a run says %d lines: %s", c.path, n, errs.String())
		}
	}
}

// What a plugin or a marketplace has broken is named with its line by whoever meets it.
func TestBrokenPlugins(t *testing.T) {
	const bad = "{\n  \"name\": \"x\",\n  oops\n}\n"
	for _, c := range []struct{ path, line string }{
		{"x/.claude-plugin/plugin.json", "line 3"}, {"x/hooks/hooks.json", "line 3"}, {"x/.mcp.json", "line 3"}, {"x/.claude-plugin/marketplace.json", "line 3"},
	} {
		p := newPlace(t)
		p.put("hello.txt", "> hello\n")
		for path, text := range map[string]string{"x/skills/y/SKILL.md": "---\nname: y\ndescription: Does something.\n---\nhello\n", c.path: bad} {
			if err := os.MkdirAll(filepath.Join(p.dir, filepath.Dir(path)), 0o700); err != nil {
				t.Fatal(err)
			}
			p.put(path, text)
		}
		list := strings.HasSuffix(c.path, "marketplace.json")
		for _, line := range []string{"plugin validate x", "doctor --plugin-dir x", "skills list --plugin-dir x", "-p hi --plugin-dir x --model script/hello.txt", "plugin marketplace add ./x"} {
			if list != strings.Contains(line, "marketplace") && !(list && strings.Contains(line, "validate")) {
				continue
			}
			b, err := p.adze(strings.Fields(line)...).CombinedOutput()
			if text := string(b); strings.Count(text, filepath.Base(c.path)+": ") != 1 || !strings.Contains(text, c.line) {
				t.Errorf("%s: adze %s: %v\n%s", c.path, line, err, text)
			}
		}
	}
}
