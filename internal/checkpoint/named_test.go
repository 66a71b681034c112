//go:build unix

package checkpoint_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/checkpoint"
	"github.com/adze-agent/adze/internal/policy"
)

// Commands that only change the paths they name are recorded by these, and by what
// appears beside and below them; the tree is not looked at.
func TestRecorderOfNamedPaths(t *testing.T) {
	edit := func(paths ...string) (as []policy.Action) {
		as = append(as, policy.Exec{Argv: []string{"x"}, Edits: true})
		for _, p := range paths {
			as = append(as, policy.Write{Path: p, Named: p})
		}
		return as
	}
	for _, x := range []struct {
		name    string
		script  string
		writes  []string
		changed []string
		tree    bool // it is looked at all the same
	}{
		{"a file", `sed s/one/1/ a/one >t; mv t a/one`, []string{"a/one"}, []string{"a/one"}, false},
		{"a temporary file that stays", `printf 1 >a/one; printf x >a/sedXyz`, []string{"a/one"}, []string{"a/one", "a/sedXyz"}, false},
		{"folders that are made", `mkdir -p n/e/w`, []string{"n/e/w"}, []string{"n", "n/e", "n/e/w"}, false},
		{"a file in a new folder", `mkdir n; cp a/one n`, []string{"n", "n"}, []string{"n", "n/one"}, false},
		{"a folder in the place of a file", `rm a/one; mkdir a/one; printf x >a/one/in`, []string{"a/one"}, []string{"a/one", "a/one/in"}, false},
		{"removed", `rm a/one`, []string{"a/one"}, []string{"a/one"}, false},
		{"nothing happens", `:`, []string{"a/none/x"}, nil, false},
		{"a folder", `printf x >a/b/new; printf 2 >a/b/two`, []string{"a/b"}, []string{"a/b/new", "a/b/two"}, true},
		{"a file with two names", `printf 1 >a/one`, []string{"a/one", "c/hard"}, []string{"a/one", "c/hard"}, true},
	} {
		dir := tempTree(t)
		shell(t, dir, seedTree)
		if !x.tree {
			shell(t, dir, `rm c/hard; printf one >c/hard`)
		}
		before := listing(t, dir)
		tree, blobs := newTree(t, dir)
		r := &checkpoint.Recorder{Trees: []*checkpoint.Tree{tree}, Blobs: blobs}
		var writes, want []string
		for _, w := range x.writes {
			writes = append(writes, filepath.Join(dir, w))
		}
		for _, w := range x.changed {
			want = append(want, filepath.Join(dir, w))
		}
		end, _ := r.Begin(context.Background(), edit(writes...))
		shell(t, dir, x.script)
		got := end(context.Background())
		var names []string
		for _, c := range checkpoint.Back(got.Files) {
			names = append(names, c.Path)
		}
		if d := cmp.Diff(want, names); d != "" || len(got.Missed) > 0 {
			t.Errorf("%s: %s %q", x.name, d, got.Missed)
		}
		if looked := checkpoint.Looked(tree); looked != x.tree {
			t.Errorf("%s: the tree was looked at: %v", x.name, looked)
		}
		if _, problems, err := checkpoint.Restore(context.Background(), blobs, checkpoint.Back(got.Files)); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %q", x.name, err, problems)
		}
		if d := cmp.Diff(before, listing(t, dir)); d != "" {
			t.Errorf("%s: restored: %s", x.name, d)
		}
	}
}

// What stands in a folder of version control, behind a link, or is too much is for
// the tree.
func TestRecorderOfPathsThatDoNotTell(t *testing.T) {
	dir := tempTree(t)
	shell(t, dir, seedTree+`; mkdir .git; printf x >.git/x; mkdir many; for i in $(seq 70); do : >many/$i; done; head -c 9000000 /dev/zero >huge`)
	tree, blobs := newTree(t, dir)
	for _, x := range [][]policy.Action{
		{policy.Write{Path: filepath.Join(dir, ".git/x")}},
		{policy.Write{Path: filepath.Join(dir, "a/one"), Named: filepath.Join(dir, "l")}},
		{policy.Write{Path: filepath.Join(dir, "l")}},
		{policy.Write{Path: filepath.Join(dir, "huge")}},
		func() (as []policy.Action) {
			list, _ := os.ReadDir(filepath.Join(dir, "many"))
			for _, e := range list {
				as = append(as, policy.Write{Path: filepath.Join(dir, "many", e.Name())})
			}
			return as
		}(),
	} {
		r := &checkpoint.Recorder{Trees: []*checkpoint.Tree{tree}, Blobs: blobs}
		end, _ := r.Begin(context.Background(), append([]policy.Action{policy.Exec{Argv: []string{"x"}, Edits: true}}, x...))
		shell(t, dir, `printf + >>empty`)
		got := end(context.Background())
		if len(got.Files) != 1 || got.Files[0].Path != filepath.Join(dir, "empty") {
			t.Errorf("%v: %+v", x[0], got)
		}
	}
}
