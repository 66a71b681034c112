package worktree_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/worktree"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A rig is a repository of a person, and what adze keeps of it elsewhere.
type rig struct {
	testing.TB
	top, home, state string
	program          string
	env              []string // of the person's own git
}

func newRig(t testing.TB) *rig {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not here")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{TB: t, top: filepath.Join(base, "repo"), home: filepath.Join(base, "home"), state: filepath.Join(base, "state"), program: program}
	r.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"}
	for _, dir := range []string{r.top, r.home, r.state} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.put(filepath.Join(r.home, ".gitconfig"), "[user]\n\tname = Pat\n\temail = pat@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
	r.git(r.top, "init", "-q")
	return r
}

// begun is a rig whose repository has a commit.
func begun(t testing.TB) *rig {
	t.Helper()
	r := newRig(t)
	r.put(r.at("a.txt"), "a\n")
	r.put(r.at("dir/b.txt"), "b\n")
	r.put(r.at(".gitignore"), "*.o\nnode_modules/\n.env\n")
	r.commit(r.top, "begin")
	return r
}

func (r *rig) at(name string) string { return filepath.Join(r.top, filepath.FromSlash(name)) }

func (r *rig) put(path, text string) {
	r.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) text(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "none"
	}
	return string(b)
}

// try runs git as the person does.
func (r *rig) try(dir string, args ...string) (string, error) {
	c := exec.Command(r.program, args...)
	c.Dir, c.Env = dir, r.env
	out, err := c.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (r *rig) git(dir string, args ...string) string {
	r.Helper()
	out, err := r.try(dir, args...)
	if err != nil {
		r.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

func (r *rig) commit(dir, message string) string {
	r.Helper()
	r.git(dir, "add", "-A")
	r.git(dir, "commit", "-q", "--allow-empty", "-m", message)
	return r.git(dir, "rev-parse", "HEAD")
}

func (r *rig) config() worktree.Config {
	return worktree.Config{Dir: r.top, State: r.state, Git: r.program, Env: append(slices.Clone(r.env), conf.PinnedEnv()...)}
}

func (r *rig) open(edit ...func(*worktree.Config)) *worktree.Repo {
	r.Helper()
	c := r.config()
	for _, e := range edit {
		e(&c)
	}
	repo, err := worktree.Open(c)
	if err != nil {
		r.Fatal(err)
	}
	return repo
}

func (r *rig) make(repo *worktree.Repo, name string) *worktree.Tree {
	r.Helper()
	t, err := repo.Make(context.Background(), name, "a test")
	if err != nil {
		r.Fatalf("%v (%s)", err, hint.Of(err))
	}
	return t
}

func (r *rig) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// A worktree is made beside the checkout, which stays as it is, and goes without a trace
// when nothing was done in it.
func TestMakeAndRemove(t *testing.T) {
	r := begun(t)
	r.put(r.at("a.txt"), "of the person\n")
	r.put(r.at("new.txt"), "of the person\n")
	before := r.git(r.top, "status", "--porcelain")
	repo := r.open()
	tree := r.make(repo, "one")
	if tree.Path != r.at(".adze/worktrees/one") || tree.Branch != "adze/one" || !tree.Fresh || r.text(filepath.Join(tree.Path, "a.txt")) != "a\n" {
		t.Errorf("%+v", tree)
	}
	if got := r.git(tree.Path, "rev-parse", "--abbrev-ref", "HEAD"); got != "adze/one" {
		t.Error(got)
	}
	if now := r.git(r.top, "status", "--porcelain"); now != before {
		t.Errorf("the checkout has changed:\n%s", now)
	}
	if _, err := repo.Make(t.Context(), "one", ""); err == nil {
		t.Error("two work in one worktree")
	} else if used, ok := errors.AsType[*worktree.InUse](err); !ok || used.PID != os.Getpid() {
		t.Error(err)
	}
	tree.Close()
	again := r.make(repo, "one")
	if again.Fresh || again.Path != tree.Path {
		t.Errorf("%+v", again)
	}
	if _, err := again.Remove(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if left := r.git(r.top, "for-each-ref", "refs/heads/adze"); left != "" || r.exists(tree.Path) || r.exists(r.at(".git/worktrees")) {
		t.Errorf("it left %q", left)
	}
	if list, err := repo.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if now := r.git(r.top, "status", "--porcelain"); now != before {
		t.Errorf("the checkout has changed:\n%s", now)
	}
}

// Work that is nowhere else is never taken away, unless a person says so.
func TestWorkIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		work func(r *rig, tree string)
		says string
	}{
		"a changed file":     {func(r *rig, tree string) { r.put(filepath.Join(tree, "a.txt"), "x\n") }, "1 file not committed (a.txt)"},
		"a staged file":      {func(r *rig, tree string) { r.put(filepath.Join(tree, "s"), "x\n"); r.git(tree, "add", "s") }, "1 file not committed (s)"},
		"a new file":         {func(r *rig, tree string) { r.put(filepath.Join(tree, "deep/new"), "x\n") }, "1 file not committed (deep/new)"},
		"a removed file":     {func(r *rig, tree string) { r.git(tree, "rm", "-q", "a.txt") }, "1 file not committed (a.txt)"},
		"a commit":           {func(r *rig, tree string) { r.commit(tree, "work") }, "1 commit that no other branch and no remote has"},
		"a detached commit":  {func(r *rig, tree string) { r.git(tree, "checkout", "-q", "--detach"); r.commit(tree, "work") }, "1 commit that no other branch and no remote has"},
		"a branch left over": {func(r *rig, tree string) { r.commit(tree, "work"); r.git(tree, "checkout", "-q", "--detach", "main") }, "1 commit that no other branch and no remote has"},
		"a commit that was reset": {func(r *rig, tree string) {
			r.put(filepath.Join(tree, "new"), "x\n")
			r.commit(tree, "work")
			r.git(tree, "reset", "-q", "--hard", "HEAD~1")
		}, "1 commit that reset or checkout left"},
		"a detached commit left": {func(r *rig, tree string) {
			r.git(tree, "checkout", "-q", "--detach")
			r.put(filepath.Join(tree, "new"), "x\n")
			r.commit(tree, "work")
			r.git(tree, "checkout", "-q", "adze/one")
		}, "1 commit that reset or checkout left"},
		"a merge": {func(r *rig, tree string) {
			r.put(filepath.Join(tree, "a.txt"), "mine\n")
			r.commit(tree, "mine")
			r.put(r.at("a.txt"), "theirs\n")
			r.commit(r.top, "theirs")
			if _, err := r.try(tree, "merge", "main"); err == nil {
				r.Fatal("there is no conflict")
			}
		}, "an unfinished merge"},
	} {
		t.Run(name, func(t *testing.T) {
			r := begun(t)
			repo := r.open()
			tree := r.make(repo, "one")
			c.work(r, tree.Path)
			_, err := tree.Remove(t.Context(), false)
			kept, ok := errors.AsType[*worktree.Kept](err)
			if !ok || !strings.Contains(kept.Says(), c.says) {
				t.Fatalf("%v", err)
			}
			if _, err := repo.Remove(t.Context(), "one", false); err == nil {
				t.Error("it was taken away")
			}
			if !r.exists(tree.Path) {
				t.Fatal("it is gone")
			}
			w, err := repo.Remove(t.Context(), "one", true)
			if err != nil || w.Clean() {
				t.Errorf("%+v, %v", w, err)
			}
			if r.exists(tree.Path) || r.git(r.top, "for-each-ref", "refs/heads/adze") != "" {
				t.Error("it is still there")
			}
		})
	}
}

// What amend replaced, and what was committed again after reset --soft, is not missed.
func TestWorkReplaced(t *testing.T) {
	r := begun(t)
	repo := r.open()
	tree := r.make(repo, "one")
	r.commit(tree.Path, "first")
	r.git(tree.Path, "commit", "-q", "--amend", "--allow-empty", "-m", "better")
	r.commit(tree.Path, "second")
	r.git(tree.Path, "reset", "-q", "--soft", "HEAD~2")
	r.git(tree.Path, "commit", "-q", "--allow-empty", "-m", "both")
	r.git(r.top, "branch", "kept", "adze/one")
	if w, err := tree.Remove(t.Context(), false); err != nil {
		t.Errorf("%+v: %v", w, err)
	}
}

// A worktree that a person locked stays, whatever is said of its work.
func TestLockedStays(t *testing.T) {
	r := begun(t)
	repo := r.open()
	tree := r.make(repo, "one")
	r.git(r.top, "worktree", "lock", "--reason", "I need it", tree.Path)
	if _, err := tree.Remove(t.Context(), true); err == nil || !strings.Contains(err.Error(), "I need it") || !r.exists(tree.Path) {
		t.Errorf("%v", err)
	}
	r.git(r.top, "worktree", "unlock", tree.Path)
	if _, err := repo.Remove(t.Context(), "one", false); err != nil {
		t.Error(err)
	}
}

// Of two worktrees with the same commit, taken away at once, one stays.
func TestTwoAtOnce(t *testing.T) {
	r := begun(t)
	repo, beside := r.open(), r.open()
	one, two := r.make(repo, "one"), r.make(beside, "two")
	r.commit(one.Path, "work")
	id := r.git(one.Path, "rev-parse", "HEAD")
	r.git(two.Path, "merge", "-q", "--ff-only", strings.TrimSpace(id))
	var g sync.WaitGroup
	errs := make([]error, 2)
	g.Go(func() { _, errs[0] = one.Remove(t.Context(), false) })
	g.Go(func() { _, errs[1] = two.Remove(t.Context(), false) })
	g.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || r.git(r.top, "branch", "--contains", strings.TrimSpace(id)) == "" {
		t.Errorf("%v, %v", errs[0], errs[1])
	}
}

// Commits that another branch, a tag or a remote has are not lost with a worktree.
func TestWorkElsewhere(t *testing.T) {
	for name, share := range map[string]func(r *rig, tree string){
		"a branch": func(r *rig, tree string) { r.git(tree, "branch", "other") },
		"a tag":    func(r *rig, tree string) { r.git(tree, "tag", "v1") },
		"a merge":  func(r *rig, tree string) { r.git(r.top, "merge", "-q", "adze/one") },
		"a remote": func(r *rig, tree string) {
			far := filepath.Join(filepath.Dir(r.top), "far.git")
			r.git(r.top, "init", "-q", "--bare", far)
			r.git(r.top, "remote", "add", "origin", far)
			r.git(tree, "push", "-q", "-u", "origin", "adze/one")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := begun(t)
			tree := r.make(r.open(), "one")
			r.put(filepath.Join(tree.Path, "a.txt"), "x\n")
			id := r.commit(tree.Path, "work")
			share(r, tree.Path)
			if _, err := tree.Remove(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			r.git(r.top, "cat-file", "-e", id)
			if strings.Contains(r.text(r.at(".git/config")), "adze/one") {
				t.Error("the settings still name the branch")
			}
		})
	}
}

// What is not right is refused with words that say what to do.
func TestRefused(t *testing.T) {
	r, full := newRig(t), begun(t)
	bare := filepath.Join(filepath.Dir(r.top), "bare.git")
	r.git(r.top, "init", "-q", "--bare", bare)
	for name, c := range map[string]struct {
		edit func(*worktree.Config)
		name string
		want string
	}{
		"no repository":     {func(c *worktree.Config) { c.Dir = r.home }, "one", "no git repository"},
		"a bare one":        {func(c *worktree.Config) { c.Dir = bare }, "one", "bare repository"},
		"no such base":      {func(c *worktree.Config) { c.Dir, c.Base = full.top, "nowhere" }, "three", "no commit here"},
		"no commit":         {nil, "one", "no commit yet"},
		"a home folder":     {func(c *worktree.Config) { c.State = r.at(".adze") }, "one", "adze's own folder"},
		"no git":            {func(c *worktree.Config) { c.Git = "" }, "one", "git was not found"},
		"a name with a way": {nil, "../x", "cannot be called"},
		"a name for git":    {nil, ".git", "cannot be called"},
		"a name of a lock":  {nil, "a.lock", "cannot be called"},
	} {
		t.Run(name, func(t *testing.T) {
			conf := r.config()
			if c.edit != nil {
				c.edit(&conf)
			}
			repo, err := worktree.Open(conf)
			if err == nil {
				_, err = repo.Make(t.Context(), c.name, "")
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || hint.Of(err) == "" {
				t.Errorf("%v (%s)", err, hint.Of(err))
			}
		})
	}
}

// What is there already is nobody's but the person's.
func TestInTheWay(t *testing.T) {
	for name, c := range map[string]struct {
		prepare    func(r *rig)
		name, want string
	}{
		"a folder that is there":     {func(r *rig) {}, "mine", "adze did not make it"},
		"a branch that is there":     {func(r *rig) { r.git(r.top, "branch", "adze/two") }, "two", "a branch adze/two"},
		"a branch in the way":        {func(r *rig) { r.git(r.top, "branch", "adze") }, "two", "is in the way"},
		"a filter of the repository": {func(r *rig) { r.git(r.top, "config", "filter.x.smudge", "touch ran") }, "four", "git is not run here"},
		"a link": {func(r *rig) {
			r.put(r.at("elsewhere/worktrees/mine/keep"), "x")
			if err := errors.Join(os.RemoveAll(r.at(".adze")), os.Symlink("elsewhere", r.at(".adze"))); err != nil {
				r.Fatal(err)
			}
		}, "five", "is no folder"},
	} {
		t.Run(name, func(t *testing.T) {
			r := begun(t)
			r.put(r.at(".adze/worktrees/mine/keep"), "x")
			c.prepare(r)
			repo, err := worktree.Open(r.config())
			if err == nil {
				_, err = repo.Make(t.Context(), c.name, "")
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || hint.Of(err) == "" {
				t.Errorf("%v (%s)", err, hint.Of(err))
			}
			if list, err := os.ReadDir(r.at(".adze/worktrees")); err != nil || len(list) > 2 || r.text(r.at(".adze/worktrees/mine/keep")) != "x" {
				t.Errorf("%v, %v", list, err)
			}
			if list, err := os.ReadDir(filepath.Join(r.state, "worktrees")); err == nil && len(list) > 0 {
				if left, err := os.ReadDir(filepath.Join(r.state, "worktrees", list[0].Name())); err != nil || len(left) > 0 {
					t.Errorf("a record is left: %v, %v", left, err)
				}
			}
		})
	}
}

// A worktree begins where the settings say.
func TestBase(t *testing.T) {
	r := begun(t)
	first := r.git(r.top, "rev-parse", "HEAD")
	r.git(r.top, "branch", "old")
	far := filepath.Join(filepath.Dir(r.top), "far.git")
	r.git(r.top, "clone", "-q", "--bare", r.top, far)
	r.git(r.top, "remote", "add", "origin", far)
	r.git(r.top, "fetch", "-q")
	r.git(r.top, "remote", "set-head", "origin", "main")
	head := r.commit(r.top, "more")
	config := r.text(r.at(".git/config"))
	for base, want := range map[string]string{"": head, "head": head, "old": first, "fresh": first, "origin/main": first, first: first} {
		tree := r.make(r.open(func(c *worktree.Config) { c.Base = base }), "")
		if got := r.git(tree.Path, "rev-parse", "HEAD"); got != want {
			t.Errorf("%q: %s", base, got)
		}
		if _, err := tree.Remove(t.Context(), false); err != nil {
			t.Error(err)
		}
	}
	if r.text(r.at(".git/config")) != config {
		t.Error("the settings of the repository have changed")
	}
}

// What is not committed goes along as a commit that no other branch has, and that alone
// keeps no worktree. The checkout and its index stay as they are.
func TestUncommitted(t *testing.T) {
	r := begun(t)
	r.put(r.at("a.txt"), "changed\n")
	r.put(r.at("staged.txt"), "staged\n")
	r.git(r.top, "add", "staged.txt")
	r.put(r.at("staged.txt"), "staged, and changed\n")
	r.put(r.at("new.txt"), "new\n")
	r.put(r.at("x.o"), "ignored\n")
	r.git(r.top, "rm", "-q", "dir/b.txt")
	before, index := r.git(r.top, "status", "--porcelain"), r.text(r.at(".git/index"))
	repo := r.open(func(c *worktree.Config) { c.Uncommitted = true })
	tree := r.make(repo, "one")
	for name, want := range map[string]string{"a.txt": "changed\n", "staged.txt": "staged, and changed\n", "new.txt": "new\n", "x.o": "none", "dir/b.txt": "none"} {
		if got := r.text(filepath.Join(tree.Path, name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := r.git(tree.Path, "status", "--porcelain"); got != "" {
		t.Errorf("it is not clean: %s", got)
	}
	if r.git(r.top, "status", "--porcelain") != before || r.text(r.at(".git/index")) != index {
		t.Error("the checkout has changed")
	}
	if _, err := tree.Remove(t.Context(), false); err != nil {
		t.Errorf("%v", err)
	}
	none := begun(t)
	tree = none.make(none.open(func(c *worktree.Config) { c.Uncommitted = true }), "one")
	if none.git(tree.Path, "rev-parse", "HEAD") != none.git(none.top, "rev-parse", "HEAD") {
		t.Error("nothing was carried along, in a commit")
	}
	tree.Close()
	none.put(none.at("a.txt"), "mine\n")
	if _, err := none.open(func(c *worktree.Config) { c.Uncommitted, c.Base = true, none.commit(none.top, "more")+"~" }).Make(t.Context(), "two", ""); err == nil || !strings.Contains(err.Error(), "another commit") {
		t.Error(err)
	}
}

// Links, ignored files, and a part of the folders.
func TestFill(t *testing.T) {
	r := begun(t)
	r.put(r.at("packages/app/main.js"), "app\n")
	r.put(r.at("packages/other/main.js"), "other\n")
	r.put(r.at("packages/readme"), "of all\n")
	r.put(r.at(".worktreeinclude"), ".env\n/secret*\nmain.js\n")
	r.commit(r.top, "more")
	r.put(r.at("node_modules/x/index.js"), "x\n")
	r.put(r.at(".env"), "A=1\n")
	r.put(r.at("secret.txt"), "git does not ignore this\n")
	r.put(r.at("local.o"), "for trust\n")
	r.put(r.at("untracked/x"), "x\n")
	config := r.text(r.at(".git/config"))
	repo := r.open(func(c *worktree.Config) {
		c.Links, c.Sparse, c.Bring = []string{"node_modules", "nothing", "../up", "untracked"}, []string{"packages/app", "none"}, []string{"local.o", "a.txt", "gone.o"}
	})
	tree := r.make(repo, "one")
	for name, want := range map[string]string{
		"node_modules/x/index.js": "x\n", ".env": "A=1\n", "local.o": "for trust\n", "secret.txt": "none", "a.txt": "a\n", "dir/b.txt": "none",
		"packages/app/main.js": "app\n", "packages/other/main.js": "none", "packages/readme": "of all\n", "untracked/x": "none",
	} {
		if got := r.text(filepath.Join(tree.Path, name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := r.git(tree.Path, "status", "--porcelain"); got != "" {
		t.Errorf("it is not clean: %s", got)
	}
	if r.text(r.at(".git/config")) != config {
		t.Error("the settings of the repository have changed")
	}
	notes := strings.Join(tree.Notes, "\n")
	if strings.Count(notes, "\n") != 1 || !strings.Contains(notes, "../up is not linked") || !strings.Contains(notes, "untracked is not linked") {
		t.Errorf("%q", notes)
	}
	r.put(filepath.Join(tree.Path, "packages/app/main.js"), "better\n")
	r.commit(tree.Path, "work")
	if got := r.git(tree.Path, "show", "--stat", "--format=", "HEAD"); !strings.Contains(got, "1 file changed") {
		t.Errorf("the commit has more than the work: %s", got)
	}
	if _, err := tree.Remove(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if r.text(r.at("node_modules/x/index.js")) != "x\n" || r.text(r.at(".env")) != "A=1\n" {
		t.Error("what the worktree had a link to is gone")
	}
}

// Submodules are there without a remote, and their commits are work, too.
func TestSubmodules(t *testing.T) {
	r := begun(t)
	base := filepath.Dir(r.top)
	lib, inner := filepath.Join(base, "lib"), filepath.Join(base, "inner")
	for _, dir := range []string{inner, lib} {
		r.git(base, "init", "-q", dir)
		r.put(filepath.Join(dir, "file"), dir+"\n")
		r.commit(dir, "begin")
	}
	r.git(lib, "submodule", "--quiet", "add", inner, "inner")
	r.commit(lib, "inner")
	r.git(r.top, "submodule", "--quiet", "add", lib, "deep/lib")
	r.git(r.top, "submodule", "--quiet", "update", "--init", "--recursive")
	r.commit(r.top, "lib")
	for _, dir := range []string{lib, inner} { // nothing is fetched
		if err := os.Rename(dir, dir+" away"); err != nil {
			t.Fatal(err)
		}
	}
	config, status := r.text(r.at(".git/config")), r.git(r.top, "status", "--porcelain")
	repo := r.open()
	tree := r.make(repo, "one")
	sub := filepath.Join(tree.Path, "deep", "lib")
	if r.text(filepath.Join(sub, "file")) != lib+"\n" || r.text(filepath.Join(sub, "inner", "file")) != inner+"\n" {
		t.Error("a submodule is not there")
	}
	if got := r.git(sub, "remote", "get-url", "origin"); got != lib {
		t.Errorf("its remote is %s", got)
	}
	if r.text(r.at(".git/config")) != config || r.git(r.top, "status", "--porcelain") != status || r.git(tree.Path, "status", "--porcelain") != "" {
		t.Error("the repository has changed")
	}
	tree.Close()
	if _, err := repo.Remove(t.Context(), "one", false); err != nil {
		t.Fatal(err)
	}
	tree = r.make(repo, "two")
	sub = filepath.Join(tree.Path, "deep", "lib")
	r.put(filepath.Join(sub, "new"), "x\n")
	if _, err := tree.Remove(t.Context(), false); err == nil || !strings.Contains(err.Error(), "deep/lib") {
		t.Errorf("a file of a submodule: %v", err)
	}
	r.commit(sub, "in the submodule")
	r.git(tree.Path, "submodule", "--quiet", "update", "--checkout", "--force")
	if _, err := repo.Remove(t.Context(), "two", false); err != nil {
		t.Errorf("a commit that somebody left: %v", err)
	}
	tree = r.make(repo, "three")
	sub = filepath.Join(tree.Path, "deep", "lib")
	r.git(sub, "checkout", "-q", "-b", "work")
	r.commit(sub, "in the submodule")
	r.git(sub, "checkout", "-q", "--detach", "origin/HEAD")
	if _, err := tree.Remove(t.Context(), false); err == nil || !strings.Contains(err.Error(), "1 commit") {
		t.Errorf("a commit of a submodule: %v", err)
	}
}
