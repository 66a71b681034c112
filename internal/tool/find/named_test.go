package find

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGlobNamed: a folder or a file that is named as it is called is meant.
func TestGlobNamed(t *testing.T) {
	b := newBench(t, "build/o.txt", "", "build/sub/p.txt", "", "src/a.py", "", "src/x/b.py", "", "[id]/p.tsx", "", "i/q.tsx", "", "a{b}.txt", "", "[x].md", "", "x.md", "", ".gitignore", "build/\n")
	if err := os.Mkdir(filepath.Join(b.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"build/*":             "build/o.txt",
		"./build/**":          "build/o.txt\nbuild/sub/p.txt",
		"build/sub/*.txt":     "build/sub/p.txt",
		"[id]/*.tsx":          "[id]/p.tsx",
		"[i]/*.tsx":           "i/q.tsx",
		"a{b}.txt":            "a{b}.txt",
		"[x].md":              "[x].md",
		"src/**/*.py":         "src/a.py\nsrc/x/b.py",
		"**/*.txt":            "a{b}.txt",
		"src/nope/*":          "No files found.",
		b.dir + "/[id]/*.tsx": "[id]/p.tsx",
	} {
		b.is(want, "Glob", in{"pattern": pattern})
	}
	b.is("build/sub/p.txt", "Glob", in{"pattern": "sub/*", "path": "build"})
	if err := os.Symlink("src", filepath.Join(b.dir, "lnk")); err != nil {
		t.Skip(err)
	}
	if r := b.run("Glob", in{"pattern": "lnk/*.py"}); !strings.HasSuffix(r.Text, "/a.py") && r.Text != "src/a.py" {
		t.Errorf("by a link: %q", r.Text)
	}
}

// TestGrepForm: matches across CRLF, and in lines that are too long to show.
func TestGrepForm(t *testing.T) {
	long := strings.Repeat("é", 15000) + "NEEDLE" + strings.Repeat("b", 30000)
	b := newBench(t, "crlf.txt", "A\r\nB\r\n", "min.js", long, "end.js", strings.Repeat("a", 700)+"POINT", "head.js", "START"+strings.Repeat("c", 700))
	for _, pattern := range []string{`A\nB`, `A\n+B`, "A\nB", `A\r\nB`, `A.*B`, `(?:x|A\n)B`} {
		b.is("crlf.txt:1:A\ncrlf.txt:2:B", "Grep", in{"pattern": pattern, "path": "crlf.txt", "multiline": true, "output_mode": "content"})
	}
	for pattern, file := range map[string]string{"NEEDLE": "min.js", "POINT": "end.js", "START": "head.js"} {
		r := b.run("Grep", in{"pattern": pattern, "path": file, "output_mode": "content"})
		if !strings.Contains(r.Text, pattern) || !strings.Contains(r.Text, "[line cut]") || len(r.Text) > 1100 {
			t.Errorf("%s: %q", file, r.Text)
		}
	}
}
