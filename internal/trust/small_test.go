package trust_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/trust"
)

// What is trusted is listed by path, and a verdict of no folder grants nothing.
func TestListIsSorted(t *testing.T) {
	r := newRig(t)
	if err := r.Grant(t.Context(), trust.Verdict{Folder: r.Folder}); err == nil || !strings.Contains(err.Error(), "cannot be told from others") {
		t.Error(err)
	}
	base := filepath.Dir(r.Root)
	var want []string
	for _, name := range []string{"d", "b", "e", "a", "c"} {
		r.Root = filepath.Join(base, name)
		r.Dir = r.Root
		r.write(".claude/settings.json", hooks)
		for _, agent := range []string{"c", "a", "b"} {
			r.write(".claude/agents/"+agent+".md", "x")
		}
		r.grant(trust.Untrusted)
		want = append(want, r.Root)
	}
	slices.Sort(want)
	for range 3 { // a map would have them in any order
		list, err := r.List()
		var got []string
		for _, e := range list {
			got = append(got, e.Path)
			if want := []string{".claude/agents/a.md", ".claude/agents/b.md", ".claude/agents/c.md", ".claude/settings.json"}; !slices.Equal(e.Files, want) {
				t.Errorf("%s: %q", e.Path, e.Files)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// Every file that counts shows a claim, also one that says nothing.
func TestClaimsOfEmptyFiles(t *testing.T) {
	for path, c := range map[string]struct{ text, want string }{
		".mcp.json":                 {`{"mcpServers":{}}`, "MCP servers: none"},
		".claude/skills/x/SKILL.md": {"---\ndescription: does x\n---\nbody", "does x"},
		".claude/agents/y.md":       {"---\ndescription: d\n\tx: y\n---\nbody", "it cannot be used: the front matter is no YAML"},
		".claude/agents/z.md":       {"---\nhooks: {1: x}\n---\nbody", "agent z: hooks: {\"1\":\"x\"}"},
		// What is read leniently when it is used is shown in the same way.
		".claude/commands/q.md":      {"---\ndescription: Use: it\nallowed-tools: *\n---\n```!\nrm -r x\n```\n", "command q: runs: rm -r x"},
		".gemini/commands/t.toml":    {"prompt = 'Look: !{ls {{args}}}'", "command t: runs: ls ''"},
		".claude/output-styles/s.md": {"---\nname: Short\n---\nbe short", "output style Short"},
	} {
		r := newRig(t)
		r.write(path, c.text)
		claims := r.check(trust.Untrusted).Claims()
		said := ""
		for _, x := range claims {
			said += x.File + " " + x.What + ": " + x.Text + "\n"
		}
		if !strings.Contains(said, c.want) || !strings.Contains(said, filepath.ToSlash(path)) {
			t.Errorf("%s: %q", path, said)
		}
	}
}

// Inline commands are shown up to 20, and that there are more.
func TestClaimsOfManyInlineCommands(t *testing.T) {
	for n, more := range map[int]bool{20: false, 21: true} {
		r := newRig(t)
		r.write(".claude/skills/x/SKILL.md", "---\nname: x\n---\n"+strings.Repeat("see !`date`\n", n))
		runs, and := 0, false
		for _, x := range r.check(trust.Untrusted).Claims() {
			if strings.HasSuffix(x.What, ": runs") {
				runs, and = runs+1, and || x.Text == "and more"
				if x.Line != 0 || x.File != ".claude/skills/x/SKILL.md" {
					t.Errorf("%+v", x)
				}
			}
		}
		if and != more || runs != n {
			t.Errorf("%d commands: %d claims, more %t", n, runs, and)
		}
	}
}

// A record that cannot be read is an error to who wrote a rule.
func TestPromiseWithABrokenRecord(t *testing.T) {
	r := newRig(t)
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := r.Promise(t.Context(), r.Folder, own, nil, []byte("{}")); p != nil || err == nil {
		t.Error("nobody is told")
	}
}

// Why a file is refused is said without its path twice.
func TestRefusalsNameThePathOnce(t *testing.T) {
	r := newRig(t)
	if err := os.Symlink(filepath.Join(r.Root, "..", "outside.json"), filepath.Join(r.Root, ".mcp.json")); err != nil {
		t.Skip(err)
	}
	v, err := r.Check(r.Folder)
	if err != nil || len(v.Refused) != 1 {
		t.Fatalf("%q, %v", v.Refused, err)
	}
	if why := v.Refused[0]; strings.Count(why, ".mcp.json") != 1 || strings.Contains(why, r.Root) {
		t.Errorf("%q", why)
	}
}
