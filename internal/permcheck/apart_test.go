package permcheck_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/permcheck"
	"github.com/adze-agent/adze/internal/policy"
)

// checkout is a repository with a worktree where adze makes them, and the rules of an agent there.
func checkout(t *testing.T) (top string, o permcheck.Options) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top = filepath.Join(base, "repo")
	tree := filepath.Join(top, ".adze", "worktrees", "one")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", top}, {"-C", top, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x"},
		{"-C", top, "worktree", "add", "-q", "-b", "adze/one", tree},
	} {
		c := exec.Command("git", args...)
		c.Env = append(os.Environ(), "HOME="+base, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Skipf("%v: %s", err, out)
		}
	}
	for _, dir := range []string{top, tree} {
		if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "src", "a.go"), []byte("package a\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(top, "node_modules"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(top, "node_modules"), filepath.Join(tree, "node_modules")); err != nil {
		t.Fatal(err)
	}
	common := filepath.Join(top, ".git")
	return top, permcheck.Options{Dir: tree, Home: base, Mode: policy.Bypass, Rules: policy.Rules{
		Dir: tree, Dirs: []string{tree}, Home: base,
		Apart: &policy.Apart{Tree: tree, Tops: []string{top}, Shared: []string{filepath.Join(top, "node_modules")}, Common: common, Git: filepath.Join(common, "worktrees", "one"), Alone: true},
	}}
}

// An agent in a worktree has nothing to do with the checkout, whatever the mode allows and
// whether or not there is a sandbox.
func TestApart(t *testing.T) {
	top, o := checkout(t)
	for command, want := range map[string]policy.Effect{
		// git on the checkout
		"git -C TOP reset --hard":                       policy.Deny,
		"git -C TOP add -A":                             policy.Deny,
		"git -C TOP checkout main":                      policy.Deny,
		"git -C ../../.. stash":                         policy.Deny,
		"git -C TOP status":                             policy.Deny,
		"git -c core.worktree=TOP checkout .":           policy.Deny,
		"git --git-dir=TOP/.git add -A":                 policy.Deny,
		"git --git-dir TOP/.git --work-tree TOP add -A": policy.Deny,
		"git --work-tree=TOP checkout .":                policy.Deny,
		"GIT_DIR=TOP/.git git reset --hard":             policy.Deny,
		"GIT_WORK_TREE=TOP git checkout .":              policy.Deny,
		"export GIT_DIR=TOP/.git; git add -A":           policy.Deny,
		"env GIT_DIR=TOP/.git git add -A":               policy.Deny,
		"cd TOP && git stash":                           policy.Deny,
		"cd TOP; git reset --hard":                      policy.Deny,
		"(cd ../../.. && git add -A)":                   policy.Deny,
		"pushd TOP && git commit -am x":                 policy.Deny,
		"bash -c 'cd TOP && git checkout .'":            policy.Deny,
		"xargs -I{} git -C TOP {} < verbs":              policy.Deny,
		// what all checkouts share
		"git stash":                           policy.Deny,
		"git stash pop":                       policy.Deny,
		"git stash list":                      policy.Allow,
		"git worktree remove --force TOP":     policy.Deny,
		"git worktree prune":                  policy.Deny,
		"git worktree list":                   policy.Allow,
		"git branch -f main HEAD":             policy.Deny,
		"git branch -D main":                  policy.Deny,
		"git branch --list":                   policy.Allow,
		"git update-ref refs/heads/main HEAD": policy.Deny,
		"git push . HEAD:main":                policy.Deny,
		"git gc --prune=now":                  policy.Deny,
		"git config user.name evil":           policy.Deny,
		"git tag -d v1":                       policy.Deny,
		// files of the checkout
		"echo x > TOP/src/a.go":                 policy.Deny,
		"cat TOP/src/a.go":                      policy.Deny,
		"cp src/a.go TOP/src/a.go":              policy.Deny,
		"sed -i s/a/b/ TOP/src/a.go":            policy.Deny,
		"rm -rf TOP":                            policy.Deny,
		"rm -rf ../../../src":                   policy.Deny,
		"rm -rf TOP/.git":                       policy.Deny,
		"mv src/a.go ../../../src/b.go":         policy.Deny,
		"make -C TOP":                           policy.Deny,
		"cd TOP && make":                        policy.Deny,
		"python3 -c 'open(\"TOP/x\",\"w\")'":    policy.Deny,
		"go build -o TOP/bin ./src":             policy.Deny,
		"echo x > node_modules/x.js":            policy.Deny,
		"echo x > TOP/.git/refs/heads/main":     policy.Deny,
		"echo x > TOP/.git/hooks/pre-commit":    policy.Deny,
		"rm -rf TOP/.git/objects/../refs/heads": policy.Deny,
		// what is not known, without the sandbox
		"cd $X && git commit -am x":    policy.Deny,
		"eval \"$X\"":                  policy.Ask,
		"git -C TOP/nowhere/../. pull": policy.Deny,
		// its own work
		"git status":                          policy.Allow,
		"git add -A && git commit -m 'fix x'": policy.Allow,
		"git commit -m 'as in TOP/src/a.go'":  policy.Allow,
		"echo 'see TOP/src/a.go'":             policy.Allow,
		"echo x > src/a.go":                   policy.Allow,
		"cat node_modules/x.js":               policy.Allow,
		"go test ./...":                       policy.Allow,
		"git log main..HEAD":                  policy.Allow,
		"git rebase main":                     policy.Allow,
		"git -C . status":                     policy.Allow,
		"git -C src log":                      policy.Allow,
		"git checkout -b other":               policy.Allow,
		"cd src && git diff":                  policy.Allow,
		"make":                                policy.Allow,
	} {
		command = strings.ReplaceAll(command, "TOP", top)
		for _, sandbox := range []bool{false, true} {
			actions, rules := permcheck.Actions(command, o)
			got := policy.Decide(rules, o.Mode, policy.Request{Tool: "Bash", Actions: actions, Sandboxed: sandbox})
			want := want
			if sandbox && strings.Contains(command, "$X") { // it can write nothing else
				want = policy.Allow
			}
			if got.Effect != want {
				t.Errorf("%s (sandbox: %t): %s (%s: %s)", command, sandbox, got.Effect, got.Check, got.Reason)
			}
		}
	}
}

// A refusal says where the file is that is meant.
func TestApartSaysWhere(t *testing.T) {
	top, o := checkout(t)
	v := permcheck.Check("cat "+top+"/src/a.go", o).Verdict
	if want := "here it is " + filepath.Join(o.Dir, "src", "a.go"); !strings.HasSuffix(v.Reason, want) || v.Check != policy.CheckApart {
		t.Errorf("%s (%s)", v.Reason, v.Check)
	}
	// A person's own session in a worktree does with git what it did; the checkout is not its own.
	mine := *o.Rules.Apart
	mine.Alone = false
	o.Rules.Apart = &mine
	for command, want := range map[string]policy.Effect{
		"git stash": policy.Allow, "git push -u origin adze/one": policy.Allow, "git branch -D old": policy.Ask, "git -C " + top + " reset --hard": policy.Deny, "echo x > " + top + "/x": policy.Deny,
	} {
		if v := permcheck.Check(command, o).Verdict; v.Effect != want {
			t.Errorf("%s: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	// What names a worktree protects it from everybody else, and from nobody in it.
	o.Rules = policy.Rules{Dir: top, Dirs: []string{top}, Home: o.Home}
	o.Dir = top
	if v := permcheck.Check("echo x > .adze/worktrees/one/src/a.go", o).Verdict; v.Effect != policy.Ask {
		t.Errorf("from the checkout: %s", v.Reason)
	}
}
