package conf_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/git/conf"
)

// lay makes files; "->x" is a link to x, "/" a folder.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		switch to, link := strings.CutPrefix(text, "->"); {
		case err != nil:
		case link:
			err = os.Symlink(to, at)
		case text == "/":
			err = os.MkdirAll(at, 0o755)
		default:
			err = os.WriteFile(at, []byte(strings.ReplaceAll(text, "$", dir)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFind: links, bare repositories, broken .git files and what only looks like
// a repository, each from a folder in it. "up" is the repository around.
func TestFind(t *testing.T) {
	head := "ref: refs/heads/main\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		from  string
		want  conf.Repo // $ is the folder; Top alone where there is an error
		err   string    // "" is none
	}{
		{"plain", map[string]string{"in/.git/HEAD": head, "in/.git/objects": "/", "in/a/b": "/"}, "in/a/b", conf.Repo{Top: "$/in", GitDir: "$/in/.git", Common: "$/in/.git"}, ""},
		{"an empty folder .git", map[string]string{"in/.git": "/"}, "in", conf.Repo{Top: "$", GitDir: "$/.git", Common: "$/.git"}, ""},
		{"a .git without HEAD", map[string]string{"in/.git/objects": "/", "in/.git/config": "x"}, "in", conf.Repo{Top: "$", GitDir: "$/.git", Common: "$/.git"}, ""},
		{"HEAD is a link", map[string]string{"in/.git/HEAD": "->nowhere", "in/.git/refs": "/"}, "in", conf.Repo{Top: "$/in", GitDir: "$/in/.git", Common: "$/in/.git"}, ""},
		{"a link to a git folder", map[string]string{"g/HEAD": head, "g/objects": "/", "in/.git": "->../g"}, "in", conf.Repo{Top: "$/in"}, "is a link"},
		{"a link to nowhere", map[string]string{"in/.git": "->nowhere"}, "in", conf.Repo{Top: "$/in"}, "is a link"},
		{"a file", map[string]string{"g/HEAD": head, "g/objects": "/", "in/.git": "gitdir: ../g\n", "in/a": "/"}, "in/a", conf.Repo{Top: "$/in", GitDir: "$/g", Common: "$/g"}, ""},
		{"a file, absolute, CRLF", map[string]string{"in/.git": "gitdir: $/g\r\n"}, "in", conf.Repo{Top: "$/in", GitDir: "$/g", Common: "$/g"}, ""},
		{"an empty file", map[string]string{"in/.git": ""}, "in", conf.Repo{Top: "$/in"}, "does not say"},
		{"a file that names nothing", map[string]string{"in/.git": "gitdir: \n"}, "in", conf.Repo{Top: "$/in"}, "does not say"},
		{"a file without the blank", map[string]string{"in/.git": "gitdir:../g\n"}, "in", conf.Repo{Top: "$/in"}, "does not say"},
		{"a file that sets a variable", map[string]string{"in/.git": "GIT_DIR=../g\n"}, "in", conf.Repo{Top: "$/in"}, "does not say"},
		{"a file that goes on", map[string]string{"in/.git": "gitdir: ../g\n[core]\n"}, "in", conf.Repo{Top: "$/in", GitDir: "$/g\n[core]", Common: "$/g\n[core]"}, ""},
		{"a huge file", map[string]string{"in/.git": "gitdir: " + strings.Repeat("x", 2<<20)}, "in", conf.Repo{Top: "$/in"}, "too large"},
		{"the file of the file", map[string]string{"in/.git": "gitdir: ../f\n", "f": "gitdir: g\n"}, "in", conf.Repo{Top: "$/in", GitDir: "$/f", Common: "$/f"}, ""},
		{"a worktree", map[string]string{"in/.git": "gitdir: $/.git/worktrees/x\n", ".git/worktrees/x/commondir": "../..\n"}, "in", conf.Repo{Top: "$/in", GitDir: "$/.git/worktrees/x", Common: "$/.git"}, ""},
		{"an empty commondir", map[string]string{"in/.git": "gitdir: $/g\n", "g/commondir": "\n"}, "in", conf.Repo{Top: "$/in", GitDir: "$/g", Common: "$/g"}, "is empty"},
		{"bare", map[string]string{"in/HEAD": head, "in/objects": "/", "in/refs": "/", "in/hooks": "/"}, "in/hooks", conf.Repo{}, conf.ErrBare.Error()},
		{"half a bare one", map[string]string{"in/HEAD": head, "in/config": "x"}, "in", conf.Repo{}, conf.ErrBare.Error()},
		{"a bare one that holds .git", map[string]string{"in/HEAD": head, "in/config": "x", "in/.git/HEAD": head, "in/.git/refs": "/"}, "in", conf.Repo{Top: "$/in", GitDir: "$/in/.git", Common: "$/in/.git"}, ""},
		{"inside .git", map[string]string{".git/hooks": "/"}, ".git/hooks", conf.Repo{}, conf.ErrBare.Error()},
		{"a folder that is not there", nil, "no/such/folder", conf.Repo{Top: "$", GitDir: "$/.git", Common: "$/.git"}, ""},
		{"below a file", map[string]string{"in/f": "x"}, "in/f/g", conf.Repo{Top: "$", GitDir: "$/.git", Common: "$/.git"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			lay(t, dir, map[string]string{".git/HEAD": head, ".git/objects": "/", ".git/refs": "/"})
			lay(t, dir, c.files)
			for _, p := range []*string{&c.want.Top, &c.want.GitDir, &c.want.Common} {
				*p = strings.Replace(*p, "$", dir, 1)
			}
			got, err := conf.Find(filepath.Join(dir, c.from))
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %+v, %v; want %+v, %q", got, err, c.want, c.err)
			}
			if errors.Is(err, conf.ErrNone) || errors.Is(err, os.ErrNotExist) {
				t.Errorf("a repository is there: %v", err)
			}
			if root := conf.Root(filepath.Join(dir, c.from)); root != c.want.Top {
				t.Errorf("Root: %q", root)
			}
		})
	}
}

func TestFindNone(t *testing.T) {
	if _, err := conf.Find("/proc/self"); !errors.Is(err, conf.ErrNone) || conf.Root("/proc/self") != "" {
		t.Errorf("%v", err)
	}
}

// TestFindIsGits: where git itself finds a repository, Find finds the same.
func TestFindIsGits(t *testing.T) {
	dir := repo(t)
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	git(t, dir, "worktree", "add", "-q", "tree")
	git(t, dir, "init", "-q", "lib")
	git(t, filepath.Join(dir, "lib"), "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "one")
	git(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./lib", "deep/Mod")
	git(t, dir, "init", "-q", "--separate-git-dir", filepath.Join(dir, "apart.git"), "apart")
	for name, claimed := range map[string]bool{".": true, "tree": true, "lib": true, "deep/Mod": true, "deep": true, "apart": false} {
		at := filepath.Join(dir, name)
		got, err := conf.Find(at)
		want := strings.Fields(git(t, at, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"))
		if err != nil || got != (conf.Repo{Top: want[0], GitDir: want[1], Common: want[2]}) || got.Claimed() != claimed {
			t.Errorf("%s: %+v %v, claimed %v; want %q %v", name, got, err, got.Claimed(), want, claimed)
		}
		if ok, why := conf.Safe(at); !ok {
			t.Errorf("%s: %s", name, why)
		}
	}
}

// TestClaimedTraps: a .git file that names another's folder is not believed.
func TestClaimedTraps(t *testing.T) {
	dir := repo(t)
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	git(t, dir, "worktree", "add", "-q", "tree")
	git(t, dir, "init", "-q", "lib")
	git(t, filepath.Join(dir, "lib"), "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "one")
	git(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./lib", "mod")
	evil := t.TempDir()
	for _, to := range []string{dir + "/.git", dir + "/.git/worktrees/tree", dir + "/.git/modules/mod", dir + "/lib/.git", evil + "/own"} {
		lay(t, evil, map[string]string{
			".git":     "gitdir: " + to + "\n",
			"own/HEAD": "ref: refs/heads/main\n", "own/objects": "/", "own/gitdir": evil + "/.git\n", "own/commondir": dir + "/.git\n",
		})
		if r, err := conf.Find(evil); err != nil || r.Claimed() {
			t.Errorf("%s: %+v %v is believed", to, r, err)
		}
	}
}
