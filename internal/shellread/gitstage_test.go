package shellread_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// TestGitStages: what git add and git stash take in of files that are not tracked may
// be printed from there, so that rules which deny to read one speak of it.
func TestGitStages(t *testing.T) {
	f := newFixture()
	f.files["/home/u/project/src/.env"] = true
	for _, c := range []struct {
		command         string
		untracked, kept string // the verdict where .env is not ignored, and where it is
	}{
		{"git add .", "ask", "allow"}, {"git add -A", "ask", "allow"}, {"git add --all", "ask", "allow"}, {"git add", "ask", "allow"}, {"git add :/", "ask", "allow"}, {"git add src", "ask", "allow"}, {"git stage .", "ask", "allow"},
		{"git add '*'", "ask", "allow"}, {"git add -N .", "ask", "allow"}, {"git add -- .", "ask", "allow"}, {"git -C src add .", "ask", "allow"}, {"git -C src add -A", "ask", "allow"}, {"git add --pathspec-from-file=x", "ask", "ask"}, {"git add -A && git commit -m x", "ask", "allow"},
		{"git add $(git ls-files -o)", "ask", "allow"},
		{"git add -f .", "ask", "ask"}, {"git add -Af", "ask", "ask"}, {"git add --force .", "ask", "ask"}, {"git add --forc .", "ask", "ask"}, {"git add -f '*'", "ask", "ask"}, {"git add -f src", "ask", "ask"}, {"git add -f '*env'", "ask", "ask"}, {"git -C src add -f .", "ask", "ask"}, {"cd src && git add -f .", "ask", "ask"},
		{"git -c a.b=c -C src add -f .", "ask", "ask"}, {"git -c a.b=c -C src add -f .env", "deny", "deny"}, {"git -C src add -f .env", "deny", "deny"}, {"sudo git -C src add -f .", "ask", "ask"},
		{"git --shallow-file x add -f .", "ask", "ask"}, {"xargs git add -f", "ask", "ask"}, {"sh -c 'git add -f .'", "ask", "ask"},
		{"git stash -u", "ask", "allow"}, {"git stash --include-untracked", "ask", "allow"}, {"git stash push -u", "ask", "allow"}, {"git stash push -um x", "ask", "allow"}, {"git stash save -u x", "ask", "allow"},
		{"git stash -a", "ask", "ask"}, {"git stash --all", "ask", "ask"}, {"git stash push -a", "ask", "ask"}, {"git stash push --al", "ask", "ask"}, {"git stash -qa", "ask", "ask"}, {"git -C src stash -a", "ask", "ask"},
		{"git add main.go", "allow", "allow"}, {"git add -u", "allow", "allow"}, {"git add -n .", "allow", "allow"}, {"git add '*.go'", "allow", "allow"}, {"git add bin", "allow", "allow"}, {"git add -f bin", "allow", "allow"}, {"git add -p", "ask", "allow"}, {"git add -f main.go", "allow", "allow"},
		{"git stash", "allow", "allow"}, {"git stash pop", "allow", "allow"}, {"git stash apply", "allow", "allow"}, {"git stash push -m x", "allow", "allow"}, {"git commit -am x", "allow", "allow"}, {"git checkout main", "allow", "allow"}, {"git checkout -b x", "allow", "allow"},
	} {
		for ignores, want := range map[string]string{"": c.untracked, ".env": c.kept} {
			f.ignores = ignores
			if v := decide(t, f, c.command, policy.Bypass, "deny:Read(.env)", "deny:Read(src/.env)"); v.Effect.String() != want {
				t.Errorf("%q, ignored %q: %s (%s), want %s", c.command, ignores, v.Effect, v.Reason, want)
			}
			if v := decide(t, f, c.command, policy.Bypass, "deny:Read(.npmrc)"); v.Effect != policy.Allow {
				t.Errorf("%q without a denied file: %s (%s)", c.command, v.Effect, v.Reason)
			}
		}
	}
}

// TestGitKeeps: what git takes into the repository though it ignores it is a question where
// it may hold secrets, and no rule allows to read it.
func TestGitKeeps(t *testing.T) {
	f := newFixture()
	dir := f.world().Dir
	f.files[dir+"/src/.env"] = true
	f.ignores = ".env"
	for command, want := range map[string]policy.Check{
		"git add -f .": policy.CheckSecret, "git add -f src": policy.CheckSecret, "git add --force -- :/": policy.CheckSecret, "git -C src add -f .": policy.CheckSecret, "cd src && git add -Af": policy.CheckSecret,
		"git add -f --pathspec-from-file=l": policy.CheckSecret, "git stash -a": policy.CheckSecret, "git update-index --add src/.env": policy.CheckSecret,
		"git stage -f '*env'": "", "ls -A | xargs git add -f": "", "git add -f $(ls -A)": "", "git update-index --add $(ls)": "", "ls | git update-index --add --stdin": "", "git add -f . && git diff --cached": "", // hidden
		"git add -A": "", "git add .": "", "git add -f bin": "", "git add -f main.go": "", "git add -f '*.go'": "", "git stash -u": "", "git stash": "", "git update-index --refresh": "", "git add -nf .": "",
	} {
		q := policy.Request{Tool: "Bash", Actions: shellread.Read(command, f.world()).Actions, Sandboxed: true}
		rules := policy.Rules{Dir: dir, Dirs: []string{dir}}
		if v := policy.Decide(rules, policy.Default, q); (v.Effect == policy.Ask) != (want != "") || want != "" && v.Check != want {
			t.Errorf("%q: %s (%s, %s), want %q", command, v.Effect, v.Check, v.Reason, want)
		}
		rules.List = []policy.Rule{{Tool: "Read", Spec: "**/.env", Root: dir}}
		if v := policy.Decide(rules, policy.Default, q); v.Effect != policy.Allow {
			t.Errorf("%q, with a rule: %s (%s)", command, v.Effect, v.Reason)
		}
	}
}
