package shellread_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// inSandbox judges a command that the sandbox confines, where that is enough.
func inSandbox(f fixture, command string) policy.Verdict {
	r := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u"}
	return policy.Decide(r, policy.Default, policy.Request{Tool: "Bash", Sandboxed: true, Actions: shellread.Read(command, f.world()).Actions})
}

// TestWorkedOut: a word that the shell works out is judged by what it most likely is,
// in each form in which it says so.
func TestWorkedOut(t *testing.T) {
	f := newFixture()
	forms := func(word string) []string {
		return []string{
			"$(echo " + word + ")", "`echo " + word + "`", "\"`echo " + word + "`\"", "`printf %s " + word + "`", "$(printf '%s\\n' " + word + ")", "$(printf %s%s " + word[:2] + " " + word[2:] + ")", "$(cat <<< " + word + ")", "`cat <<< " + word + "`",
			"${x:-" + word + "}", "\"${x:-" + word + "}\"", "${x-" + word + "}", "${HOME:+" + word + "}", "`echo ${x:-" + word + "}`", "$(echo \"${x:-" + word + "}\")", "${x:-`echo " + word + "`}", "${x:-${y:-" + word + "}}",
			word[:2] + "${x:-" + word[2:] + "}", word[:2] + "`echo " + word[2:] + "`", "${x:-" + word[:2] + "}" + word[2:], "\"" + word[:2] + "${x:-" + word[2:] + "}\"",
		}
	}
	for _, w := range forms(".env") {
		for _, command := range []string{"cat " + w, "x=" + w + "; cat $x", "cat < " + w, "grep -n a " + w, "f() { cat $1; }; f " + w, "for f in " + w + "; do cat $f; done", "python3 x.py " + w, "base64 " + w} {
			if strings.Contains(command, "x="+w) && strings.Contains(w, "${x") {
				continue
			}
			if v := inSandbox(f, command); v.Effect != policy.Ask || v.Check != policy.CheckSecret {
				t.Errorf("%q in the sandbox: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
			}
		}
	}
	for _, w := range forms("--hard") {
		if v := decide(t, f, "git reset "+w, policy.Bypass); v.Effect != policy.Ask {
			t.Errorf("git reset %s: %s (%s: %s)", w, v.Effect, v.Check, v.Reason)
		}
		if v := inSandbox(f, "git reset "+w); v.Effect != policy.Ask {
			t.Errorf("git reset %s in the sandbox: %s (%s: %s)", w, v.Effect, v.Check, v.Reason)
		}
	}
	for _, w := range forms(".git") {
		for _, command := range []string{"touch " + w + "/y", "echo x > " + w + "/config", "rm -rf " + w, "cp a " + w + "/hooks/pre-commit", "cd " + w + "; touch hooks/y", "rm -rf ${x:-" + w + "}"} {
			if v := decide(t, f, command, policy.Bypass); v.Effect != policy.Ask && !strings.HasPrefix(command, "cd ") {
				t.Errorf("%q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
			}
		}
	}
	for _, command := range []string{
		"git checkout `echo .`", "git checkout ${x:-.}", "git ${x:-reset --hard}", "git ${x:-reset} --hard", "${x:-git} reset --hard", "git `echo reset` `echo --hard`", "git checkout ${x:-*}", "x=--hardy; git reset ${x%y}", "x=--HARD; git reset ${x,,}", "x=a--hard; git reset ${x:1}", "x=--hord; git reset ${x/o/a}", "x=y--hard; git reset ${x#y}",
		"cd `echo /`; rm -rf *", "cd $(echo /); rm -rf *", "cd ${x:-/}; rm -rf *", "cd $X; rm -rf ./*", "sh -c \"${x:-git reset --hard}\"", "sh -c \"`echo git clean -fd`\"", "rm -rf `echo ~`", "rm -rf ${x:-/}",
	} {
		if v := decide(t, f, command, policy.Bypass); v.Effect != policy.Ask {
			t.Errorf("%q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	for _, command := range []string{ // as with $( )
		"cat `echo README.md`", "cat \"`echo main.go`\"", "git diff `git merge-base HEAD master`", "git log `git merge-base a b`..HEAD", "ls `pwd`", "head -n `nproc` main.go", "echo `wc -l < main.go`", "cat $(echo README.md)", "for f in `echo main.go`; do wc -l \"$f\"; done", "echo \"${x:-a}\"", "echo ${1:-.env}", "echo `date`",
	} {
		if v := decide(t, f, command, policy.Default); v.Effect != policy.Allow {
			t.Errorf("%q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
	for _, command := range []string{
		"git reset ${x:-HEAD}", "git checkout ${x:-main}", "npm run ${TASK:-test}", "cd \"${x:-src}\" && rm a.o", "cp a \"${OUT:-out}/a\"", "echo x > ${x:-out.txt}", "PORT=${PORT:-3000} npm start", "make -j`nproc`", "cd `mktemp -d` && touch x", "git commit -m \"${x:-git reset --hard}\"",
	} {
		if v := decide(t, f, command, policy.Bypass); v.Effect != policy.Allow {
			t.Errorf("%q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
		}
	}
}
