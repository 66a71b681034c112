package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// grow makes files in a new folder; a name that ends in "/" is a folder.
func grow(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(p, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(p), 0o755); err == nil {
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func names(t testing.TB, tree Tree, q Query) []string {
	t.Helper()
	q.Names = true
	files, _, err := Grep(context.Background(), tree, q)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		out = append(out, f.Rel)
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

func TestIgnoreFiles(t *testing.T) {
	root := grow(t, map[string]string{
		".git/info/exclude": "excluded\n", ".git/HEAD": "x", ".git/refs/": "", ".gitignore": "*.log\n/build/\n!keep.log\n", ".ignore": "kept.log\n!special.log\n",
		"a.go": "x", "b.log": "x", "keep.log": "x", "kept.log": "x", "special.log": "x", "build/c.go": "x", "sub/build/d.go": "x", "excluded": "x",
		"sub/.gitignore": "!b.log\nd.go\n", "sub/b.log": "x", "sub/e.go": "x", "sub/.adzeignore": "e.go\n", ".github/w.yml": "x", "global.tmp": "x",
		"inner/.git/HEAD": "x", "inner/.git/refs/": "", "inner/b.log": "x", ".hg/x": "x", "node_modules/.gitignore": "*\n", "node_modules/m/i.js": "x",
	})
	home := grow(t, map[string]string{".gitconfig": "[core]\n\texcludesFile = ~/ig\n", "ig": "*.tmp\n"})
	equal(t, "tree", names(t, Tree{Root: root, Home: home}, Query{Pattern: "x"}),
		[]string{".git" + "hub/w.yml", "a.go", "inner/b.log", "keep.log", "special.log", "sub/b.log"})
	equal(t, "from below", names(t, Tree{Root: filepath.Join(root, "sub"), Home: home}, Query{Pattern: "x"}), []string{"b.log"})
	equal(t, "a root that is ignored itself", names(t, Tree{Root: filepath.Join(root, "build")}, Query{Pattern: "x"}), []string{"c.go"})
	equal(t, "one file", names(t, Tree{Root: filepath.Join(root, "b.log")}, Query{Pattern: "x"}), []string{"b.log"})
	all := names(t, Tree{Root: root, Home: home, All: true}, Query{Pattern: "x"})
	if !slices.Contains(all, "node_modules/m/i.js") || slices.Contains(all, ".hg/x") {
		t.Errorf("all: %q", all)
	}
}

// TestFilesAsRipgrep compares which files are searched in a tree of ignore
// files.
func TestFilesAsRipgrep(t *testing.T) {
	rg := ripgrep(t)
	files := map[string]string{".git/HEAD": ""}
	for i, pats := range []string{"*.o\n!a.o\nt/", "/b\nsub/**/x\n", "**/y\n!y\n", "*\n!*.c\n!*/\n", "sub/*\n!sub/b\n", ""} {
		d := fmt.Sprintf("d%d", i)
		files[d+"/.gitignore"] = pats
		if i%2 == 0 {
			files[d+"/sub/.ignore"] = "b\n!x\n"
		}
		for _, n := range []string{"a.o", "b.o", "b", "x", "y", "z.c", "sub/b", "sub/x", "sub/t/x", "sub/t/z.c", "t/y", "sub/sub/a.o", "sub/sub/x"} {
			files[d+"/"+n] = "text\n"
		}
	}
	root := grow(t, files)
	c := exec.Command(rg, "--files", "--hidden", "--no-config", "--glob=!.git")
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(out))
	slices.Sort(want)
	found, _, err := Glob(context.Background(), Tree{Root: root}, "**")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.Rel)
	}
	slices.Sort(got)
	equal(t, "files", got, want)
}

func TestBinaryAndEncodings(t *testing.T) {
	pad := strings.Repeat("0123456789abcde\n", 1000) // 16,000 bytes
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune("eins\r\nneedle zwei\r\n")) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	root := grow(t, map[string]string{
		"head.bin": "a\x00\nneedle\n", "late.bin": "needle 1\n" + pad + "\x00\nneedle 2\n", "after.bin": pad + "\x00\nneedle\n",
		"wide.txt": string(wide), "bom.txt": "\xef\xbb\xbfneedle\n", "crlf.txt": "a needle\r\nb\r\n", "noend.txt": "x\nneedle", "empty": "",
		"big.txt": strings.Repeat(pad, 40) + "needle\n" + pad,
	})
	equal(t, "names", names(t, Tree{Root: root}, Query{Pattern: `needle`}),
		[]string{"big.txt", "bom.txt", "crlf.txt", "late.bin", "noend.txt", "wide.txt"})
	equal(t, "anchors", names(t, Tree{Root: root}, Query{Pattern: `needle$`}), []string{"big.txt", "bom.txt", "crlf.txt", "noend.txt"})
	equal(t, "start of file", names(t, Tree{Root: root}, Query{Pattern: `^needle`}), []string{"big.txt", "bom.txt", "late.bin", "noend.txt", "wide.txt"})
	files, _, err := Grep(context.Background(), Tree{Root: root}, Query{Pattern: "needle", Globs: "{late.bin,big.txt,wide.txt}"})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 || files[0].Lines[0].Number != 40_001 || files[1].Count != 1 || files[2].Lines[0] != (Line{Number: 2, Text: "needle zwei"}) {
		t.Errorf("got %+v", files)
	}
}

// TestContextAsRipgrep compares lines, numbers and context.
func TestContextAsRipgrep(t *testing.T) {
	rg := ripgrep(t)
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "line %d\n", i*i%97)
	}
	root := grow(t, map[string]string{"f.txt": b.String()})
	for _, p := range []string{`line 1$`, `line [0-4]$`, `7`, `line 96`, `none`} {
		for _, n := range [][2]int{{0, 0}, {1, 0}, {0, 2}, {3, 3}} {
			files, _, err := Grep(context.Background(), Tree{Root: root}, Query{Pattern: p, Before: n[0], After: n[1]})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				for i, l := range f.Lines {
					if i > 0 && l.Number != f.Lines[i-1].Number+1 && n != [2]int{} {
						got = append(got, "--")
					}
					sep := ":"
					if l.Context {
						sep = "-"
					}
					got = append(got, fmt.Sprint(l.Number, sep, l.Text))
				}
			}
			c := exec.Command(rg, "--no-config", "-n", "--color=never", "-B", fmt.Sprint(n[0]), "-A", fmt.Sprint(n[1]), p, filepath.Join(root, "f.txt"))
			out, _ := c.Output()
			var want []string
			for l := range strings.Lines(string(out)) {
				want = append(want, strings.TrimSuffix(l, "\n"))
			}
			equal(t, fmt.Sprint(p, n), got, want)
		}
	}
}

func TestMultiline(t *testing.T) {
	root := grow(t, map[string]string{"a.go": "type A struct {\n\tX int\n}\n\ntype B struct {\n\tY int\n}\n", "b.go": "none\n"})
	files, _, err := Grep(context.Background(), Tree{Root: root}, Query{Pattern: `B struct.*?\}`, Multiline: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Count != 3 || files[0].Lines[0] != (Line{Number: 5, Text: "type B struct {"}) || files[0].Lines[2].Text != "}" {
		t.Errorf("got %+v", files)
	}
}

func TestSkipAndRoots(t *testing.T) {
	root := grow(t, map[string]string{"a": "x", "spill/b": "x", "sub/spill/c": "x"})
	equal(t, "skip", names(t, Tree{Root: root, Skip: []string{filepath.Join(root, "spill")}}, Query{Pattern: "x"}), []string{"a", "sub/spill/c"})
	_, _, err := Grep(context.Background(), Tree{Root: filepath.Join(root, "gone")}, Query{Pattern: "x"})
	if !errors.Is(err, ErrGone) {
		t.Errorf("a root that is gone: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Grep(ctx, Tree{Root: root}, Query{Pattern: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFirstAndMax(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("f%02d", i)] = strings.Repeat("x "+strings.Repeat("y", 1000)+"\n", 400)
	}
	root := grow(t, files)
	got, _, err := Grep(context.Background(), Tree{Root: root, Workers: 3}, Query{Pattern: "x", First: 10_000, Max: 5})
	if err != nil {
		t.Fatal(err)
	}
	total, kept := 0, 0
	for _, f := range got {
		if n := len(f.Lines); n > 0 && total+f.Count <= 10_000 {
			t.Errorf("%s keeps text that is not asked for", f.Rel)
		}
		total += f.Count
		kept += len(f.Lines)
	}
	if total != 20_000 || kept < 5 || kept > 400 {
		t.Errorf("%d matches, %d kept", total, kept)
	}
}

func TestTypes(t *testing.T) {
	root := grow(t, map[string]string{"a.go": "x", "b.py": "x", "Makefile": "x", "c.tsx": "x", "d.rs": "x", "go.mod": "x"})
	for typ, want := range map[string]string{"go": "a.go", "py": "b.py", "make": "Makefile", "ts": "c.tsx", "rust": "d.rs"} {
		equal(t, typ, names(t, Tree{Root: root}, Query{Pattern: "x", Type: typ}), []string{want})
	}
	for glob, want := range map[string]string{"*.{go,py}": "a.go b.py", "!*.go": "Makefile b.py c.tsx d.rs go.mod", "*.go,*.rs": "a.go d.rs", "*.py *.tsx": "b.py c.tsx", "[ab].*": "a.go b.py"} {
		equal(t, glob, names(t, Tree{Root: root}, Query{Pattern: "x", Globs: glob}), strings.Fields(want))
	}
	if err := Check(Query{Pattern: "x", Type: ".tsx"}); err == nil || !strings.Contains(err.Error(), "tsx") {
		t.Errorf("got %v", err)
	}
}

func TestOrderDoesNotDependOnTiming(t *testing.T) {
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("d%d/e%d/f%d", i%7, i%5, i)] = "x\n"
	}
	root := grow(t, files)
	first := names(t, Tree{Root: root, Workers: 1}, Query{Pattern: "x"})
	for range 5 {
		equal(t, "order", names(t, Tree{Root: root, Workers: 4 + runtime.GOMAXPROCS(0)}, Query{Pattern: "x"}), first)
	}
	if !slices.IsSorted(first) || len(first) != 400 {
		t.Errorf("%d files, sorted %v", len(first), slices.IsSorted(first))
	}
}

// Grep finds what Read shows, in whatever encoding a file is.
func TestGrepOtherEncodings(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sjis": "x\n\x93\xfa\x96\x7b\x8c\xea and\n", "iso2022": "\x1b$BF|K\\8l\x1b(B and\n", "latin1": "caf\xe9 d\xe9j\xe0 vu and\n",
		"utf16": "\xff\xfe\xe5\x65\x2c\x67\x9e\x8a\x20\x00a\x00n\x00d\x00", "utf8": "日本語 and\n", "broken": "é é \xff and\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]string{
		"日本":        "iso2022:1:日本語 and; sjis:2:日本語 and; utf16:1:日本語 and; utf8:1:日本語 and; ",
		"caf.":      "latin1:1:café déjà vu and; ",
		`\p{Han} a`: "iso2022:1:日本語 and; sjis:2:日本語 and; utf16:1:日本語 and; utf8:1:日本語 and; ",
		"and":       "broken:1:é é \xff and; iso2022:1:日本語 and; latin1:1:café déjà vu and; sjis:2:日本語 and; utf16:1:日本語 and; utf8:1:日本語 and; ",
	} {
		files, _, err := Grep(t.Context(), Tree{Root: dir}, Query{Pattern: pattern})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range files {
			for _, l := range f.Lines {
				got += fmt.Sprintf("%s:%d:%s; ", f.Rel, l.Number, l.Text)
			}
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", pattern, got, want)
		}
	}
}
