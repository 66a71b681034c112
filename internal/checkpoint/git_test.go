package checkpoint_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/checkpoint"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/git/conf"
)

// gitTree is a repository whose files are older than a moment, so that its
// index vouches for them.
func gitTree(t testing.TB, script string) (dir string, with func(*checkpoint.Config)) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	dir = tempTree(t)
	old := time.Now().Add(-time.Hour).Add(123456789).Format("2006-01-02T15:04:05.000000001")
	shell(t, dir, `export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git init -q; `+script+`
find . -path ./.git -prune -o -type f -exec touch -d `+old+` {} +
git add -A; git add -f ign/tracked 2>/dev/null; git -c user.name=n -c user.email=e commit -qm x`)
	if _, err := os.Stat(filepath.Join(dir, ".git", "index")); err != nil {
		t.Fatal(err)
	}
	return dir, func(c *checkpoint.Config) {
		c.Git, c.Env = git, append(conf.PinnedEnv(), "PATH="+os.Getenv("PATH"))
		c.Now = func() time.Time { return time.Now().Add(time.Second) } // the files of the test are not new
	}
}

// What git has is not copied, and comes back from git; what git ignores is left
// alone, but for what it tracks.
func TestGitGivesBackWhatItHas(t *testing.T) {
	dir, with := gitTree(t, `mkdir -p src ign; printf a >src/a; printf b >src/b; printf t >ign/tracked; printf i >ign/other; echo ign >.gitignore`)
	before := listing(t, filepath.Join(dir, "src"))
	tree, blobs := newTree(t, dir, with)
	c := run(t, tree, dir, `rm src/a; printf B >src/b; printf T >ign/tracked; printf I >ign/other; printf n >ign/new`)
	var names []string
	for _, f := range c.Files {
		rel, _ := filepath.Rel(dir, f.Path)
		names = append(names, rel)
	}
	if diff := cmp.Diff([]string{"ign/tracked", "src/a", "src/b"}, names); diff != "" {
		t.Error(diff)
	}
	if len(blobs.have) != 3 {
		t.Errorf("%d contents are kept, not the 3 that changed", len(blobs.have))
	}
	if _, problems, err := checkpoint.Restore(context.Background(), blobs, checkpoint.Back(c.Files)); err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if diff := cmp.Diff(before, listing(t, filepath.Join(dir, "src"))); diff != "" {
		t.Error(diff)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "ign", "tracked")); string(b) != "t" {
		t.Errorf("ign/tracked is %q", b)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "ign", "other")); string(b) != "I" {
		t.Errorf("ign/other is %q", b)
	}
}

// Where git turns ends of lines, or everything, it does not have the bytes of
// the tree.
func TestGitThatConvertsIsNotTrusted(t *testing.T) {
	for name, attributes := range map[string]string{"ends of lines": "* text eol=crlf", "a filter": "* filter=x", "none": ""} {
		t.Run(name, func(t *testing.T) {
			dir, with := gitTree(t, `printf '`+attributes+`' >.gitattributes; printf 'one\r\ntwo\r\n' >f; printf x >g`)
			before := listing(t, filepath.Join(dir, "f")) + listing(t, filepath.Join(dir, "g"))
			tree, blobs := newTree(t, dir, with)
			c := run(t, tree, dir, `printf y >f; rm g`)
			if len(c.Missed) > 0 {
				t.Error(c.Missed)
			}
			if _, problems, err := checkpoint.Restore(context.Background(), blobs, checkpoint.Back(c.Files)); err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			if diff := cmp.Diff(before, listing(t, filepath.Join(dir, "f"))+listing(t, filepath.Join(dir, "g"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What was there before and comes from where nobody looks is not removed when
// the command that moved it is undone.
func TestWhatWasElsewhereStays(t *testing.T) {
	dir, with := gitTree(t, `mkdir -p ign src; printf precious >ign/data; echo ign >.gitignore; printf a >src/a`)
	outside := filepath.Join(t.TempDir(), "o")
	shell(t, dir, "mkdir "+outside+"; printf p >"+outside+"/p")
	time.Sleep(60 * time.Millisecond) // what is younger than a tick of the clock is taken for the command's
	tree, blobs := newTree(t, dir, func(c *checkpoint.Config) { with(c); c.Now = time.Now })
	c := run(t, tree, dir, `mv ign moved; mv `+outside+` here; mkdir own; printf o >own/o`)
	_, problems, err := checkpoint.Restore(context.Background(), blobs, checkpoint.Back(c.Files))
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{"moved/data": "precious", "here/p": "p"} {
		if b, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(b) != content {
			t.Errorf("%s: %q %v", path, b, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "own")); !os.IsNotExist(err) {
		t.Error("what the command made is still there")
	}
	if all := strings.Join(problems, "\n"); !strings.Contains(all, "moved here from a place that is not recorded") {
		t.Errorf("problems: %s", all)
	}
}

// Rules that a command changes count for what comes after it; what was known
// stays known.
func TestIgnoreFilesThatChange(t *testing.T) {
	dir, with := gitTree(t, `mkdir src; printf a >src/a; printf x >.gitignore`)
	tree, blobs := newTree(t, dir, func(c *checkpoint.Config) { with(c); c.Now = time.Now })
	var all []effect.Change
	for _, script := range []string{`echo src >.gitignore; printf b >src/a`, `printf new >src/new; printf c >src/a`, `: >.gitignore; rm src/a`} {
		all = append(all, run(t, tree, dir, script).Files...)
	}
	if _, problems, err := checkpoint.Restore(context.Background(), blobs, checkpoint.Back(all)); err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "src", "a")); string(b) != "a" {
		t.Errorf("src/a is %q", b)
	}
}

func TestLimits(t *testing.T) {
	dir := tempTree(t)
	shell(t, dir, `printf %0100d 0 >large; printf s >small; mkdir d; for i in 1 2 3 4 5 6 7 8; do : >d/$i; done`)
	tree, _ := newTree(t, dir, func(c *checkpoint.Config) { c.Limits = checkpoint.Limits{File: 50} })
	c := run(t, tree, dir, `printf x >large; printf x >small`)
	if len(c.Missed) != 1 || !strings.Contains(c.Missed[0], "large: it is larger than") {
		t.Errorf("missed %q", c.Missed)
	}
	tree, _ = newTree(t, dir, func(c *checkpoint.Config) { c.Limits = checkpoint.Limits{Files: 5} })
	for range 2 {
		if _, err := tree.Begin(context.Background()); err == nil || !strings.Contains(err.Error(), "too many files") {
			t.Errorf("a tree with too many files: %v", err)
		}
	}
}

// An undo follows no link, and touches nothing behind one.
func TestRestoreFollowsNoLink(t *testing.T) {
	dir := tempTree(t)
	outside := filepath.Join(t.TempDir(), "outside")
	shell(t, dir, `mkdir d; printf a >d/a; mkdir `+outside+`; printf theirs >`+outside+`/a`)
	tree, blobs := newTree(t, dir)
	c := run(t, tree, dir, `printf b >d/a`)
	shell(t, dir, `rm -r d; ln -s `+outside+` d`)
	_, problems, err := checkpoint.Restore(context.Background(), blobs, checkpoint.Back(c.Files))
	if err != nil || len(problems) == 0 {
		t.Errorf("problems %q, %v", problems, err)
	}
	if b, _ := os.ReadFile(filepath.Join(outside, "a")); string(b) != "theirs" {
		t.Errorf("behind the link: %q", b)
	}
}

// BenchmarkNothingChanged is a command that changes nothing in a tree of 50,000
// files: both looks.
func BenchmarkNothingChanged(b *testing.B) {
	dir := tempTree(b)
	for i := range 2500 {
		d := filepath.Join(dir, fmt.Sprint(i%50), fmt.Sprint(i))
		if err := os.MkdirAll(d, 0o700); err != nil {
			b.Fatal(err)
		}
		for j := range 20 {
			if err := os.WriteFile(filepath.Join(d, fmt.Sprint(j)), []byte("x"), 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	tree, _ := newTree(b, dir, func(c *checkpoint.Config) { c.Now = func() time.Time { return time.Now().Add(time.Minute) } })
	if _, err := tree.Begin(context.Background()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m, err := tree.Begin(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if c, err := m.End(context.Background()); err != nil || len(c.Files) > 0 {
			b.Fatal(c, err)
		}
	}
}
