package worktree_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/git/worktree"
	"github.com/adze-agent/adze/internal/text/hint"
)

// Work is brought over as a whole, and what it began with and was not committed is left out.
func TestMerge(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(r *rig) // before the worktree is made
		edit    func(*worktree.Config)
		work    func(r *rig, tree string)
		merge   worktree.Merge
		files   map[string]string // of the checkout, in the end
		log     string            // subjects of its commits, the newest first
		commits int
	}{
		"as it is": {
			work:  func(r *rig, tree string) { r.put(filepath.Join(tree, "a.txt"), "x\n"); r.commit(tree, "work") },
			files: map[string]string{"a.txt": "x\n"}, log: "work begin", commits: 1,
		},
		"nothing": {log: "begin"},
		"on what is newer": {
			work: func(r *rig, tree string) {
				r.put(filepath.Join(tree, "a.txt"), "x\n")
				r.commit(tree, "work")
				r.put(r.at("new"), "new\n")
				r.commit(r.top, "newer")
			},
			files: map[string]string{"a.txt": "x\n", "new": "new\n"}, log: "work newer begin", commits: 1,
		},
		"as a merge commit": {
			work: func(r *rig, tree string) {
				r.put(filepath.Join(tree, "a.txt"), "x\n")
				r.commit(tree, "work")
				r.put(r.at("new"), "new\n")
				r.commit(r.top, "newer")
			},
			merge: worktree.Merge{Commit: true},
			files: map[string]string{"a.txt": "x\n", "new": "new\n"}, log: "Merge work newer begin", commits: 1,
		},
		"beside what is not committed": {
			work: func(r *rig, tree string) {
				r.put(filepath.Join(tree, "a.txt"), "x\n")
				r.commit(tree, "work")
				r.put(r.at("dir/b.txt"), "of the person\n")
				r.put(r.at("staged"), "of the person\n")
				r.git(r.top, "add", "staged")
				r.put(r.at("new"), "of the person\n")
			},
			files: map[string]string{"a.txt": "x\n", "dir/b.txt": "of the person\n", "new": "of the person\n", "staged": "of the person\n"}, log: "work begin", commits: 1,
		},
		"without what was carried along": {
			prepare: func(r *rig) { r.put(r.at("dir/b.txt"), "of the person\n") },
			edit:    func(c *worktree.Config) { c.Uncommitted = true },
			work:    func(r *rig, tree string) { r.put(filepath.Join(tree, "a.txt"), "x\n"); r.commit(tree, "work") },
			files:   map[string]string{"a.txt": "x\n", "dir/b.txt": "of the person\n"}, log: "work begin", commits: 1,
		},
		"without what it began on": {
			prepare: func(r *rig) {
				r.git(r.top, "checkout", "-q", "-b", "other")
				r.put(r.at("other"), "other\n")
				r.commit(r.top, "other")
				r.git(r.top, "checkout", "-q", "main")
			},
			edit:  func(c *worktree.Config) { c.Base = "other" },
			work:  func(r *rig, tree string) { r.put(filepath.Join(tree, "a.txt"), "x\n"); r.commit(tree, "work") },
			files: map[string]string{"a.txt": "x\n", "other": "none"}, log: "work begin", commits: 1,
		},
		"with a merge that was resolved": {
			work: func(r *rig, tree string) {
				r.put(filepath.Join(tree, "a.txt"), "x\n")
				r.commit(tree, "work")
				r.put(r.at("a.txt"), "y\n")
				r.commit(r.top, "newer")
				_, _ = r.try(tree, "merge", "main")
				r.put(filepath.Join(tree, "a.txt"), "x and y\n")
				r.commit(tree, "resolved")
			},
			files: map[string]string{"a.txt": "x and y\n"}, log: "resolved newer work begin", commits: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := begun(t)
			if c.prepare != nil {
				c.prepare(r)
			}
			repo := r.open(func(w *worktree.Config) {
				if c.edit != nil {
					c.edit(w)
				}
			})
			tree := r.make(repo, "one")
			tree.Close()
			if c.work != nil {
				c.work(r, tree.Path)
			}
			status := r.git(r.top, "status", "--porcelain")
			m, err := repo.Merge(t.Context(), "one", c.merge)
			if err != nil {
				t.Fatalf("%v (%s)", err, hint.Of(err))
			}
			if m.Commits != c.commits || m.Into != "main" {
				t.Errorf("%+v", m)
			}
			for file, want := range c.files {
				if got := r.text(r.at(file)); got != want {
					t.Errorf("%s: %q", file, got)
				}
			}
			log := strings.ReplaceAll(r.git(r.top, "log", "--topo-order", "--format=%f"), "\n", " ")
			if got := strings.ReplaceAll(log, "Merge-adze-one", "Merge"); got != c.log {
				t.Errorf("the log is %q", got)
			}
			if got := r.git(r.top, "status", "--porcelain"); got != status {
				t.Errorf("the checkout has %q, and had %q", got, status)
			}
			if _, err := repo.Remove(t.Context(), "one", false); err != nil {
				t.Error(err)
			}
		})
	}
}

// What cannot be merged is refused with names and a way on, and nothing has changed.
func TestMergeRefused(t *testing.T) {
	work := func(r *rig, tree string) { r.put(filepath.Join(tree, "a.txt"), "x\n"); r.commit(tree, "work") }
	for name, c := range map[string]struct {
		work func(r *rig, tree string)
		want string
	}{
		"a conflict": {func(r *rig, tree string) {
			work(r, tree)
			r.put(filepath.Join(tree, "dir/b.txt"), "x\n")
			r.commit(tree, "more")
			r.put(r.at("dir/b.txt"), "y\n")
			r.commit(r.top, "newer")
		}, "conflict in dir/b.txt"},
		"a changed file": {func(r *rig, tree string) { work(r, tree); r.put(r.at("a.txt"), "of the person\n") }, "not committed: a.txt"},
		"a staged file":  {func(r *rig, tree string) { work(r, tree); r.put(r.at("a.txt"), "p\n"); r.git(r.top, "add", "-A") }, "not committed: a.txt"},
		"a removed file": {func(r *rig, tree string) { work(r, tree); _ = os.Remove(r.at("a.txt")) }, "not committed: a.txt"},
		"a file that git is told not to look at": {func(r *rig, tree string) {
			work(r, tree)
			r.git(r.top, "update-index", "--assume-unchanged", "a.txt")
			r.put(r.at("a.txt"), "of the person\n")
		}, "not committed: a.txt"},
		"a new file": {func(r *rig, tree string) {
			r.put(filepath.Join(tree, "new"), "x\n")
			r.commit(tree, "work")
			r.put(r.at("new"), "of the person\n")
		}, "not committed: new"},
		"a file that git ignores": {func(r *rig, tree string) {
			r.put(filepath.Join(tree, ".env"), "x\n")
			r.git(tree, "add", "-f", ".env")
			r.commit(tree, "work")
			r.put(r.at(".env"), "of the person\n")
		}, "not committed: .env"},
		"a file where a folder is to be": {func(r *rig, tree string) {
			r.put(filepath.Join(tree, "x.o/y"), "x\n")
			r.git(tree, "add", "-f", "x.o/y")
			r.commit(tree, "work")
			r.put(r.at("x.o"), "of the person\n")
		}, "not committed: x.o/y"},
		"a folder where a file is to be": {func(r *rig, tree string) {
			r.put(filepath.Join(tree, "new"), "x\n")
			r.commit(tree, "work")
			r.put(r.at("new/y"), "of the person\n")
		}, "not committed: new"},
		"work that is not committed": {func(r *rig, tree string) { work(r, tree); r.put(filepath.Join(tree, "new"), "x\n") }, "has work that is not committed: new"},
		"another branch":             {func(r *rig, tree string) { r.git(tree, "checkout", "-q", "-b", "own"); work(r, tree) }, "is not on its branch adze/one"},
		"no branch":                  {func(r *rig, tree string) { work(r, tree); r.git(r.top, "checkout", "-q", "--detach") }, "is on no branch"},
		"a merge that is not done": {func(r *rig, tree string) {
			work(r, tree)
			r.git(r.top, "branch", "x")
			r.put(r.at("new"), "x\n")
			r.commit(r.top, "newer")
			r.git(r.top, "merge", "-q", "--no-commit", "--no-ff", "-s", "ours", r.git(r.top, "commit-tree", "-p", "x", "-m", "theirs", "x^{tree}"))
		}, "in the middle of a merge"},
		"a red check": {work, "the check failed on one: red"},
	} {
		t.Run(name, func(t *testing.T) {
			r := begun(t)
			repo := r.open()
			tree := r.make(repo, "one")
			tree.Close()
			c.work(r, tree.Path)
			before := r.picture()
			_, err := repo.Merge(t.Context(), "one", worktree.Merge{Check: func(_ context.Context, dir string) error {
				if dir != tree.Path || r.text(filepath.Join(dir, "a.txt")) != "x\n" {
					t.Errorf("the check looks at %s", dir)
				}
				return errors.New("red")
			}})
			if err == nil || !strings.Contains(err.Error(), c.want) || hint.Of(err) == "" {
				t.Errorf("%v (%s)", err, hint.Of(err))
			}
			if got := r.picture(); got != before {
				t.Errorf("the checkout has changed:\n%s\n%s", before, got)
			}
			if list, err := repo.List(t.Context()); err != nil || len(list) != 1 || list[0].State != worktree.Ready || list[0].Busy != "" {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

// Wherever git was ended while it moved the checkout, the checkout is as it was afterwards, and
// a file that is neither as before nor as after is left alone.
func TestMoveIsSettled(t *testing.T) {
	r := begun(t)
	r.put(r.at("gone"), "gone\n")
	r.put(r.at("same"), "same\n")
	r.commit(r.top, "more")
	repo := r.open()
	tree := r.make(repo, "one")
	tree.Close()
	r.put(filepath.Join(tree.Path, "a.txt"), "x\n")
	r.put(filepath.Join(tree.Path, "deep/new"), "x\n")
	r.git(tree.Path, "rm", "-q", "gone")
	id := r.commit(tree.Path, "work")
	head := r.git(r.top, "rev-parse", "HEAD")
	r.put(r.at("same"), "of the person\n")
	r.git(r.top, "add", "same")
	before := r.git(r.top, "status", "--porcelain")
	files, err := filepath.Glob(filepath.Join(r.state, "worktrees", "*", "one", "worktree.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	half := func() {
		text := strings.Replace(r.text(files[0]), `"ready": true`, `"ready": true, "moving": {"top": "`+r.top+`", "git": "`+r.at(".git")+`", "old": "`+head+`", "new": "`+id+`"}`, 1)
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, do := range map[string]func(){
		"before anything": func() {},
		"a text":          func() { r.put(r.at("a.txt"), "x\n") },
		"a new file":      func() { r.put(r.at("deep/new"), "x\n") },
		"a removed file":  func() { _ = os.Remove(r.at("gone")) },
		"between":         func() { _ = os.Remove(r.at("a.txt")) },
		"all": func() {
			r.git(r.top, "checkout", "-q", id, "--", "a.txt", "deep/new")
			r.git(r.top, "rm", "-q", "gone")
		},
	} {
		half()
		do()
		if list, err := repo.List(t.Context()); err != nil || list[0].State != worktree.Unfinished {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
		if _, err := repo.Remove(t.Context(), "one", false); err == nil {
			t.Fatalf("%s: it was removed", name)
		}
		if now := r.git(r.top, "status", "--porcelain"); now != before || r.text(r.at("same")) != "of the person\n" {
			t.Errorf("%s: the checkout has %q, and had %q", name, now, before)
		}
		if list, err := repo.List(t.Context()); err != nil || list[0].State != worktree.Ready {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
	half()
	r.put(r.at("a.txt"), "of the person\n")
	if _, err := repo.Merge(t.Context(), "one", worktree.Merge{}); err == nil || !strings.Contains(err.Error(), "neither as before nor as after: a.txt") || hint.Of(err) == "" {
		t.Error(err)
	}
	r.git(r.top, "restore", "a.txt")
	if _, err := repo.Merge(t.Context(), "one", worktree.Merge{}); err != nil {
		t.Error(err)
	}
	if r.git(r.top, "rev-parse", "HEAD") != id || r.text(r.at("same")) != "of the person\n" || r.text(r.at("deep/new")) != "x\n" {
		t.Error("it is not merged")
	}
}

// The commits of a submodule come along.
func TestMergeSubmodule(t *testing.T) {
	r := begun(t)
	lib := filepath.Join(filepath.Dir(r.top), "lib")
	r.git(r.home, "init", "-q", lib)
	r.put(filepath.Join(lib, "file"), "x\n")
	r.commit(lib, "begin")
	r.git(r.top, "submodule", "--quiet", "add", lib, "deep/lib")
	r.commit(r.top, "lib")
	repo := r.open()
	tree := r.make(repo, "one")
	tree.Close()
	in := filepath.Join(tree.Path, "deep/lib")
	r.put(filepath.Join(in, "file"), "y\n")
	id := r.commit(in, "in the submodule")
	r.commit(tree.Path, "work")
	m, err := repo.Merge(t.Context(), "one", worktree.Merge{})
	if err != nil || len(m.Notes) != 1 {
		t.Fatalf("%+v, %v (%s)", m, err, hint.Of(err))
	}
	if _, err := repo.Remove(t.Context(), "one", false); err != nil {
		t.Error(err)
	}
	r.git(r.top, "submodule", "--quiet", "update")
	if got := r.git(r.at("deep/lib"), "rev-parse", "HEAD"); got != id || r.text(r.at("deep/lib/file")) != "y\n" {
		t.Errorf("the submodule is at %s", got)
	}
}
