package ignore

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// tricky are patterns that libraries commonly get wrong.
var tricky = []string{
	"foo", "/foo", "foo/", "/foo/", "foo/bar", "foo/bar/", "**/foo", "foo/**", "a/**/b", "**", "*", "/*", "*/", "**/",
	"*.o", "*.tar.gz", "a*", "*a*", "a?c", "???", "[abc]", "[!abc]", "[^abc]", "[a-c]x", "[]-]", "[!]]", "[a-]", "[\\]]", "[[:alpha:]]",
	"[[:digit:]]*", "[[:nope:]]", "[[:alpha:", "[[:x]", "[a", "a[", "[!", "[]", `\!foo`, `\#foo`, "!foo", "# foo", " foo", "foo ", `foo\ `, `foo\  `,
	`foo\\`, `foo\`, `\foo`, `\*`, `a\*b`, "foo**", "foo**/bar", "foo/**bar", "a/b**/c", "**foo", "/**/foo", "**/foo/**", "a/**", "a/**/", "/**",
	"***", "a/***/b", "foo/*", "foo/*/bar", "*/foo", "*/*/foo", "foo//bar", "//foo", "./foo", "foo/.", "../foo", "foo/**/**/bar",
	"a/*b", "a*/b", "*/b*", ".*", "!.*", ".*/", "é", "?", "??", "[é]", "foo\t", "\tfoo", "foo\r", "-", "a-b", "[z-a]", "[a-c-e]", "[-a]", "[\\-a]", "[a\\-z]",
	"*.[ch]", "*.{c,h}", "b/", "!b/", "/a/b", "a/b/", "x/**/y/**/z", `a\/b`, `**\/b`, "[/]", "a[/]b", "a?b", "/", "!", "!!foo", "a//", "**/*.o", "*/**", "**/**/b",
}

var names = []string{
	"foo", "bar", "a", "b", "c", "x", "y", "z", "abc", "a.o", "x.tar.gz", "!foo", "#foo", " foo", "foo ", "*", "a*b", "ab", "foox", "xfoo",
	"]", "[", "-", "é", ".hidden", "foo\\", "foo\t", "\tfoo", "1a", "bx", "a-b", "m.c", "m.{c,h}", "Foo", "a[", "aXb",
}

// paths builds a few thousand paths of one to four components.
func paths() []string {
	out := append([]string{}, names...)
	for _, d := range []string{"foo", "a", "b", "x", "bar", ".hidden", "foox"} {
		for _, n := range names {
			out = append(out, d+"/"+n)
		}
	}
	for _, d := range []string{"a/b", "foo/bar", "a/x/y", "foo/a/b", "x/y", "x/a/y/b", "b/foo"} {
		for _, n := range []string{"foo", "b", "c", "z", "bar", "a.o", ".hidden", "x"} {
			out = append(out, d+"/"+n)
		}
	}
	return out
}

// ignored walks down to p as git does: an ignored parent settles it.
func ignored(l List, p string, dir bool) bool {
	for i := range len(p) {
		if p[i] == '/' && l.Match(p[:i], true) == Ignored {
			return true
		}
	}
	return l.Match(p, dir) == Ignored
}

func TestAgainstGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	git := func(stdin string, args ...string) string {
		c := exec.Command("git", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME="+dir)
		c.Stdin = strings.NewReader(stdin)
		var errs bytes.Buffer
		c.Stderr = &errs
		out, err := c.Output()
		if e, ok := err.(*exec.ExitError); err != nil && (!ok || e.ExitCode() != 1) {
			t.Fatalf("git %v: %v %s", args, err, errs.String())
		}
		return string(out)
	}
	git("", "init", "-q")
	// Folders exist, so that git knows them; other paths do not and count as files.
	isDir := map[string]bool{}
	all := paths()
	for _, p := range all {
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			isDir[d] = true
		}
	}
	for _, d := range []string{"c", "z", "y"} {
		isDir[d] = true
	}
	for d := range isDir {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	input := strings.Join(all, "\x00")
	lists := [][]string{}
	for _, p := range tricky {
		lists = append(lists, []string{p})
	}
	for i, p := range tricky {
		lists = append(lists, []string{"*", "!" + p}, []string{tricky[(i*7+3)%len(tricky)], "!" + p, tricky[(i*13+5)%len(tricky)]})
	}
	cases, wrong := 0, 0
	for _, lines := range lists {
		text := strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{}
		for p := range strings.SplitSeq(git(input, "check-ignore", "--no-index", "-z", "--stdin"), "\x00") {
			want[p] = true
		}
		l := Parse([]byte(text), false)
		for _, p := range all {
			cases++
			if got := ignored(l, p, isDir[p]); got != want[p] {
				if wrong++; wrong < 20 {
					t.Errorf("%q on %q (folder %v): got %v, git says %v", lines, p, isDir[p], got, want[p])
				}
			}
		}
	}
	t.Logf("%d cases, %d wrong", cases, wrong)
}

func TestExcludesFile(t *testing.T) {
	for in, want := range map[string]string{
		"[core]\n\texcludesFile = ~/.ignore\n":                    "~/.ignore",
		"[user]\nexcludesfile = x\n":                              "",
		"[Core] ExcludesFile=\"/a b\" ; c\n":                      "/a b",
		"[core]\nexcludesfile = /a\n[x]\n[core]\nexcludesfile=/b": "/b",
	} {
		if got, _ := ExcludesFile(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestHostilePattern: without a bound these take minutes.
func TestHostilePattern(t *testing.T) {
	for _, p := range []string{strings.Repeat("**/?*/", 12) + "z", strings.Repeat("*a*/**/", 12) + "b"} {
		l := Parse([]byte(p), false)
		if l.Match(strings.Repeat("aaaa/", 60)+"a", false) != None {
			t.Errorf("%q matches", p)
		}
	}
}

func FuzzMatch(f *testing.F) {
	for _, p := range tricky {
		f.Add(p, "a/b/foo")
	}
	f.Fuzz(func(t *testing.T, pat, p string) {
		if len(pat) > 60 || len(p) > 60 {
			return
		}
		l := Parse([]byte(pat), false)
		l.Match(p, true)
		if Parse([]byte(pat+"\n\n#x\n"), false).Match(p, false) != l.Match(p, false) && !strings.ContainsAny(pat, "\r\n\\ ") {
			t.Errorf("empty lines change %q on %q", pat, p)
		}
	})
}

func ExampleList_Match() {
	l := Parse([]byte("*.log\n!keep.log\nbuild/\n"), false)
	fmt.Println(l.Match("a/x.log", false) == Ignored, l.Match("keep.log", false) == Kept, l.Match("build", false) == None)
	// Output: true true true
}
