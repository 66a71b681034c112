package conf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func lay(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPlainConfig: only settings that steer nothing but git itself are plain.
func TestPlainConfig(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"[core]\n\tbare = false\n\tfilemode\n": "",
		"[remote \"origin\"]\n\turl = https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n": "",
		"[user]\n\tname = x\n\temail = x@x\n[commit]\n\tgpgsign = false\n": "",
		"[submodule \"a\"]\n\tactive = true\n\turl = ../a\n":               "",
		"[core]\n\tfsmonitor = ./x\n":                                      "core.fsmonitor",
		"[core]\n\tfsmonitor\n":                                            "core.fsmonitor",
		"[Core]\n\tHooksPath = x\n":                                        "core.hookspath",
		"[core]\n\tworktree = ..\n":                                        "core.worktree",
		"[include]\n\tpath = x\n":                                          "include.path",
		"[includeIf \"gitdir:/\"]\n\tpath = x\n":                           "includeif",
		"[alias]\n\tst = !x\n":                                             "alias.st",
		"[filter \"x\"]\n\tclean = x\n":                                    "filter.x.clean",
		"[diff \"x\"]\n\ttextconv = x\n":                                   "diff.x.textconv",
		"[merge \"x\"]\n\tdriver = x\n":                                    "merge.x.driver",
		"[submodule \"a\"]\n\tupdate = !x\n":                               "submodule.a.update",
		"[remote \"o\"]\n\turl = ext::sh -c x\n":                           "remote.o.url",
		"[remote \"o\"]\n\turl = -x\n":                                     "remote.o.url",
		"[remote \"o\"]\n\tuploadpack = x\n":                               "remote.o.uploadpack",
		"[remote \"o\"]\n\tvcs = x\n":                                      "remote.o.vcs",
		"[commit]\n\tgpgsign = true\n":                                     "commit.gpgsign",
		"[gpg]\n\tprogram = x\n":                                           "gpg.program",
		"[color]\n\tpager = x\n":                                           "color.pager",
		"[url \"x\"]\n\tinsteadOf = y\n":                                   "url.x",
		"[core]\n\tbare = false\nescaped":                                  "core.escaped",
		"escaped":                                                          "cannot be read",
		"[core\n":                                                          "cannot be read",
	} {
		dir := t.TempDir()
		lay(t, dir, map[string]string{"config": text})
		got := Plain(Steer{filepath.Join(dir, "config"), Config}, nil)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	root := t.TempDir()
	at := func(p string) string { return filepath.Join(root, p) }
	lay(t, root, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n",
		".git/worktrees/w/commondir": "../..\n", ".git/worktrees/w/gitdir": at("w/.git") + "\n", "w/.git": "gitdir: " + at(".git/worktrees/w") + "\n",
		".git/worktrees/bad/commondir": "../../../evil\n", ".git/worktrees/bad/gitdir": at("w/.git") + "\n", ".git/worktrees/gone/gitdir": at("gone/.git") + "\n",
		".git/modules/s/HEAD": "", ".git/modules/s/config": "[core]\n\tworktree = ../../../s\n", "s/.git": "gitdir: ../.git/modules/s\n",
		".git/modules/t/config": "[core]\n\tworktree = ../../../w\n", "t/.git": "gitdir: ../evil\n", "u/.git": "nonsense", "evil/HEAD": "", "evil/config": "",
		"todo": "# comment\npick 1 x\nlabel x\n", "todo2": "pick 1 exec\n  exec  make test\nx\tls\n", "todo3": "",
		"attrs": "# x\n\n", "attrs2": "*.c filter=x\n", "remote": "\n", "remote2": "URL: x\n",
		"modules": "[submodule \"a\"]\n\tpath = a\n\turl = ../a\n", "modules2": "[submodule \"a\"]\n\tupdate = !x\n", "modules3": "[core]\n\tx = y\n",
		"hook": "", "hook2": "#!/bin/sh\n",
	})
	for link, to := range map[string]string{"link": "hook", ".git/tAb3dE9": "testing", ".git/tAb3dE8": "config", ".git/HEAD2": "testing", ".git/tAb3dE99": "testing"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	known := []string{at(".git")}
	for _, c := range []struct {
		path  string
		kind  Kind
		plain bool
	}{
		{".git/config", Config, true}, {"none", Config, true}, {"link", Hook, false}, {"link", Config, false},
		{".git/worktrees/w/commondir", CommonDir, true}, {".git/worktrees/bad/commondir", CommonDir, false},
		{".git/worktrees/w/gitdir", WorkTree, true}, {".git/worktrees/bad/gitdir", WorkTree, false}, {".git/worktrees/gone/gitdir", WorkTree, true},
		{"w/.git", Pointer, true}, {"s/.git", Pointer, true}, {"t/.git", Pointer, false}, {"u/.git", Pointer, false},
		{".git/modules/s/config", Config, true}, {".git/modules/t/config", Config, false},
		{"todo", Todo, true}, {"todo2", Todo, false}, {"todo3", Todo, true},
		{"attrs", Attributes, true}, {"attrs2", Attributes, false}, {"remote", Remote, true}, {"remote2", Remote, false},
		{"modules", Modules, true}, {"modules2", Modules, false}, {"modules3", Modules, false}, {"hook", Hook, true}, {"hook2", Hook, false}, {"w", Hook, false},
		{".git/tAb3dE9", Strange, true}, {".git/tAb3dE8", Strange, false}, {".git/HEAD2", Strange, false}, {".git/tAb3dE99", Strange, false}, {".git/tAb3dE9", Hook, false},
	} {
		if got := Plain(Steer{at(c.path), c.kind}, known); (got == "") != c.plain {
			t.Errorf("%s: %q", c.path, got)
		}
	}
	if got := Runs(Steer{Path: at("todo2"), Kind: Todo}, nil); !slices.Equal(got, []string{"make test", "ls"}) {
		t.Errorf("%v", got)
	}
}

func TestSteers(t *testing.T) {
	root := t.TempDir()
	lay(t, root, map[string]string{
		"HEAD": "", "config": "", "hooks/pre-commit": "", "hooks/pre-push.sample": "", "info/attributes": "", "info/exclude": "", "remotes/o": "", "objects/x": "", "index": "",
		"worktrees/w/HEAD": "", "worktrees/w/commondir": "", "worktrees/w/gitdir": "", "worktrees/w/config.worktree": "", "worktrees/w/rebase-merge/git-rebase-todo": "",
		"modules/a/b/HEAD": "", "modules/a/b/config": "", "modules/a/b/hooks/post-merge": "", "modules/a/b/modules/c/config": "", "sequencer/todo": "", "rebase-merge/done": "",
	})
	var got []string
	for _, s := range Steers(root, nil) {
		rel, _ := filepath.Rel(root, s.Path)
		got = append(got, rel)
	}
	slices.Sort(got)
	want := []string{"config", "hooks/pre-commit", "info/attributes", "modules/a/b/config", "modules/a/b/hooks/post-merge", "modules/a/b/modules/c/config", "remotes/o", "sequencer/todo",
		"worktrees/w/commondir", "worktrees/w/config.worktree", "worktrees/w/gitdir", "worktrees/w/rebase-merge/git-rebase-todo"}
	if !slices.Equal(got, want) {
		t.Errorf("steers %v", got)
	}
	got = nil
	for _, p := range Guards(root, nil) {
		rel, _ := filepath.Rel(root, p)
		got = append(got, rel)
	}
	slices.Sort(got)
	want = []string{"config", "hooks", "info/attributes", "modules/a/b/config", "modules/a/b/hooks", "modules/a/b/modules/c/config", "remotes", "worktrees/w/commondir", "worktrees/w/config.worktree", "worktrees/w/gitdir"}
	if !slices.Equal(got, want) {
		t.Errorf("guards %v", got)
	}
}

// TestPlainState: what git itself writes of an unfinished rebase passes, what
// makes it run a program or write elsewhere does not.
func TestPlainState(t *testing.T) {
	for _, c := range []struct {
		name, text string
		bad        bool
	}{
		{"rebase-merge/strategy", "ort\n", false},
		{"rebase-merge/strategy", "x/../evil\n", true},
		{"sequencer/opts", "[options]\n\tno-commit = true\n\tstrategy = recursive\n", false},
		{"sequencer/opts", "[options]\n\tstrategy = x/../evil\n", true},
		{"sequencer/opts", "[options\n", true},
		{"rebase-merge/author-script", "GIT_AUTHOR_NAME='O'\\''Neil $(x)'\nGIT_AUTHOR_EMAIL='x@x'\nGIT_AUTHOR_DATE='@1 +0000'\n", false},
		{"rebase-apply/author-script", "GIT_AUTHOR_NAME=$(evil)\n", true},
		{"rebase-apply/author-script", "GIT_AUTHOR_NAME='x' ; evil\n", true},
		{"rebase-apply/apply-opt", " '-p2' '--whitespace=nowarn'\n", false},
		{"rebase-apply/apply-opt", "\n", false},
		{"rebase-apply/apply-opt", " '--build-fake-ancestor=/x'\n", true},
		{"rebase-apply/apply-opt", " '-p1' '--unsafe-paths'\n", true},
		{"BISECT_NAMES", " 'a b' 'c'\n", false},
		{"BISECT_NAMES", "`evil`\n", true},
	} {
		git := t.TempDir()
		lay(t, git, map[string]string{c.name: c.text, "HEAD": "x"})
		bad := false
		for _, s := range Steers(git, nil) {
			bad = bad || s.Kind == State && Plain(s, nil) != ""
		}
		if bad != c.bad {
			t.Errorf("%s %q: %v", c.name, c.text, bad)
		}
	}
}

// TestPlainBegun: what git has just begun to write is empty, and nothing is taken
// from it, at any moment of a git worktree add.
func TestPlainBegun(t *testing.T) {
	for i, now := range []map[string]string{
		{"worktrees/w/gitdir": ""},
		{"worktrees/w/gitdir": "$/w/.git\n", "w/.git": ""},
		{"worktrees/w/gitdir": "$/w/.git\n", "w/.git": "gitdir: $/worktrees/w\n"},
		{"worktrees/w/gitdir": "$/w/.git\n", "w/.git": "gitdir: $/worktrees/w\n", "worktrees/w/commondir": ""},
		{"worktrees/w/gitdir": "$/w/.git\n", "w/.git": "gitdir: $/worktrees/w\n", "worktrees/w/commondir": "../..\n"},
	} {
		git := t.TempDir()
		for name, text := range now {
			lay(t, git, map[string]string{name: strings.ReplaceAll(text, "$", git)})
		}
		for path, k := range map[string]Kind{"worktrees/w/commondir": CommonDir, "worktrees/w/gitdir": WorkTree, "w/.git": Pointer} {
			if why := Plain(Steer{Path: filepath.Join(git, path), Kind: k}, []string{git}); why != "" {
				t.Errorf("moment %d, %s: %s", i, path, why)
			}
		}
	}
	// What is empty elsewhere is still to be written.
	away := t.TempDir()
	lay(t, away, map[string]string{"g/HEAD": "x", "g/commondir": "", "w/.git": "gitdir: ../g\n"})
	if why := Plain(Steer{Path: filepath.Join(away, "w/.git"), Kind: Pointer}, []string{filepath.Join(away, ".git")}); why == "" {
		t.Error("a folder that is not looked at passes")
	}
}

// What is found by a listing of the folder is what is found without one.
func TestSteersOfAListing(t *testing.T) {
	for name, made := range map[string][]string{
		"plain":   {"HEAD", "config", "hooks/pre-commit", "hooks/x.sample", "info/attributes"},
		"rebase":  {"HEAD", "config", "rebase-merge/git-rebase-todo", "sequencer/todo", "sequencer/opts", "BISECT_NAMES"},
		"others":  {"HEAD", "commondir", "config.worktree", "remotes/a", "branches/b", "worktrees/w/gitdir", "modules/a/b/config", "modules/a/b/hooks/h"},
		"foreign": {"HEAD", "config", "ho\u200coks/x", "hooks/pre-commit"},
	} {
		t.Run(name, func(t *testing.T) {
			git := t.TempDir()
			for _, f := range made {
				at := filepath.Join(git, filepath.FromSlash(f))
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			list, err := os.ReadDir(git)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range list {
				names = append(names, e.Name())
			}
			holds := Listed(names)
			if (holds == nil) != (name == "foreign") {
				t.Errorf("of %q is known: %v", names, holds)
			}
			sorted := func(list []Steer) []Steer {
				slices.SortFunc(list, func(a, b Steer) int { return strings.Compare(a.Path, b.Path) })
				return list
			}
			if all, got := sorted(Steers(git, nil)), sorted(Steers(git, holds)); len(all) == 0 || !slices.Equal(got, all) {
				t.Errorf("Steers: %v, without a listing %v", got, all)
			}
			if all, got := Guards(git, nil), Guards(git, holds); len(all) == 0 || !slices.Equal(got, all) {
				t.Errorf("Guards: %v, without a listing %v", got, all)
			}
		})
	}
	if got := Steers(t.TempDir(), Listed(nil)); len(got) > 0 {
		t.Errorf("in an empty folder: %v", got)
	}
}
