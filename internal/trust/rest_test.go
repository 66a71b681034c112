package trust_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/ext/mcp/servers"
	"github.com/adze-agent/adze/internal/trust"
)

// What a skill or its like would run and allow is told of its text alone, too.
func TestWantsOfAText(t *testing.T) {
	const text = "---\nname: s\ndescription: does s\nallowed-tools: Bash\n---\n!`one`\n"
	want := []trust.Claim{
		{File: "p/SKILL.md", What: "skill s", Text: "does s"}, {File: "p/SKILL.md", What: "skill s: allowed-tools", Text: `"Bash"`}, {File: "p/SKILL.md", What: "skill s: runs", Text: "one"},
	}
	if d := cmp.Diff(want, trust.Wants(trust.Skill, "p/SKILL.md", []byte(text))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// Claims of settings stand in the order of their lines, and those of the folder
// that a session starts in count like those of the root.
func TestClaimsOfSettingsInOrder(t *testing.T) {
	r := newRig(t)
	r.Dir = filepath.Join(r.Root, "sub")
	text := "{\n \"statusLine\": {\"type\": \"command\", \"command\": \"./line.sh\"},\n \"permissions\": {\n  \"allow\": [\"Bash(ls)\"]\n },\n \"env\": {\"PATH\": \"/evil\"},\n \"apiKeyHelper\": \"./key.sh\"\n}"
	for _, file := range []string{"sub/.claude/settings.json", ".claude/settings.json"} {
		r.write(file, text)
		var lines []int
		for _, c := range r.check(trust.Untrusted).Claims() {
			if c.File == file {
				lines = append(lines, c.Line)
			}
		}
		if len(lines) < 3 || !slices.IsSorted(lines) || lines[0] == lines[len(lines)-1] {
			t.Errorf("%s: claims of the lines %v", file, lines)
		}
	}
}

// What changed is listed by path, whatever happened to it.
func TestChangesInOrder(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"a", "c", "e", "g"} {
		r.write(".claude/agents/"+name+".md", "x")
	}
	r.write(".mcp.json", "{}")
	r.grant(trust.Untrusted)
	for _, name := range []string{"a", "e", "g"} {
		if err := os.Remove(filepath.Join(r.Root, ".claude/agents", name+".md")); err != nil {
			t.Fatal(err)
		}
	}
	r.write(".claude/agents/b.md", "x")
	r.write(".claude/agents/c.md", "y")
	want := []string{"removed .claude/agents/a.md", "added .claude/agents/b.md", "changed .claude/agents/c.md", "removed .claude/agents/e.md", "removed .claude/agents/g.md"}
	for range 4 { // a map would have them in any order
		var got []string
		for _, c := range r.check(trust.Changed).Changes {
			got = append(got, c.How+" "+c.Path)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q", got)
		}
	}
}

// To forget what was never said writes nothing.
func TestForgettingNothing(t *testing.T) {
	a := trust.Answers{Path: filepath.Join(t.TempDir(), "state", "answers.json")}
	if n, err := a.Forget(t.Context(), "/w"); n != 0 || err != nil {
		t.Error(n, err)
	}
	if _, err := os.Stat(a.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a record was written: %v", err)
	}
	if err := a.Say(t.Context(), "/w", servers.Server{Name: "db", Raw: []byte(`{"command":"x"}`)}, true); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.Path, []byte("oops"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Forget(t.Context(), "/w"); n != 0 || err == nil {
		t.Errorf("from a record that cannot be read: %d", n)
	}
}

// Settings that are not there are not there, also where a file stands in the place
// of their folder; those of a folder that is not below the root are not the root's.
func TestFilesThatAreNotThere(t *testing.T) {
	r := newRig(t)
	r.write(".claude", "a file")
	files := trust.Files{Folder: r.Folder, Disk: confedit.Disk{}}
	for _, name := range []string{".claude/settings.json", ".adze/settings.json"} {
		path := filepath.Join(r.Root, filepath.FromSlash(name))
		if text, err := files.Read(path, 100); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q %v", text, err)
		}
	}
	other := newRig(t)
	other.write(".mcp.json", "{}")
	files.Dir = other.Root
	if text, err := files.Read(filepath.Join(other.Root, ".mcp.json"), 100); err != nil || string(text) != "{}" {
		t.Errorf("%q %v", text, err)
	}
}
