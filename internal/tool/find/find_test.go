package find

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	set, err := tool.NewSet(New(Config{})...)
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
