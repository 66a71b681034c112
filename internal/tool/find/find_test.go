package find

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

type bench struct {
	t   *testing.T
	dir string
	env tool.Env
	set tool.Set
}

// newBench makes a folder of files, each a second older than the one before.
func newBench(t *testing.T, files ...string) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(New()...)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t, dir, tool.Env{Dir: dir, Roots: []string{dir}, Progress: func(string) {}}, set}
	at := time.Unix(1_700_000_000, 0)
	for i := 0; i+1 < len(files); i += 2 {
		p := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
		at = at.Add(-time.Second)
		if err := os.Chtimes(p, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

type in map[string]any

func (b *bench) run(name string, m in) tool.Result {
	b.t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	tl, _ := b.set.Get(name)
	if _, err := tl.Plan(raw, b.env); err != nil {
		return tool.Errorf("%s", err)
	}
	r, err := tl.Run(context.Background(), raw, b.env)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) is(want, name string, m in) {
	b.t.Helper()
	if r := b.run(name, m); r.Text != want || r.IsErr {
		b.t.Errorf("%s %v:\ngot  %q (error %v)\nwant %q", name, m, r.Text, r.IsErr, want)
	}
}

func (b *bench) fails(want, name string, m in) {
	b.t.Helper()
	if r := b.run(name, m); !r.IsErr || !strings.Contains(r.Text, want) {
		b.t.Errorf("%s %v: got error %v %q, want one with %q", name, m, r.IsErr, r.Text, want)
	}
}

func TestGlob(t *testing.T) {
	b := newBench(t, "a.go", "", "sub/b.go", "", "sub/deep/c.go", "", "x.txt", "", ".github/w.yml", "",
		".git/config", "", "out/gen.go", "", ".gitignore", "out/\n")
	b.is("a.go\nsub/b.go\nsub/deep/c.go", "Glob", in{"pattern": "**/*.go"})
	b.is("a.go", "Glob", in{"pattern": "*.go"})
	b.is("sub/b.go\nsub/deep/c.go", "Glob", in{"pattern": "**/*.go", "path": "sub"})
	b.is("sub/deep/c.go", "Glob", in{"pattern": b.dir + "/sub/*/*.go"})
	b.is(".github/w.yml", "Glob", in{"pattern": "**/*.y{a,}ml"})
	b.is("a.go\nx.txt", "Glob", in{"pattern": "[!b].*"})
	b.is("No files found.", "Glob", in{"pattern": "*.rs"})
	b.is(".github\nsub", "Glob", in{"pattern": "*/"})
	b.fails("path nope does not exist", "Glob", in{"pattern": "*", "path": "nope"})
}

func TestGrep(t *testing.T) {
	b := newBench(t, "a.go", "package a\n\nfunc One() {}\nfunc Two() {}\n", "sub/b.py", "def one(): pass\n# One\n", ".github/w.yml", "One: 1\n",
		".git/config", "One\n", "bin", "One\x00\n", "out/gen.go", "One\n", ".gitignore", "out/\n")
	b.is(".github/w.yml\na.go\nsub/b.py", "Grep", in{"pattern": "One"})
	b.is("a.go", "Grep", in{"pattern": "One", "type": "go"})
	b.is("sub/b.py", "Grep", in{"pattern": "One", "glob": "*.{py,rb}"})
	b.is(".github/w.yml:1:One: 1\na.go:3:func One() {}\nsub/b.py:2:# One", "Grep", in{"pattern": "One", "output_mode": "content"})
	b.is("a.go-2-\na.go:3:func One() {}\na.go-4-func Two() {}", "Grep", in{"pattern": "One", "path": "a.go", "output_mode": "content", "-C": 1})
	b.is(".github/w.yml:1\na.go:1\nsub/b.py:2\n[4 matching lines in 3 files]", "Grep", in{"pattern": "one", "output_mode": "count", "-i": "true"})
	b.is("a.go:func One() {}", "Grep", in{"pattern": "One", "path": "a.go", "output_mode": "content", "-n": false})
	b.is("a.go:3:func One() {}\n[1 more match; continue with offset=1, or narrow the search]", "Grep", in{"pattern": "^func", "path": "a.go", "output_mode": "content", "head_limit": 1})
	b.is("a.go:4:func Two() {}", "Grep", in{"pattern": "^func", "path": "a.go", "output_mode": "content", "offset": 1})
	b.is("a.go:3:func One() {}\na.go:4:func Two() {}", "Grep", in{"pattern": `One.*Two`, "output_mode": "content", "multiline": true})
	b.is("No matches found.", "Grep", in{"pattern": "Three"})
	b.fails("negative lookahead", "Grep", in{"pattern": "a(?!b)"})
	b.fails("back reference", "Grep", in{"pattern": `(a)\1`})
	b.fails("type \"golangx\" is not known", "Grep", in{"pattern": "a", "type": "golangx"})
}

func TestGlobBounds(t *testing.T) {
	var files []string
	for i := range 1234 {
		files = append(files, fmt.Sprintf("d%d/f%04d.txt", i%3, i), "")
	}
	b := newBench(t, files...)
	r := b.run("Glob", in{"pattern": "**/*.txt"})
	lines := strings.Split(r.Text, "\n")
	if len(lines) != 1001 || lines[0] != "d0/f0000.txt" || lines[999] != "d0/f0999.txt" || lines[1000] != "[234 older files left out; use a narrower pattern or path]" {
		t.Errorf("%d lines, first %q, last %q", len(lines), lines[0], lines[len(lines)-2:])
	}
	b.is("d1/f0001.txt\n[none directly in the folder; these are further down, as **/ finds them]", "Glob", in{"pattern": "f0001.*"})
}

func TestGrepBounds(t *testing.T) {
	var files []string
	for i := range 300 {
		files = append(files, fmt.Sprintf("f%03d", i), strings.Repeat("needle "+strings.Repeat("y", 80)+"\n", 10))
	}
	b := newBench(t, files...)
	r := b.run("Grep", in{"pattern": "needle"})
	if n := strings.Count(r.Text, "\n"); n != 250 || !strings.HasSuffix(r.Text, "[50 more files; continue with offset=250, or narrow the search]") {
		t.Errorf("%d lines, ends %q", n, r.Text[len(r.Text)-80:])
	}
	r = b.run("Grep", in{"pattern": "needle", "head_limit": 0})
	if n := strings.Count(r.Text, "\n"); n != 299 {
		t.Errorf("all: %d lines", n)
	}
	for _, m := range []in{
		{"pattern": "needle", "output_mode": "content"}, {"pattern": "needle", "output_mode": "content", "head_limit": 0},
		{"pattern": "needle", "output_mode": "content", "head_limit": 0, "-C": 3, "offset": 1500}, {"pattern": "needle", "output_mode": "count", "head_limit": 0},
	} {
		r := b.run("Grep", m)
		if len(r.Text) > grepLimit || r.IsErr || len(r.Text) < 1000 {
			t.Errorf("%v: %d bytes", m, len(r.Text))
		}
	}
	// Going on with the offset named shows each match once.
	seen, offset := map[string]bool{}, 0
	for range 100 {
		r := b.run("Grep", in{"pattern": "needle", "output_mode": "content", "offset": offset})
		n := 0
		for line := range strings.Lines(r.Text) {
			if strings.HasPrefix(line, "f") {
				name, _, _ := strings.Cut(line, " ")
				if seen[name] {
					t.Fatalf("%s is shown twice", name)
				}
				seen[name] = true
				n++
			}
		}
		if n == 0 {
			t.Fatalf("nothing at offset %d: %q", offset, r.Text)
		}
		offset += n
		if !strings.Contains(r.Text, fmt.Sprintf("continue with offset=%d,", offset)) {
			break
		}
	}
	if len(seen) != 3000 {
		t.Errorf("%d of 3000 matches seen", len(seen))
	}
	b.is("[300 files in all; offset 900 is past the end]", "Grep", in{"pattern": "needle", "offset": 900})
}

func TestGrepContext(t *testing.T) {
	b := newBench(t, "f", "1\nm 2\n3\n4\n5\nm 6\nm 7\n8\n9\n")
	b.is("f-1-1\nf:2:m 2\nf-3-3\n--\nf-5-5\nf:6:m 6\nf:7:m 7\nf-8-8", "Grep", in{"pattern": "m", "output_mode": "content", "-C": 1})
	b.is("f:2:m 2\nf-3-3\n--\nf:6:m 6\n[1 more match; continue with offset=2, or narrow the search]", "Grep", in{"pattern": "m", "output_mode": "content", "-A": 1, "head_limit": 2})
	b.is("f-5-5\nf:6:m 6\nf:7:m 7", "Grep", in{"pattern": "m", "output_mode": "content", "-B": 1, "offset": 1})
	b.fails("out of range", "Grep", in{"pattern": "m", "-A": -1})
	b.fails("output_mode", "Grep", in{"pattern": "m", "output_mode": "lines"})
	b.fails(`unknown field "regex"`, "Grep", in{"regex": "m"})
}

func TestLinesAreCleaned(t *testing.T) {
	b := newBench(t, "f", "needle \x1b[31mred\x1b[0m \xff "+strings.Repeat("é", 600)+"\n")
	r := b.run("Grep", in{"pattern": "needle", "output_mode": "content"})
	if want := "f:1:needle red \ufffd " + strings.Repeat("é", 487) + " [line cut]"; r.Text != want {
		t.Errorf("got %q", r.Text)
	}
}

// A search does not find what adze itself put aside, unless it is asked to
// look there.
func TestFault40_OwnOutputIsNotSearched(t *testing.T) {
	b := newBench(t, "a", "needle", "session/tool-results/1.txt", "needle")
	b.env.Scratch = filepath.Join(b.dir, "session")
	b.is("a", "Grep", in{"pattern": "needle"})
	b.is("a", "Glob", in{"pattern": "**"})
	b.is("session/tool-results/1.txt", "Grep", in{"pattern": "needle", "path": "session/tool-results"})
}

func TestGoneFolder(t *testing.T) {
	b := newBench(t, "a", "needle")
	if err := os.RemoveAll(b.dir); err != nil {
		t.Fatal(err)
	}
	b.fails("the working directory "+b.dir+" does not exist any more", "Grep", in{"pattern": "needle"})
	b.fails("does not exist any more", "Glob", in{"pattern": "*"})
}

// TestRefusedPaths: the refusals are the same as those of files.
func TestRefusedPaths(t *testing.T) {
	b := newBench(t, "a", "needle")
	for path, want := range map[string]string{
		"$HOME": "only a shell expands this", "//host/share": "only a shell", "a\x00b": "NUL", "/proc/self/environ": "process internals", "/proc/self/root/etc": "process internals", "/dev/fd/3": "descriptors",
	} {
		for _, name := range []string{"Grep", "Glob"} {
			raw, _ := json.Marshal(in{"pattern": "x", "path": path})
			tl, _ := b.set.Get(name)
			if _, err := tl.Plan(raw, b.env); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %q: %v", name, path, err)
			}
		}
	}
}

func TestPlans(t *testing.T) {
	b := newBench(t, "sub/x", "1")
	for name, m := range map[string]in{"Grep": {"pattern": "x", "path": "./sub"}, "Glob": {"pattern": "*", "path": "./sub"}} {
		raw, _ := json.Marshal(m)
		tl, _ := b.set.Get(name)
		p, err := tl.Plan(raw, b.env)
		if err != nil || !p.Parallel || len(p.Actions) != 1 || p.Actions[0] != (policy.Read{Path: filepath.Join(b.dir, "sub"), Asked: "./sub", Folder: true}) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	raw, _ := json.Marshal(in{"pattern": "../other/**/*.go", "path": "sub"})
	tl, _ := b.set.Get("Glob")
	p, err := tl.Plan(raw, b.env)
	if err != nil || p.Actions[0].(policy.Read).Path != filepath.Join(b.dir, "other") {
		t.Errorf("a pattern that climbs: %+v, %v", p, err)
	}
	total := 0
	for _, n := range b.set.Names() {
		tl, _ := b.set.Get(n)
		total += len(tl.Spec().Description)
	}
	if total > 1500 {
		t.Errorf("descriptions have %d bytes", total)
	}
}

// A line of a private key says nothing of itself: the file says where it stands.
func TestGrepHidesKeys(t *testing.T) {
	random := make([]byte, 480)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	body := base64.StdEncoding.EncodeToString(random)
	text := "name: x\nkey: |\n  -----BEGIN PRIVATE KEY-----\n"
	for i := range 10 {
		text += "  " + body[64*i:64*i+64] + "\n"
	}
	b := newBench(t, "conf.yaml", text+"  -----END PRIVATE KEY-----\nother: y\n", "cert.pem", strings.ReplaceAll(text, "PRIVATE KEY", "CERTIFICATE"))
	for _, pattern := range []string{body[200:210], "[A-Za-z0-9+/]{60}"} {
		for _, limit := range []int{1, 5} {
			r := b.run("Grep", in{"pattern": strings.ReplaceAll(pattern, "+", `\+`), "output_mode": "content", "head_limit": limit, "path": "conf.yaml"})
			if !strings.Contains(r.Text, "[masked]") || strings.Contains(r.Text, body[192:222]) || strings.Contains(r.Text, body[:30]) {
				t.Errorf("%s, %d: %s", pattern, limit, r.Text)
			}
		}
	}
	if r := b.run("Grep", in{"pattern": "[A-Za-z0-9+/]{60}", "output_mode": "content", "path": "cert.pem"}); strings.Contains(r.Text, "[masked]") {
		t.Errorf("a certificate: %s", r.Text)
	}
}
