package checkpoint_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/checkpoint"
	"github.com/adze-agent/adze/internal/effect"
)

// memory keeps contents in a map.
type memory struct {
	mu   sync.Mutex
	have map[string][]byte
}

func (m *memory) Put(b []byte) (string, error) {
	sum := sha256.Sum256(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.have == nil {
		m.have = map[string][]byte{}
	}
	m.have[hex.EncodeToString(sum[:])] = bytes.Clone(b)
	return hex.EncodeToString(sum[:]), nil
}

// bytes is how much it has.
func (m *memory) bytes() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.have {
		n += len(b)
	}
	return n
}

func (m *memory) Get(hash string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.have[hash]
	if !ok {
		return nil, fmt.Errorf("%s: %w", hash, fs.ErrNotExist)
	}
	return b, nil
}

func newTree(t testing.TB, dir string, change ...func(*checkpoint.Config)) (*checkpoint.Tree, *memory) {
	t.Helper()
	scratch, err := os.CreateTemp(t.TempDir(), "scratch")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { scratch.Close() })
	m := &memory{}
	c := checkpoint.Config{Root: dir, Blobs: m, Scratch: func() (*os.File, error) { return scratch, nil }, Now: time.Now}
	for _, f := range change {
		f(&c)
	}
	return checkpoint.New(c), m
}

// listing is everything in a tree: kinds, modes, contents, links, and which
// names are one file.
func listing(t testing.TB, root string) string {
	t.Helper()
	var b strings.Builder
	first := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		fmt.Fprintf(&b, "%s %v", rel, fi.Mode())
		switch {
		case fi.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " -> %s", to)
		case fi.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", content)
			if id := inode(fi); id != "" {
				if first[id] != "" {
					fmt.Fprintf(&b, " = %s", first[id])
				} else {
					first[id] = rel
				}
			}
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func shell(t testing.TB, dir, script string) {
	t.Helper()
	c := exec.Command("bash", "-c", script)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C"}
	if out, err := c.CombinedOutput(); err != nil && c.ProcessState == nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// run is a command between two looks.
func run(t testing.TB, tree *checkpoint.Tree, dir, script string) effect.Changed {
	t.Helper()
	m, err := tree.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	shell(t, dir, script)
	c, err := m.End(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const seedTree = `mkdir -p a/b c ign; printf one >a/one; printf two >a/b/two; printf x >c/x.sh; chmod 755 c/x.sh
ln -s a/one l; ln a/one c/hard; printf secret >ign/keep; printf '/ign\n*.log\n' >.gitignore; : >empty; mkdir a/none; chmod 750 a/none; printf l >z.log`

// commands makes commands that change a tree of seedTree.
func commands() *rapid.Generator[string] {
	names := []string{"a", "a/one", "a/b", "a/b/two", "c", "c/x.sh", "c/hard", "l", "empty", "new", "a/new", "d", "d/e", "a/none", "d/f g", ".h"}
	name := rapid.SampledFrom(names)
	return rapid.Custom(func(rt *rapid.T) string {
		x, y := name.Draw(rt, "x"), name.Draw(rt, "y")
		return fmt.Sprintf(rapid.SampledFrom([]string{
			"printf %[3]d >'%[1]s'", "printf more >>'%[1]s'", "rm -rf '%[1]s'", "mv '%[1]s' '%[2]s'", "cp -a '%[1]s' '%[2]s'",
			"sed -i s/o/0/ '%[1]s'", "mkdir -p '%[1]s'", "chmod %[4]s '%[1]s'", "ln '%[1]s' '%[2]s'", "ln -s '%[1]s' '%[2]s'",
			"ln -sfn '%[1]s' '%[2]s'", "rmdir '%[1]s'", "touch '%[1]s'", "cat '%[2]s' >'%[1]s'", "mkfifo '%[1]s.p'", "rm -f '%[1]s' && printf same >'%[1]s'",
		}).Draw(rt, "op"), x, y, rapid.IntRange(0, 9).Draw(rt, "n"), rapid.SampledFrom([]string{"600", "755", "700", "2770"}).Draw(rt, "mode"))
	})
}

// TestMain has random sequences tried 30 times, where nobody says how often: CI asks
// for more, without the race detector.
func TestMain(m *testing.M) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "rapid.checks" })
	if !said {
		if err := flag.Set("rapid.checks", "30"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Whatever commands do to a tree, it can be put back, and the putting back can
// be undone. CI runs it more often.
func TestAnyCommandsCanBeUndone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := tempTree(t)
		defer clear(t, dir)
		shell(t, dir, seedTree)
		before := listing(t, dir)
		tree, blobs := newTree(t, dir)
		op := commands()
		var all []effect.Change
		for range rapid.IntRange(1, 5).Draw(rt, "commands") {
			script := strings.Join(rapid.SliceOfN(op, 1, 4).Draw(rt, "script"), "; ")
			c := run(t, tree, dir, script)
			if len(c.Missed) > 0 {
				rt.Fatalf("%s: missed %q", script, c.Missed)
			}
			all = append(all, c.Files...)
		}
		after := listing(t, dir)
		done, problems, err := checkpoint.Restore(context.Background(), blobs, checkpoint.Back(all))
		if err != nil || len(problems) > 0 {
			rt.Fatalf("restoring: %v %q", err, problems)
		}
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
			rt.Fatalf("not what it was:\n%s\nchanges: %+v", diff, all)
		}
		if strings.Contains(after, " prw") {
			return // pipes are not made again
		}
		if _, problems, err := checkpoint.Restore(context.Background(), blobs, checkpoint.Back(done)); err != nil || len(problems) > 0 {
			rt.Fatalf("undoing: %v %q", err, problems)
		}
		if diff := cmp.Diff(plainNames(after), plainNames(listing(t, dir))); diff != "" {
			rt.Fatalf("undone, but not what it was:\n%s", diff)
		}
	})
}

// Folders that are renamed, exchanged or replaced take everything below with them,
// although nothing happens in the folders below.
func TestFoldersThatMove(t *testing.T) {
	const deep = `mkdir -p a/x/y b/x/y; printf 1 >a/x/y/f; printf 2 >b/x/y/f; printf 3 >b/x/y/g`
	for _, script := range []string{
		`mv a t; mv b a; mv t b`, `mv a c; mkdir -p a/x/y; printf n >a/x/y/f`, `mv a/x b/z`, `rm -r a; mv b a`, `mv a c; ln -s c a`, `mv a c; : >a`, `mv a/x t; mv b/x a/x; mv t b/x`,
	} {
		dir := tempTree(t)
		shell(t, dir, deep)
		before := listing(t, dir)
		tree, blobs := newTree(t, dir, func(c *checkpoint.Config) { c.Now = func() time.Time { return time.Now().Add(time.Minute) } })
		run(t, tree, dir, `true`) // the tree is known, and nothing in it is new
		c := run(t, tree, dir, script)
		more := run(t, tree, dir, `printf later >>a/x/y/f; printf later >>c/x/y/f; printf later >>b/z/y/f`)
		if _, _, err := checkpoint.Restore(t.Context(), blobs, checkpoint.Back(append(c.Files, more.Files...))); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(before, "\n") { // what was made and was there before is "elsewhere" with this clock
			if !strings.Contains(listing(t, dir), line) {
				t.Errorf("%s: %q is not there again; changes %+v", script, line, c.Files)
			}
		}
	}
}

// A file that was moved or got another name, and one like it in its place: the
// name that is new is no file from elsewhere, however old the file is.
func TestNewNameOfWhatWasReplaced(t *testing.T) {
	for _, script := range []string{
		`ln c/x.sh a/new; sed -i s/nothing/0/ c/x.sh`,
		`ln c/x.sh a/new; cp -p c/x.sh c/y; mv c/y c/x.sh`,
		`mv c/x.sh a/new; cp -p a/new c/x.sh`,
	} {
		dir := tempTree(t)
		shell(t, dir, seedTree)
		before := listing(t, dir)
		tree, blobs := newTree(t, dir, func(c *checkpoint.Config) { c.Now = func() time.Time { return time.Now().Add(time.Minute) } })
		c := run(t, tree, dir, script)
		if _, problems, err := checkpoint.Restore(t.Context(), blobs, checkpoint.Back(c.Files)); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %q", script, err, problems)
		}
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
			t.Errorf("%s: %s", script, diff)
		}
	}
}

// plainNames leaves out which names are one file: an undo gives each its content.
func plainNames(listing string) string {
	var out []string
	for line := range strings.Lines(listing) {
		s, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func tempTree(t testing.TB) string {
	dir, err := os.MkdirTemp(t.TempDir(), "tree")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func clear(t testing.TB, dir string) {
	_ = exec.Command("chmod", "-R", "u+rwx", dir).Run()
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}

// What a command made that still runs when another one begins was made, and not
// moved here, however long ago that was.
func TestMadeBeforeTheNextCallBegan(t *testing.T) {
	dir, later := tempTree(t), time.Duration(0)
	tree, _ := newTree(t, dir, func(c *checkpoint.Config) { c.Now = func() time.Time { return time.Now().Add(later) } })
	if _, err := tree.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "mkdir new; echo x >new/f")
	later = time.Minute
	m, err := tree.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Others) != 2 || m.Others[0].Before.Kind != effect.Absent || m.Others[1].Before.Kind != effect.Absent {
		t.Errorf("%+v", m.Others)
	}
}
