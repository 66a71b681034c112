package shellread_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// TestGitPrints: what prints the contents of tracked files is a question where
// one of them is a secret or denied, and none otherwise.
func TestGitPrints(t *testing.T) {
	f := newFixture()
	plain := f.world()
	tracked := plain
	tracked.Tracked = func(dir string, most int) ([]string, bool) {
		files, ok := f.tracked(dir, most)
		return append(files, "/home/u/project/.env", "/home/u/project/src/deploy.pem"), ok
	}
	deny, err := policy.ParseRule("Read(src/a.go)", policy.Deny, policy.CLI, "test", "/home/u/project")
	if err != nil {
		t.Fatal(err)
	}
	judge := func(command string, w world.World, list ...policy.Rule) policy.Effect {
		r := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u", List: list}
		return policy.Decide(r, policy.Default, policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions}).Effect
	}
	for _, command := range []string{
		"git diff", "git diff HEAD", "git diff --cached", "git diff -R", "git diff -- .", "git diff -- ':/'", "git diff main..x", "git diff --stat -p", "git diff -- '*'", "git diff -- ':!src/b.go'", "cd src && git diff", "cd src && git diff -- :/",
		"git diff --check", "git diff --word-diff", "git diff-files -p", "git diff-index -p HEAD", "git diff-tree -p HEAD", "git diff ':!x'", "git --literal-pathspecs diff -- ':!.env' ':!src' .", "git diff HEAD:", "git diff -- ':(attr:x)a'", "git diff -- '[.]env' 'src/[a]*'",
		"git log -p", "git log -p -3", "git log --patch src main.go", "git log -c", "git log -S x --oneline", "git log -p -S -- main.go .", "git show", "git show HEAD", "git show HEAD~3 --", "git show 5c0f956", "git show -s 5c0f956", "git show --stat 5c0f956", "git show v1-3-g5c0f956 --stat", "git show --stat 'HEAD:.env^{}'",
		"git show :/init", "git log --full-diff -p main.go", "git log -p --full-diff -- main.go", "git log --full-diff -U1 src", "git show stash@{0}", "git stash show -p", "git stash list -p", "git reflog -p", "git range-diff a b c", "git status -vv", "git status -v", "git whatchanged -p",
		"git cat-file -p 5c0f956", "git cat-file blob 5c0f956", "git cat-file blob 'HEAD:src^{blob}'", "echo HEAD:.env | git cat-file --batch", "git cat-file --batch --batch-all-objects", "git cat-file --batch='%(objectname)'",
		"git grep x HEAD", "git grep x", "git grep x HEAD:", "git grep x -- ':(top)'", "git grep -e x --or -e y HEAD",
	} {
		if got := judge(command, tracked); got != policy.Ask {
			t.Errorf("%q with a tracked secret: %s", command, got)
		}
		if got := judge(command, plain, deny); got == policy.Allow {
			t.Errorf("%q with a denied file: %s", command, got)
		}
		if got := judge(command, plain); got != policy.Allow && !strings.Contains(command, "literal") {
			t.Errorf("%q without one: %s", command, got)
		}
	}
	for _, command := range []string{
		"git diff -- '.e*'", "git diff ':(glob).env'", "git diff -- ':(icase).ENV'", "git diff HEAD '.e*'", "git diff '.e*'", "git diff -- ':(top,glob)**/.env'", "git diff -- ':^src' .", "git diff -- '?env'", "cd src && git diff -- ../.env", "git diff -- '*nv'", "git diff -- .e*",
		"git log -L1,1:.env", "git log -L :f:.env", "git log -L '/a:b/,1:.env'", "git log -p -- '.e*'", "git show HEAD -- '.e*'", "git show HEAD:.env", "cd src && git show HEAD:.env", "git show :.env", "git grep DB -- '.e*'", "git grep DB -- ':(glob).env'", "git grep DB '.e*'", "git blame .env", "git log -p .env",
	} {
		if got := judge(command, tracked); got != policy.Ask {
			t.Errorf("%q: %s", command, got)
		}
	}
	for _, command := range []string{
		"git status", "git status -s", "git log", "git log --oneline -20", "git log --stat", "git log --name-only", "git log --graph --all", "git diff --stat", "git diff --name-only HEAD~1", "git diff --numstat --summary", "git show --stat HEAD", "git show -s --format=%H HEAD", "git show --name-only HEAD~2", "git diff-tree --name-status HEAD",
		"git diff -- main.go", "git diff main.go", "git diff HEAD~1 -- src/a.go src/b.go", "git diff -- 'src/*.go'", "git diff '*.go'", "git diff -- . ':!.env' ':(exclude)src/deploy.pem'", "git log -p -- main.go", "git log --full-diff --stat main.go", "git log --full-diff main.go", "git log -L1,5:main.go", "git show HEAD:main.go", "git show HEAD -- src/a.go", "git diff HEAD:main.go HEAD:src/a.go",
		"git cat-file -t 5c0f956", "git cat-file -s 5c0f956", "git cat-file -p HEAD", "git cat-file tree 5c0f956", "echo 5c0f956 | git cat-file --batch-check", "git stash show", "git stash list", "git reflog", "git grep x -- '*.go'", "git grep x src/a.go", "git blame main.go", "git ls-files", "git rev-parse HEAD", "git diff --no-index main.go src/a.go",
	} {
		if got := judge(command, tracked); got != policy.Allow {
			t.Errorf("%q prints no secret: %s", command, got)
		}
	}
	allowed, err := policy.ParseRule("Bash(git:*)", policy.Allow, policy.CLI, "test", "/home/u/project")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"git archive HEAD", "git format-patch --stdout -1", "git fast-export HEAD", "git commit -v -m x", "git diff --unknown", "git log -p --unknown", "git -c core.pager=x show"} {
		if got := judge(command, plain, deny, allowed); got == policy.Allow {
			t.Errorf("%q, which a rule allows, with a denied file: %s", command, got)
		}
	}
}

// TestGitGrepBehindLinks: git grep opens what the repository tracks by its name, also where
// a folder of that name is a link by now; other commands of git take that for removed.
func TestGitGrepBehindLinks(t *testing.T) {
	for _, c := range []struct{ tracked, command, want string }{
		{"links/out/passwd", "git grep -n root", "ask"},
		{"links/out/passwd", "git grep -n root -- links", "ask"},
		{"links/out/passwd", "cd links && git grep root", "ask"},
		{"links/out/passwd", "git grep --cached root", "allow"},
		{"links/out/passwd", "git diff --stat", "allow"},
		{"links/out/passwd", "git grep root -- src", "allow"},
		{"links/passwd", "git grep -n root", "allow"}, // it skips links
		{"src/a.go", "git grep -n root", "allow"},
	} {
		f := newFixture()
		w := f.world()
		w.Tracked = func(dir string, _ int) ([]string, bool) {
			if file := "/home/u/project/" + c.tracked; strings.HasPrefix(file, dir+"/") {
				return []string{file}, true
			}
			return nil, true
		}
		rules := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u"}
		if v := policy.Decide(rules, policy.Default, policy.Request{Tool: "Bash", Actions: shellread.Read(c.command, w).Actions}); v.Effect.String() != c.want {
			t.Errorf("%s: %q: %s (%s), want %s", c.tracked, c.command, v.Effect, v.Reason, c.want)
		}
	}
}
