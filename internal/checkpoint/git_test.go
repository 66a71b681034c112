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
git add -A; git add -f build/tracked 2>/dev/null; git -c user.name=n -c user.email=e commit -qm x`)
	if _, err := os.Stat(filepath.Join(dir, ".git", "index")); err != nil {
		t.Fatal(err)
	}
	return dir, func(c *checkpoint.Config) {
		c.Git, c.Env = git, append(conf.PinnedEnv(), "PATH="+os.Getenv("PATH"))
		c.Now = func() time.Time { return time.Now().Add(time.Second) } // the files of the test are not new
	}
}

// What git has is not copied, and comes back from git; a folder that builds
// fill and git ignores is left alone, but for what git tracks.
func TestGitGivesBackWhatItHas(t *testing.T) {
	dir, with := gitTree(t, `mkdir -p src build; printf a >src/a; printf b >src/b; printf t >build/tracked; printf i >build/other; echo build >.gitignore`)
	before := listing(t, filepath.Join(dir, "src"))
	tree, blobs := newTree(t, dir, with)
	c := run(t, tree, dir, `rm src/a; printf B >src/b; printf T >build/tracked; printf I >build/other; printf n >build/new`)
	var names []string
	for _, f := range c.Files {
		rel, _ := filepath.Rel(dir, f.Path)
		names = append(names, rel)
	}
	if diff := cmp.Diff([]string{"build/tracked", "src/a", "src/b"}, names); diff != "" {
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
	if b, _ := os.ReadFile(filepath.Join(dir, "build", "tracked")); string(b) != "t" {
		t.Errorf("build/tracked is %q", b)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "build", "other")); string(b) != "I" {
		t.Errorf("build/other is %q", b)
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
	dir, with := gitTree(t, `mkdir -p build src; printf precious >build/data; echo build >.gitignore; printf a >src/a`)
	outside := filepath.Join(t.TempDir(), "o")
	shell(t, dir, "mkdir "+outside+"; printf p >"+outside+"/p")
	time.Sleep(60 * time.Millisecond) // what is younger than a tick of the clock is taken for the command's
	tree, blobs := newTree(t, dir, func(c *checkpoint.Config) { with(c); c.Now = time.Now })
	c := run(t, tree, dir, `mv build moved; mv `+outside+` here; mkdir own; printf o >own/o`)
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

// What git ignores comes back, too, but for what a build makes anew: by its name, or
// because it is a program.
func TestIgnoredFilesComeBack(t *testing.T) {
	dir, with := gitTree(t, `mkdir -p data/a/node_modules node_modules; printf p >data/a/precious.csv; printf m >data/a/node_modules/m; printf d >db.sqlite3; printf s >.env; chmod 600 .env
printf n >node_modules/n; printf o >x.o; printf '\177ELF1' >tool; printf '/data\n*.sqlite3\n.env\nnode_modules\n*.o\n/tool\n' >.gitignore`)
	kept := func() (out string) {
		for line := range strings.Lines(listing(t, dir)) {
			if !strings.HasPrefix(line, ".git") && !strings.Contains(line, "node_modules") && !strings.Contains(line, "x.o") && !strings.Contains(line, "tool") {
				out += line
			}
		}
		return out
	}
	before := kept()
	for _, script := range []string{
		`rm -rf data db.sqlite3 .env node_modules x.o tool`, `: >db.sqlite3; truncate -s 0 data/a/precious.csv; mv data gone`, `git clean -qfdX`,
		`printf x >data/a/precious.csv; printf new >data/new; rm .gitignore`, `cp .env data/a/precious.csv; mv -f data/a/precious.csv db.sqlite3`,
	} {
		tree, blobs := newTree(t, dir, func(c *checkpoint.Config) { with(c); c.Now = time.Now })
		c := run(t, tree, dir, script)
		if len(c.Missed) > 0 {
			t.Errorf("%s: missed %q", script, c.Missed)
		}
		for _, f := range c.Files {
			if strings.Contains(f.Path, "node_modules/n") || strings.HasSuffix(f.Path, "x.o") || strings.HasSuffix(f.Path, "tool") {
				t.Errorf("%s: %s is recorded", script, f.Path)
			}
		}
		_, problems, err := checkpoint.Restore(t.Context(), blobs, checkpoint.Back(c.Files))
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %q", script, err, problems)
		}
		if diff := cmp.Diff(before, kept()); diff != "" {
			t.Errorf("%s: %s", script, diff)
		}
	}
}

// What git ignores is bounded for itself: a folder beyond the bound is named and
// left alone for good, also when it has become smaller.
func TestIgnoredFilesAreBounded(t *testing.T) {
	dir, with := gitTree(t, `mkdir -p few many src; printf 1 >few/1; for i in 1 2 3 4 5 6; do printf $i >many/$i; done; printf s >src/s; printf '/few\n/many\n*.bin\n' >.gitignore; printf %060d 0 >large.bin; printf %060d 1 >other.bin`)
	tree, blobs := newTree(t, dir, with, func(c *checkpoint.Config) { c.Limits = checkpoint.Limits{Ignored: 9, Aside: 100} })
	m, err := tree.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(m.Left, filepath.Join(dir, "many")+", "+dir) || !strings.Contains(m.Left, ".bin") {
		t.Errorf("says %q", m.Left)
	}
	shell(t, dir, `rm -r few src; rm many/1 many/2 many/3 *.bin`)
	c, err := m.End(t.Context())
	if err != nil || len(c.Missed) != 1 || !strings.Contains(c.Missed[0], "git ignores it, and more than 100 bytes") {
		t.Errorf("missed %q, %v", c.Missed, err)
	}
	if m, err = tree.Begin(t.Context()); err != nil || m.Left != "" {
		t.Errorf("says again %q, %v", m.Left, err)
	}
	c = c.Then(run(t, tree, dir, `printf x >>many/4`))
	if _, _, err := checkpoint.Restore(t.Context(), blobs, checkpoint.Back(c.Files)); err != nil {
		t.Fatal(err)
	}
	for path, there := range map[string]bool{"few/1": true, "src/s": true, "many/1": false, "many/4": true, "many/5": true} {
		if _, err := os.Lstat(filepath.Join(dir, path)); (err == nil) != there {
			t.Errorf("%s is there: %v", path, err == nil)
		}
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

// BenchmarkIgnored is a command that changes nothing beside 50,000 packages' files and
// 2,000 of data, all ignored; First has the first look and copies, too.
func BenchmarkIgnored(b *testing.B) {
	dir, with := gitTree(b, `mkdir -p data src; printf '/data\nnode_modules\n' >.gitignore; printf s >src/s
for i in $(seq 500); do mkdir -p node_modules/$i; for j in $(seq 100); do : >node_modules/$i/$j; done; done
for i in $(seq 2000); do printf %010000d $i >data/$i; done`)
	step := func(tree *checkpoint.Tree) {
		m, err := tree.Begin(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if c, err := m.End(context.Background()); err != nil || len(c.Files) > 0 {
			b.Fatal(c, err)
		}
	}
	tree, _ := newTree(b, dir, with)
	b.Run("First", func(b *testing.B) {
		for b.Loop() {
			tree, _ = newTree(b, dir, with)
			step(tree)
		}
	})
	b.Run("Next", func(b *testing.B) {
		for b.Loop() {
			step(tree)
		}
	})
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
