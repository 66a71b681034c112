package trust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/trust"
)

// Files of other agents need trust where they have hooks, and are shown with each
// command in full; a change of them asks again.
func TestHooksOfOtherAgents(t *testing.T) {
	long := strings.Repeat("x", 5000)
	group := func(command string) string {
		return `[{"matcher":"Bash","hooks":[{"type":"command","command":"` + command + `"}]}]`
	}
	for name, c := range map[string]struct {
		files  map[string]string
		claims []string
	}{
		"Codex":         {map[string]string{".codex/hooks.json": `{"hooks":{"PreToolUse":` + group(long+" end") + `}}`}, []string{".codex/hooks.json hook PreToolUse Bash: " + long + " end"}},
		"TOML":          {map[string]string{".codex/config.toml": "[[hooks.Stop]]\nhooks = [{type = \"command\", command = \"a\"}]\n"}, []string{".codex/config.toml hook Stop: a"}},
		"Gemini":        {map[string]string{".gemini/settings.json": `{/* x */"hooks":{"BeforeTool":` + group("a\\u001b[2J") + `}}`}, []string{`.gemini/settings.json hook PreToolUse Bash: a\x1b[2J`}},
		"Codex, a tool": {map[string]string{".codex/hooks.json": `{"hooks":{"Stop":[{"hooks":[{"type":"mcp_tool","server":"s","tool":"t","input":{"a": "b"}}]}]}}`}, []string{`.codex/hooks.json hook Stop: s/t {"a":"b"}`}},
		"what cannot be used": {map[string]string{".gemini/settings.json": `{"hooks":{"BeforeModel":` + group("a") + `}}`},
			[]string{".gemini/settings.json hooks: hooks of BeforeModel: no event of adze means the same, and they are left out"}},
		"broken":             {map[string]string{".gemini/settings.json": `{"hooks":`}, []string{".gemini/settings.json hooks: it cannot be read for its hooks: line 1, column 10: parsing value: unexpected EOF"}},
		"scripts beside":     {map[string]string{".codex/hooks.json": `{"hooks":{"Stop":` + group("a") + `}}`, ".codex/hooks/a.sh": "x", ".gemini/hooks/b.sh": "x"}, []string{".codex/hooks.json hook Stop Bash: a", ".codex/hooks.json hooks: hooks of Stop: the event has nothing to match, so the matcher \"Bash\" says nothing", ".codex/hooks/a.sh hook script: 1 bytes"}},
		"about other things": {map[string]string{".codex/hooks.json": `{}`, ".codex/config.toml": "model = \"x\"\n", ".gemini/settings.json": `{"ui":{}}`, ".codex/hooks/a.sh": "x", ".gemini/hooks/b.sh": "x"}, nil},
		"switched off":       {map[string]string{".gemini/settings.json": `{"hooksConfig":{"enabled":false},"hooks":{"BeforeTool":` + group("a") + `}}`}, nil},
	} {
		r := newRig(t)
		for path, text := range c.files {
			r.write(path, text)
		}
		want := trust.Untrusted
		if c.claims == nil {
			want = trust.Nothing
		}
		v := r.check(want)
		var got []string
		for _, x := range v.Claims() {
			got = append(got, fmt.Sprintf("%s %s: %s", x.File, x.What, x.Text))
		}
		if !slices.Equal(got, c.claims) {
			t.Errorf("%s: %.200q", name, got)
		}
	}

	r := newRig(t)
	r.Dir = filepath.Join(r.Root, "a", "b")
	for _, d := range []string{"", "a/", "a/b/"} {
		r.write(d+".codex/hooks.json", `{"hooks":{"Stop":`+group("a")+`}}`)
		r.write(d+".codex/hooks/x.sh", "x")
	}
	r.grant(trust.Untrusted)
	v := r.check(trust.Trusted)
	var got []string
	for _, f := range v.Files {
		got = append(got, f.Path)
	}
	if want := []string{".codex/hooks.json", ".codex/hooks/x.sh", "a/b/.codex/hooks.json", "a/b/.codex/hooks/x.sh"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for path, text := range map[string]string{"a/b/.codex/hooks/x.sh": "y", ".codex/hooks.json": `{"hooks":{"Stop":` + group("b") + `}}`, ".gemini/settings.json": `{"hooks":{"AfterAgent":` + group("a") + `}}`} {
		old, _ := os.ReadFile(filepath.Join(r.Root, path))
		r.write(path, text)
		if v := r.check(trust.Changed); len(v.Changes) != 1 || v.Changes[0].Path != path {
			t.Errorf("%s: %v", path, v.Changes)
		}
		if r.write(path, string(old)); old == nil {
			r.write(path, "{}")
		}
		r.check(trust.Trusted)
	}
	// Without its hooks a file is as if it were gone.
	r.write(".codex/hooks.json", "{}")
	if v := r.check(trust.Changed); len(v.Changes) != 2 || v.Changes[0].How != "removed" || v.Changes[1].How != "removed" {
		t.Errorf("%v", v.Changes)
	}
}

// What nobody can look at is left out, and the rest of the folder can be trusted.
func TestHookFilesThatCannotBeRead(t *testing.T) {
	r := newRig(t)
	r.write(".claude/settings.json", hooks)
	r.write(".codex/config.toml", strings.Repeat("#", 3<<20))
	if err := os.Symlink("/etc", filepath.Join(r.Root, ".gemini")); err != nil {
		t.Skip(err)
	}
	v := r.check(trust.Untrusted)
	if len(v.Files) != 1 || len(v.Left) == 0 || !strings.Contains(fmt.Sprint(v.Left), ".codex/config.toml: larger than 2 MiB") {
		t.Errorf("%v %q", v.Files, v.Left)
	}
	r.grant(trust.Untrusted)
}

// In the home folder the files are the person's own.
func TestHookFilesOfTheHome(t *testing.T) {
	r := newRig(t)
	r.Home = r.Root
	r.write(".codex/hooks.json", strings.Replace(hooks, "SessionStart", "Stop", 1))
	r.check(trust.Nothing)
}
