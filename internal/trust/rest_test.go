package trust_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/servers"
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

// A change of the record that could not be written is not taken for done.
func TestRecordsThatCannotBeWritten(t *testing.T) {
	r := newRig(t)
	r.write(".mcp.json", "{}")
	r.grant(trust.Untrusted)
	a := trust.Answers{Path: filepath.Join(filepath.Dir(r.Path), "answers.json")}
	db := servers.Server{Name: "db", Raw: []byte(`{"command":"x"}`)}
	if err := a.Say(t.Context(), "/w", db, true); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody waits for the locks any more, which cannot be had
	for _, path := range []string{r.Path, a.Path} {
		if err := os.Mkdir(path+".lock", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if ok, err := r.Revoke(ctx, r.Root); ok || err == nil {
		t.Errorf("revoked: %t, %v", ok, err)
	}
	r.check(trust.Trusted)
	if err := r.Grant(ctx, r.check(trust.Trusted)); err == nil {
		t.Error("granted")
	}
	if _, err := a.Forget(ctx, "/w"); err == nil {
		t.Error("forgotten")
	}
	if err := a.Say(ctx, "/w", db, false); err == nil {
		t.Error("said")
	}
	if got, err := a.Of("/w"); err != nil || !got["db"].Yes {
		t.Errorf("%+v %v", got, err)
	}
}

// A server that is described twice in one file cannot be used, and shows so.
func TestClaimsOfServersGivenTwice(t *testing.T) {
	r := newRig(t)
	r.write(".mcp.json", "{\"mcpServers\":{\n\"a\":{\"command\":\"x\"},\n\"b\":{\"command\":\"z\"},\n\"a\":{\"command\":\"y\"}}}")
	said := map[int]string{}
	for _, c := range r.check(trust.Untrusted).Claims() {
		said[c.Line] = c.What + ": " + c.Text
	}
	if !strings.HasPrefix(said[2], "MCP server a: cannot be used: ") && !strings.HasPrefix(said[4], "MCP server a: cannot be used: ") || said[3] != "MCP server b: runs: z" {
		t.Errorf("%v", said)
	}
}

// What a folder does not bring is the disk's, and what it brings is read once.
func TestFilesOfOthersAreTheDisks(t *testing.T) {
	r := newRig(t)
	r.write(".mcp.json", "{}")
	r.write("notes/a", "x")
	r.write("notes/b", "y")
	files := trust.Files{Folder: r.Folder, Disk: confedit.Disk{}}
	dir := filepath.Join(r.Root, "notes")
	got, err := files.Names(dir)
	if want, _ := (confedit.Disk{}).Names(dir); err != nil || !slices.Equal(got, want) || len(got) != 2 {
		t.Errorf("%q, the disk has %q", got, want)
	}
	anybodys := filepath.Join(dir, "a")
	if err := os.Chmod(anybodys, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{anybodys, filepath.Join(dir, "b")} {
		if got, want := files.Owned(path), (confedit.Disk{}).Owned(path); (got == nil) != (want == nil) || (got == nil) == (path == anybodys) && os.Geteuid() == 0 { // only what is root's is nobody else's
			t.Errorf("%s: %v, of the disk %v", path, got, want)
		}
	}
	v := r.check(trust.Untrusted)
	r.write(".mcp.json", `{"mcpServers":{}}`)
	if len(v.Files) != 1 || string(v.Files[0].Text()) != "{}" || v.Files[0].Path != ".mcp.json" || v.Files[0].Kind != trust.Servers {
		t.Errorf("%+v", v.Files)
	}
}

// What a folder between the root and where a session starts was trusted with, and
// what counts only in that folder, is no change for the session.
func TestWhatCountsElsewhereIsNoChange(t *testing.T) {
	r := newRig(t)
	r.Dir = filepath.Join(r.Root, "sub")
	r.write("sub/.codex/hooks.json", `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"./evil.sh"}]}]}}`)
	r.write("sub/.codex/hooks/evil.sh", "#!/bin/sh")
	r.write("sub/.claude/hooks/h.sh", "#!/bin/sh")
	r.write("sub/.claude/settings.json", hooks)
	r.write("sub/.claude/agents/a.md", "x")
	r.grant(trust.Untrusted)
	r.check(trust.Trusted)
	r.Dir = filepath.Join(r.Root, "sub", "deep")
	r.write("sub/deep/x", "")
	v := r.check(trust.Trusted)
	if len(v.Files) != 1 || v.Files[0].Path != "sub/.claude/agents/a.md" {
		t.Errorf("%+v", v.Files)
	}
	if err := os.Remove(filepath.Join(r.Root, "sub/.claude/agents/a.md")); err != nil {
		t.Fatal(err)
	}
	if v := r.check(trust.Changed); len(v.Changes) != 1 || v.Changes[0].Path != "sub/.claude/agents/a.md" {
		t.Errorf("%+v", v.Changes)
	}
}

// A no holds for what was there, and no longer.
func TestDecline(t *testing.T) {
	r := newRig(t)
	r.write(".mcp.json", "{}")
	v := r.check(trust.Untrusted)
	if r.Declined(v) {
		t.Error("nobody said no")
	}
	if err := r.Decline(t.Context(), v); err != nil || !r.Declined(r.check(trust.Untrusted)) {
		t.Errorf("%v", err)
	}
	r.write(".mcp.json", "{ }")
	if r.Declined(r.check(trust.Untrusted)) {
		t.Error("it changed")
	}
	r.write(".mcp.json", "{}")
	r.write(".claude/agents/a.md", "x")
	if r.Declined(r.check(trust.Untrusted)) {
		t.Error("more came")
	}
	if err := os.Remove(filepath.Join(r.Root, ".claude/agents/a.md")); err != nil {
		t.Fatal(err)
	}
	r.grant(trust.Untrusted)
	if r.Declined(r.check(trust.Trusted)) {
		t.Error("the yes did not end the no")
	}
}

// A copy that somebody changed is not shown as what was trusted.
func TestACopyThatWasChanged(t *testing.T) {
	r := newRig(t)
	r.write(".mcp.json", "{}")
	r.grant(trust.Untrusted)
	list, err := filepath.Glob(filepath.Join(filepath.Dir(r.Path), "trust", "*", "*"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	const evil = `{"mcpServers":{"a":{"command":"evil"}}}`
	if err := os.WriteFile(list[0], []byte(evil), 0o600); err != nil {
		t.Fatal(err)
	}
	r.write(".mcp.json", evil) // as if nothing had changed
	if d := r.Diff(r.check(trust.Changed)); d != ".mcp.json: changed; what it was is not known any more\n" {
		t.Errorf("%s", d)
	}
}
