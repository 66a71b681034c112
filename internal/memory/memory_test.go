package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// tree writes files and returns the resolved folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func reader(dir string) *Reader {
	j := func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }
	return New(Options{Managed: []string{j("etc")}, Config: j("home/.adze"), Home: j("home"), Root: j("w"), Dir: j("w/a/b")})
}

func show(t *testing.T, dir string, files []File) string {
	t.Helper()
	var b strings.Builder
	for _, f := range files {
		rel, err := filepath.Rel(dir, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s %q", f.Scope, filepath.ToSlash(rel), f.Text)
		for _, n := range append(slices.Clone(f.Notes), f.Warnings...) {
			b.WriteString(" [" + n + "]")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func check(t *testing.T, what, got, want string) {
	t.Helper()
	if want = strings.TrimLeft(want, "\n"); got != want {
		t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

func TestOrder(t *testing.T) {
	dir := tree(t, map[string]string{
		"etc/AGENTS.md": "managed", "etc/CLAUDE.md": "managed too", "home/.adze/AGENTS.md": "user", "home/.claude/CLAUDE.md": "not this",
		"w/AGENTS.md": "root", "w/CLAUDE.md": "root for another", "w/GEMINI.md": "not this", "w/.claude/CLAUDE.md": "root hidden",
		"w/.adze/AGENTS.md": "root own", "w/AGENTS.local.md": "root local", "w/CLAUDE.local.md": "root local too",
		"w/.adze/rules/b.md": "rule b", "w/.adze/rules/a.md": "rule a", "w/.claude/rules/c.md": "rule c", "w/.adze/rules/x.txt": "no",
		"w/a/CLAUDE.md": "in a", "w/a/GEMINI.md": "not this",
		"w/a/b/GEMINI.md": "in b", "w/a/b/c/AGENTS.md": "below",
	})
	r := reader(dir)
	check(t, "start", show(t, dir, r.Start()), `
managed etc/AGENTS.md "managed"
managed etc/CLAUDE.md "managed too"
user home/.adze/AGENTS.md "user" [~/.claude/CLAUDE.md is not read where this file is; a line @~/.claude/CLAUDE.md in it reads both]
project w/AGENTS.md "root"
project w/CLAUDE.md "root for another"
project w/.claude/CLAUDE.md "root hidden" [GEMINI.md beside it is not read where AGENTS.md or CLAUDE.md is; a line @GEMINI.md in it reads both]
project w/.adze/AGENTS.md "root own"
project w/.claude/rules/c.md "rule c"
project w/.adze/rules/a.md "rule a"
project w/.adze/rules/b.md "rule b"
local w/AGENTS.local.md "root local"
local w/CLAUDE.local.md "root local too"
project w/a/CLAUDE.md "in a" [GEMINI.md beside it is not read where AGENTS.md or CLAUDE.md is; a line @GEMINI.md in it reads both]
project w/a/b/GEMINI.md "in b"
`)
	check(t, "touched", show(t, dir, r.Touched(filepath.Join(dir, "w/a/b/c/d/x.go"))), "project w/a/b/c/AGENTS.md \"below\"\n")
	check(t, "touched again", show(t, dir, r.Touched(filepath.Join(dir, "w/a/b/c/y.go"))), "")
	check(t, "elsewhere", show(t, dir, r.Touched(filepath.Join(dir, "x.go"))), "")
	check(t, "again", show(t, dir, r.Start()), "")
}

// Files above the repository, or above a folder without one, count where they are the
// person's own.
func TestAbove(t *testing.T) {
	git := map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "", "objects/x": "", "refs/x": ""}
	for name, c := range map[string]struct {
		files map[string]string
		open  string // what others can write
		want  string
	}{
		"up to the home folder": {
			files: map[string]string{
				"home/CLAUDE.md": "home", "home/.claude/CLAUDE.md": "user", "home/work/CLAUDE.md": "work @~/prefs.md @sub/x.md", "home/work/sub/x.md": "x", "home/prefs.md": "prefs",
				"home/work/CLAUDE.local.md": "work local", "home/work/.claude/rules/r.md": "rule", "home/work/team/r/AGENTS.md": "root",
			},
			want: `
user home/.claude/CLAUDE.md "user"
user home/CLAUDE.md "home"
user home/prefs.md "prefs"
user home/work/sub/x.md "x"
user home/work/CLAUDE.md "work @~/prefs.md @sub/x.md"
user home/work/.claude/rules/r.md "rule"
user home/work/CLAUDE.local.md "work local"
project home/work/team/r/AGENTS.md "root"
`,
		},
		"a repository around it": {
			files: map[string]string{"home/work/.git/": "", "home/work/CLAUDE.md": "outer @~/prefs.md", "home/prefs.md": "prefs", "home/work/team/r/AGENTS.md": "root"},
			want: `
project home/work/CLAUDE.md "outer @~/prefs.md" [@~/prefs.md: not read: it is outside the folders that project memory may come from] [@~/prefs.md is not read: it is outside of the repository; the setting memory.imports allows it, or a line @~/prefs.md in ~/.adze/AGENTS.md, which is your own]
project home/work/team/r/AGENTS.md "root"
`,
		},
		"a worktree in its own repository": {
			files: map[string]string{"home/work/.git/": "", "home/work/CLAUDE.md": "another state", "home/CLAUDE.md": "home",
				"home/work/.git/worktrees/r/commondir": "../..\n", "home/work/team/r/.git": "gitdir: ../../.git/worktrees/r\n", "home/work/team/r/CLAUDE.md": "this state"},
			want: `
user home/CLAUDE.md "home"
project home/work/team/r/CLAUDE.md "this state"
`,
		},
		"a file that others can write": {
			files: map[string]string{"home/work/CLAUDE.md": "work", "home/work/team/r/x": ""}, open: "home/work/CLAUDE.md",
			want: "user home/work/CLAUDE.md \"\" [not read: it belongs to somebody else, or others can write it]\n",
		},
		"a folder that others can write": {
			files: map[string]string{"home/work/CLAUDE.md": "work", "home/work/team/r/x": ""}, open: "home/work",
			want: "user home/work \"\" [the memory files in it are not read: others can write to this folder]\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for at, text := range c.files {
				if base, ok := strings.CutSuffix(at, ".git/"); ok {
					for n, text := range git {
						files[base+".git/"+n] = text
					}
					continue
				}
				files[at] = text
			}
			dir := tree(t, files)
			if c.open != "" {
				if runtime.GOOS == "windows" {
					t.Skip("no modes")
				}
				if err := os.Chmod(filepath.Join(dir, c.open), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			r := New(Options{Config: filepath.Join(dir, "home/.adze"), Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "home/work/team/r")})
			check(t, "start", show(t, dir, r.Start()), c.want)
		})
	}
}

// What a person allows may be imported by a repository; what a person's own file
// imports may be anywhere, and what that imports in turn may not.
func TestImportsOutside(t *testing.T) {
	dir := tree(t, map[string]string{
		"home/.claude/CLAUDE.md": "@../../shared/a.md", "shared/a.md": "a @b.md", "shared/b.md": "b",
		"home/prefs.md": "prefs", "notes/n.md": "n", "w/a/b/CLAUDE.md": "@~/prefs.md @../../../notes/n.md @../../../shared/b.md",
	})
	r := reader(dir)
	r.o.Imports = []string{filepath.Join(dir, "home/prefs.md"), filepath.Join(dir, "notes")}
	got := show(t, dir, r.Start())
	for _, want := range []string{
		`user shared/a.md "a @b.md" [@b.md: not read: it is outside`, `project home/prefs.md "prefs"`, `project notes/n.md "n"`,
		"[@../../../shared/b.md is not read: it is outside of the repository; the setting memory.imports allows it",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	if strings.Contains(got, `"b"`) {
		t.Error(got)
	}
}

func TestOtherAgentsUserFile(t *testing.T) {
	dir := tree(t, map[string]string{"home/.claude/CLAUDE.md": "theirs", "w/.claude/CLAUDE.md": "project", "w/a/b/x": ""})
	check(t, "start", show(t, dir, reader(dir).Start()), `
user home/.claude/CLAUDE.md "theirs"
project w/.claude/CLAUDE.md "project"
`)
}

// A person's rules for another agent count here too, also beside an own file, and
// those with paths wait; excludes leave them out.
func TestOtherAgentsUserRules(t *testing.T) {
	dir := tree(t, map[string]string{
		"home/.adze/AGENTS.md": "own", "home/.adze/rules/z.md": "own rule", "home/.claude/CLAUDE.md": "not this",
		"home/.claude/rules/b.md": "theirs b", "home/.claude/rules/deep/a.md": "theirs a", "home/.claude/rules/go.md": "---\npaths: \"*.go\"\n---\ngo here",
		"home/.claude/rules/x.txt": "no", "w/a/b/x": "",
	})
	r := reader(dir)
	check(t, "start", show(t, dir, r.Start()), `
user home/.adze/AGENTS.md "own" [~/.claude/CLAUDE.md is not read where this file is; a line @~/.claude/CLAUDE.md in it reads both]
user home/.claude/rules/b.md "theirs b"
user home/.claude/rules/deep/a.md "theirs a"
user home/.adze/rules/z.md "own rule"
`)
	check(t, "touched", show(t, dir, r.Touched(filepath.Join(dir, "w/a/x.go"))), "user home/.claude/rules/go.md \"go here\"\n")
	r = New(Options{Config: filepath.Join(dir, "home/.adze"), Home: filepath.Join(dir, "home"), Root: filepath.Join(dir, "w"), Dir: filepath.Join(dir, "w"), Excludes: []string{"**/.claude/rules/**"}})
	check(t, "excluded", show(t, dir, r.Start()), `
user home/.adze/AGENTS.md "own" [~/.claude/CLAUDE.md is not read where this file is; a line @~/.claude/CLAUDE.md in it reads both]
user home/.adze/rules/z.md "own rule"
`)
	check(t, "excluded, touched", show(t, dir, r.Touched(filepath.Join(dir, "w/a/x.go"))), "")
}

// Two files of a folder are both read, and what they share comes once.
func TestBeside(t *testing.T) {
	for name, c := range map[string]struct{ agents, claude, want string }{
		"another text":         {"one", "two", "one|two"},
		"the same text":        {"one", "one\n", "one"},
		"nothing in it":        {"one", "<!-- x -->\n", "one"},
		"imported":             {"one\n@CLAUDE.md", "two", "two|one\n@CLAUDE.md"},
		"it imports":           {"one", "@AGENTS.md\nand two", "one|@AGENTS.md\nand two"},
		"it is an import":      {"one", "@AGENTS.md\n", "one"},
		"it is another import": {"one", "@other.md\n", "one|other"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{"w/a/b/AGENTS.md": c.agents, "w/a/b/CLAUDE.md": c.claude, "w/a/b/other.md": "other"})
			var got []string
			for _, f := range reader(dir).Start() {
				got = append(got, f.Text)
				got = append(got, f.Warnings...)
			}
			if all := strings.Join(got, "|"); all != c.want {
				t.Errorf("%q, want %q", all, c.want)
			}
		})
	}
}

func TestRulesWait(t *testing.T) {
	dir := tree(t, map[string]string{
		"w/.adze/rules/go.md":      "---\npaths: [\"**/*.go\", \"go.mod\"]\n---\nuse gofmt\n",
		"w/.adze/rules/ts.md":      "---\npaths: src/**/*.{ts,tsx}, ./web/*.ts\n---\nuse tabs",
		"w/.adze/rules/all.md":     "---\ndescription: x\n---\nalways",
		"w/.adze/rules/bad.md":     "---\npaths: [\n---\nkept",
		"w/.adze/rules/line.md":    "---\nno front matter",
		"home/.adze/rules/u.md":    "---\npaths:\n  - \"*.md\"\n---\nuser rule",
		"w/.claude/rules/web/n.md": "---\npaths: {lib,docs}/**/*.css, vendor/\n---\nnamed",
		"w/.claude/rules/s.md":     "---\npaths: *.rs\ndescription: x\n---\nstarred",
		"w/.claude/rules/t.md":     "---\npaths:\n  - **/*.zig\n  - \"*.c\"\n---\nstarred list",
		"w/.claude/rules/u.md":     "---\ndescription: Use when: x\n<y>\npaths:\n- \"*.lua\"\nalwaysApply: no: yes\n---\nbeside words",
		"w/a/b/x":                  "",
	})
	r := reader(dir)
	got := show(t, dir, r.Start())
	if i := strings.Index(got, " [front matter"); i < 0 {
		t.Errorf("no warning: %s", got)
	}
	for _, want := range []string{`rules/all.md "always"`, `rules/bad.md "kept" [front matter not used`, `rules/line.md "---\nno front matter"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	if strings.Contains(got, "gofmt") || strings.Contains(got, "tabs") {
		t.Error(got)
	}
	if strings.Contains(got, "named") || strings.Contains(got, "starred") {
		t.Error(got)
	}
	at := func(p string) string { return show(t, dir, r.Touched(filepath.Join(dir, "w", p))) }
	check(t, "go", at("a/b/x.go"), "project w/.adze/rules/go.md \"use gofmt\"\n")
	check(t, "go again", at("y.go"), "")
	check(t, "ts elsewhere", at("lib/x.ts"), "")
	check(t, "ts", at("web/x.ts"), "project w/.adze/rules/ts.md \"use tabs\"\n")
	check(t, "user's, in a folder below", at("docs/README.md"), "user home/.adze/rules/u.md \"user rule\"\n")
	check(t, "a comma in braces is none between patterns", at("docs/x/y.css"), "project w/.claude/rules/web/n.md \"named\"\n")
	check(t, "without quotes", at("src/deep/x.rs"), "project w/.claude/rules/s.md \"starred\"\n")
	check(t, "a list without quotes", at("src/x.c"), "project w/.claude/rules/t.md \"starred list\"\n")
	check(t, "beside a field that is no YAML", at("src/x.lua"), "project w/.claude/rules/u.md \"beside words\"\n")
	r = reader(dir)
	r.Start()
	check(t, "all in a folder", at("vendor/a/b.txt"), "project w/.claude/rules/web/n.md \"named\"\n")
}

func TestImports(t *testing.T) {
	dir := tree(t, map[string]string{
		"w/AGENTS.md": "See @docs/style.md, and (@./b.md). Not `@docs/no.md` nor ``a ` @docs/no.md``.\n" +
			"```sh\n@docs/no.md\n```\n<!-- @docs/no.md -->mail me@docs/no.md or @someone\n~~~\n@docs/no.md\n~~~\n@~/private.md @../outside.md @missing.md @.env @docs/a\\ b.md @~/.aws/x.md @$HOME/x.md @//host/share/x.md",
		"w/docs/style.md": "style @deep1.md", "w/docs/no.md": "NO", "w/b.md": "b @AGENTS.md", "w/docs/a b.md": "space",
		"w/docs/deep1.md": "1 @deep2.md", "w/docs/deep2.md": "2 @deep3.md", "w/docs/deep3.md": "3 @deep4.md", "w/docs/deep4.md": "4 @deep5.md", "w/docs/deep5.md": "5",
		"outside.md": "OUT", "home/private.md": "PRIVATE", "w/.env": "KEY=1", "w/a/b/x": "",
		"home/.adze/AGENTS.md": "@~/private.md",
	})
	got := show(t, dir, reader(dir).Start())
	check(t, "imports", got[:strings.Index(got, "project w/AGENTS.md")], `
user home/private.md "PRIVATE"
user home/.adze/AGENTS.md "@~/private.md"
project w/docs/deep4.md "4 @deep5.md" [@deep5.md: not read: imports go only 5 deep]
project w/docs/deep3.md "3 @deep4.md"
project w/docs/deep2.md "2 @deep3.md"
project w/docs/deep1.md "1 @deep2.md"
project w/docs/style.md "style @deep1.md"
project w/b.md "b @AGENTS.md" [@AGENTS.md: not read again: it imports itself]
project w/docs/a b.md "space"
`)
	for _, want := range []string{
		"[@~/private.md: not read: it is outside the folders", "[@../outside.md: not read: it is outside", "[@missing.md: not read: no such file]", "[@.env: not read: it may hold secrets]",
		"[@$HOME/x.md: not read: $HOME/x.md: only a shell expands this", "[@//host/share/x.md: not read: //host/share/x.md: only a shell",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	for _, bad := range []string{"NO", "OUT", "KEY=", "<!--"} {
		if strings.Contains(got, bad) {
			t.Errorf("%s\nholds %s", got, bad)
		}
	}
}

func TestLinksAndOddFiles(t *testing.T) {
	dir := tree(t, map[string]string{
		"secret": "SECRET", "w/CLAUDE.md": "shared", "w/a/x": "", "w/a/b/AGENTS.md": "bad \xff\x1b[31mred\x1b[0m text",
		"w/.adze/AGENTS.md": "nul \x00 here",
	})
	link := func(to, at string) {
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Skip(err)
		}
	}
	link("CLAUDE.md", "w/AGENTS.md")
	link("../../secret", "w/a/AGENTS.md")
	check(t, "start", show(t, dir, reader(dir).Start()), `
project w/CLAUDE.md "shared"
project w/.adze/AGENTS.md "" [not read: it is not text]
project w/a/AGENTS.md "" [not read: it is outside the folders that project memory may come from]
project w/a/b/AGENTS.md "bad `+"\ufffd"+`red text"
`)
}

func TestBoundsAndExcludes(t *testing.T) {
	dir := tree(t, map[string]string{
		"w/AGENTS.md": strings.Repeat("é long line of text\n", 20_000), "w/a/AGENTS.md": "excluded", "w/a/b/AGENTS.md": strings.Repeat("x", 40_001), "w/huge.md": "",
		"w/.adze/AGENTS.md": "@../huge.md",
	})
	if err := os.Truncate(filepath.Join(dir, "w/huge.md"), 1<<30); err != nil {
		t.Fatal(err)
	}
	r := reader(dir)
	r.o.Excludes = []string{"a/*.md"}
	got := r.Start()
	if len(got) != 3 {
		t.Fatalf("%d files", len(got))
	}
	if n := len(got[0].Text); n > defaultMaxBytes || n < defaultMaxBytes-100 || !utf8.ValidString(got[0].Text) || !strings.Contains(got[0].Notes[0], "cut after 262.1 KB") {
		t.Errorf("%d bytes, notes %v", n, got[0].Notes)
	}
	if len(got[1].Notes) != 1 || !strings.Contains(got[1].Notes[0], "larger than") {
		t.Errorf("%v", got[1].Notes)
	}
	if len(got[2].Warnings) != 1 || !strings.Contains(got[2].Warnings[0], "40001 characters") {
		t.Errorf("%v", got[2].Warnings)
	}
}

// Parsing never panics, never invents text, and finds no import in what is
// wholly code.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a @b.md `@c.md` <!-- @d.md -->", "```\n@x.md\n```", "---\npaths: [a]\n---\nx", "<!-- a\n```\n-->\n@b.md", "````\n```\n@a.md\n````", "`` ` @a.md ``"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, body, _ := frontMatter(s)
		out, imports := parse(body)
		if len(out) > len(body) {
			t.Fatalf("%q grew to %q", body, out)
		}
		for _, im := range imports {
			if im == "" || strings.ContainsAny(im, "`\n") {
				t.Fatalf("%q imports %q", s, im)
			}
		}
		fenced := "~~~~~~~~\n" + strings.ReplaceAll(s, "~", "-") + "\n~~~~~~~~\n"
		if out, imports := parse(fenced); len(imports) > 0 || out != fenced {
			t.Fatalf("%q in a fence: %q %q", s, imports, out)
		}
	})
}

func TestIndex(t *testing.T) {
	tests := []struct {
		text  string
		lines int
		cut   bool
	}{
		{"- [a](a.md): x\n", 1, false},
		{strings.Repeat("x\n", 200), 200, false},
		{strings.Repeat("x\n", 201), 200, true},
		{strings.Repeat(strings.Repeat("é", 499)+"\n", 30), 25, true},
	}
	for _, tt := range tests {
		dir := tree(t, map[string]string{"MEMORY.md": tt.text})
		text, warning := Index(dir)
		if strings.Count(text, "\n") != tt.lines || tt.cut != (warning != "") || len(text) > indexBytes {
			t.Errorf("%.20q: %d lines, %d bytes, %q", tt.text, strings.Count(text, "\n"), len(text), warning)
		}
	}
	if text, warning := Index(t.TempDir()); text+warning != "" {
		t.Error(text, warning)
	}
}
