package trust_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/trust"
)

// What a folder may bring and still be trusted, and what is too much of it.
func TestBoundsOfAFolder(t *testing.T) {
	mib := strings.Repeat("x", 1<<20)
	deep := func(n int) string { return ".claude/commands/" + strings.Repeat("d/", n) + "go.md" }
	for name, c := range map[string]struct {
		files   func(r *rig)
		refused string
	}{
		"as many files as may be": {func(r *rig) { _ = many(r, 2000) }, ""},
		"one file more":           {func(r *rig) { _ = many(r, 2001) }, "left out: 1 more file: a folder brings at most 2,000 files or 32 MiB that need trust"},
		"a file of 2 MiB":         {func(r *rig) { r.write(".mcp.json", mib+mib) }, ""},
		"a byte more":             {func(r *rig) { r.write(".mcp.json", mib+mib+"x") }, ".mcp.json: larger than 2 MiB"},
		"32 MiB":                  {func(r *rig) { r.brings(32, mib) }, ""},
		"32 MiB and a byte":       {func(r *rig) { r.brings(32, mib); r.write(".mcp.json", "x") }, "left out: 1 more file: a folder brings at most 2,000 files or 32 MiB that need trust"},
		"three files more":        {func(r *rig) { _ = many(r, 2003) }, "left out: 3 more files: a folder brings at most 2,000 files or 32 MiB that need trust"},
		// What is beyond the bounds and would run is not just left out.
		"too many, and a script":   {func(r *rig) { _ = many(r, 2001); r.scripts(1, "x") }, "the folder: it brings more than 2,000 files or 32 MiB that need trustleft out: 1 more file: a folder brings at most 2,000 files or 32 MiB that need trust"},
		"as deep as may be":        {func(r *rig) { r.write(deep(6), "x") }, ""},
		"a folder deeper":          {func(r *rig) { r.write(deep(7), "x") }, "left out: .claude/commands/d/d/d/d/d/d/d: too deep"},
		"as many names as may be":  {func(r *rig) { r.names(4000) }, ""},
		"a name more":              {func(r *rig) { r.names(4001) }, "left out: .claude/commands: it holds more than 4000 names"},
		"a file in place of a one": {func(r *rig) { r.write(".claude", "x"); r.write(".mcp.json", "{}") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.Turn(t)
			r := newRig(t)
			c.files(r)
			v, err := r.Check(r.Folder)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(v.Refused, "; ")
			if left := strings.Join(v.Left, "; "); left != "" {
				got += "left out: " + left
			}
			if got != c.refused {
				t.Errorf("refused: %q, want %q", got, c.refused)
			}
			if c.refused == "" && v.State != trust.Nothing {
				r.grant(trust.Untrusted)
				r.check(trust.Trusted)
			}
		})
	}
}

// brings writes n commands with a text.
func (r *rig) brings(n int, text string) {
	for i := range n {
		r.write(fmt.Sprintf(".claude/commands/c%d.md", i), text)
	}
}

// scripts writes n scripts of hooks with a text.
func (r *rig) scripts(n int, text string) {
	for i := range n {
		r.write(fmt.Sprintf(".claude/hooks/h%d.sh", i), text)
	}
}

// names writes n files that nothing reads where commands are looked for.
func (r *rig) names(n int) {
	r.t.Helper()
	dir := filepath.Join(r.Root, ".claude/commands")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		r.t.Fatal(err)
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}

// A folder that is not there cannot be trusted, and there is nothing to read.
func TestNoFolder(t *testing.T) {
	r := newRig(t)
	f := r.Folder
	f.Root, f.Dir = r.Root+"-none", r.Root+"-none"
	v, err := r.Check(f)
	if err != nil || v.State != trust.Untrusted || len(v.Refused) != 1 || !strings.HasPrefix(v.Refused[0], "the folder: ") || len(v.Files) > 0 {
		t.Errorf("%+v %v", v, err)
	}
	if _, err := (trust.Files{Folder: f, Disk: confedit.Disk{}}).Read(filepath.Join(f.Root, ".mcp.json"), 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// What cannot be trusted is not trusted, also when it was before and nothing
// else changed.
func TestRefusedAfterItWasTrusted(t *testing.T) {
	r := newRig(t)
	r.write(".mcp.json", "{}")
	r.grant(trust.Untrusted)
	r.write(".claude/settings.json", strings.Repeat(" ", 3<<20))
	if v := r.check(trust.Untrusted); len(v.Refused) != 1 {
		t.Errorf("%q", v.Refused)
	}
	if p, err := r.Promise(t.Context(), r.Folder, own, nil, []byte("{}")); p != nil || err != nil {
		t.Errorf("what cannot be trusted is no error of who wrote a rule: %v, %v", p, err)
	}
	r.check(trust.Untrusted)
}

// A write of a file that needs no trust leaves the record as it is.
func TestPromiseOfNothingThatCounts(t *testing.T) {
	r := newRig(t)
	p, err := r.Promise(t.Context(), r.Folder, "README.md", []byte("hello"), []byte("hi"))
	if p != nil || err != nil || p.Keep(t.Context(), true) != nil {
		t.Fatal(p, err)
	}
	if _, err := os.Stat(r.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a record was written: %v", err)
	}
}

// A record that cannot be read is an error to who lists or revokes.
func TestListAndRevokeWithABrokenRecord(t *testing.T) {
	r := newRig(t)
	r.write(".mcp.json", "{}")
	r.grant(trust.Untrusted)
	if err := os.WriteFile(r.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := r.List(); err == nil {
		t.Errorf("%v", list)
	}
	if _, err := r.Revoke(t.Context(), r.Root); err == nil {
		t.Error("revoked from a record that cannot be read")
	}
}

// Copies of what was trusted are kept as long as they can be shown, up to a
// size; without one it is said that the old content is not known.
func TestCopiesOfTrustedContent(t *testing.T) {
	r := newRig(t)
	copies := func() (n int) {
		_ = filepath.WalkDir(filepath.Join(filepath.Dir(r.Path), "trust"), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return nil
		})
		return n
	}
	r.write(".mcp.json", "{}")
	r.write(".claude/settings.json", strings.Repeat(" ", 256<<10))
	r.write(".claude/settings.local.json", strings.Repeat(" ", 256<<10+1))
	r.grant(trust.Untrusted)
	if n := copies(); n != 2 {
		t.Errorf("%d copies", n)
	}
	r.write(".mcp.json", `{"a":1}`)
	r.write(".claude/settings.local.json", "{}")
	want := "--- trusted/.mcp.json\n+++ now/.mcp.json\n@@ -1 +1 @@\n-{}\n\\ No newline at end of file\n+{\"a\":1}\n\\ No newline at end of file\n"
	if d := r.Diff(r.check(trust.Changed)); d != ".claude/settings.local.json: changed; what it was is not known any more\n"+want {
		t.Errorf("%s", d)
	}
	r.grant(trust.Changed)
	if n := copies(); n != 3 {
		t.Errorf("%d copies, with those of what is not trusted any more", n)
	}
	for i := range 9 { // eight of them are all that is kept of one folder
		r.write(fmt.Sprintf(".claude/commands/c%d.md", i), strings.Repeat(fmt.Sprint(i), 256<<10))
	}
	r.grant(trust.Changed)
	if n := copies(); n != 8 {
		t.Errorf("%d copies of 2 MiB", n)
	}
	// Another version of adze finds them by this name.
	at := sha256.Sum256([]byte(r.Root))
	if _, err := os.Stat(filepath.Join(filepath.Dir(r.Path), "trust", hex.EncodeToString(at[:16]))); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(filepath.Dir(r.Path), "trust")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("others may look at the copies: %v (%v)", info.Mode(), err)
	}
	if _, err := r.Revoke(t.Context(), r.Root); err != nil || copies() != 0 {
		t.Errorf("%d copies are left (%v)", copies(), err)
	}
}

// A difference is shown up to 400 lines a file.
func TestLongDifferences(t *testing.T) {
	r := newRig(t)
	r.write(".mcp.json", "{}\n")
	r.grant(trust.Untrusted)
	for lines, more := range map[int]string{395: "", 396: "", 397: "[1 more line]\n", 500: "[104 more lines]\n"} {
		r.write(".mcp.json", "{}\n"+strings.Repeat("x\n", lines))
		d := r.Diff(r.check(trust.Changed))
		if i := strings.Index(d, "["); more == "" && i >= 0 || more != "" && (i < 0 || d[i:] != more) {
			t.Errorf("%d lines: %.20q…%.40q", lines, d, d[max(0, len(d)-40):])
		}
	}
}

// Claims name the file and what it wants; of settings also the line.
func TestClaimsInFull(t *testing.T) {
	r := newRig(t)
	r.write(".claude/settings.json", "{\n  \"permissions\": {\"allow\": [\"Bash(ls)\"]}\n}")
	r.write(".adze/settings.json", `{"permissions":{"deny":["Bash"]}}`)
	r.write(".mcp.json", `{"mcpServers":{"b":{"url":"https://b"},"a":{"command":"x","args":["y"],"headersHelper":"z"}}}`)
	r.write(".agents/skills/s/SKILL.md", "\xef\xbb\xbf---\nname: s\ndescription: does s\nmodel: m\n---\n!`one` and !`two`")
	r.write(".claude/commands/c.md", "---\ndescription: d\n\tx: y\n---\nx")
	r.write(".claude/commands/d.md", "--- not closed !`three`")
	r.write(".claude/hooks/h.sh", "#!/bin/sh\n")
	want := []trust.Claim{
		{File: ".adze/settings.json", What: "settings", Text: "values that run and allow nothing"},
		{File: ".agents/skills/s/SKILL.md", What: "skill s", Text: "does s"},
		{File: ".agents/skills/s/SKILL.md", What: "skill s: model", Text: `"m"`},
		{File: ".agents/skills/s/SKILL.md", What: "skill s: runs", Text: "one"},
		{File: ".agents/skills/s/SKILL.md", What: "skill s: runs", Text: "two"},
		{File: ".claude/commands/c.md", What: "command c", Text: "it cannot be used: the front matter is no YAML: found a tab character that violates indentation"},
		{File: ".claude/commands/d.md", What: "command d"},
		{File: ".claude/commands/d.md", What: "command d: runs", Text: "three"},
		{File: ".claude/hooks/h.sh", What: "hook script", Text: "10 bytes"},
		{File: ".claude/settings.json", Line: 2, What: "permissions.allow", Text: `["Bash(ls)"]`},
		{File: ".mcp.json", Line: 1, What: "MCP server b", Text: "connects to: https://b (http)"},
		{File: ".mcp.json", Line: 1, What: "MCP server a", Text: "runs: x y; runs for its headers: z"},
	}
	if d := cmp.Diff(want, r.check(trust.Untrusted).Claims()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for text, want := range map[string]trust.Claim{
		`{"mcpServers":{}}`: {File: ".mcp.json", What: "MCP servers", Text: "none"},
		`{`:                 {File: ".mcp.json", What: "MCP servers", Text: "a file that cannot be read: line 1, column 2: it ends before it is complete"},
	} {
		r := newRig(t)
		r.write(".mcp.json", text)
		if got := r.check(trust.Untrusted).Claims(); !slices.Equal(got, []trust.Claim{want}) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// Only what may speak for the content that was seen is covered by a verdict.
func TestCovers(t *testing.T) {
	r := newRig(t)
	r.write(".mcp.json", "{}")
	v := r.check(trust.Untrusted)
	sum := v.Files[0].Sum
	for _, c := range []struct {
		read map[string]string
		want bool
	}{{nil, true}, {map[string]string{".mcp.json": sum}, true}, {map[string]string{".mcp.json": "other"}, false}, {map[string]string{"x": sum}, false}, {map[string]string{".mcp.json": sum, "x": sum}, false}} {
		if got := v.Covers(c.read); got != c.want {
			t.Errorf("%v: %t", c.read, got)
		}
	}
}
