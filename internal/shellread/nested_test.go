package shellread_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestNestedRepository: what removes a folder with a git repository in it is a question in
// every mode, unless a rule names that folder.
func TestNestedRepository(t *testing.T) {
	f := newFixture()
	for _, d := range []string{"sub/.git", "deep/er/sub/.git", "plain", "tree"} {
		f.mkdir("/home/u/project/" + d)
	}
	for _, n := range []string{"sub/.git/HEAD", "sub/p.txt", "deep/er/sub/.git/HEAD", "plain/a", "tree/.git", "plain/.gitignore"} {
		f.files["/home/u/project/"+n] = true
	}
	asks := func(command string, rules ...string) bool {
		v := decide(t, f, command, policy.Bypass, rules...)
		return v.Effect == policy.Ask && v.Check == policy.CheckRemoval && strings.Contains(v.Reason, "the git repository in ")
	}
	for _, c := range []string{
		"rm -rf sub", "rm -r -f ./sub/", "rm -rf s*", "rm -rf deep", "rm -rf plain sub", "rm -rf deep/*", "cd deep && rm -rf er", "timeout 5 rm -rf sub", "rm -rf sub && make", "bash -c 'rm -rf sub'",
		"tar czf s.tgz sub --remove-files", "rsync -a --delete plain/ sub/", "cp -r sub sub2 && rm -rf sub",
	} {
		if !asks(c) {
			t.Errorf("%s: no question", c)
		}
		if !asks(c, "Bash(rm:*)", "Bash") {
			t.Errorf("%s: a rule for all of rm allows it", c)
		}
	}
	for _, c := range []string{
		"rm -rf plain", "rm -rf tree", "rm -rf nothing", "mv sub other", "cp -r sub plain/x", "rm -rf sub/p.txt", "find sub -name '*.txt' -delete", "rsync -a --delete --exclude .git plain/ sub/", "rsync -a --delete --exclude=/.git/ plain/ sub/",
	} {
		if asks(c) {
			t.Errorf("%s: a question", c)
		}
	}
	if asks("rm -rf sub", "Bash(rm -rf sub)") {
		t.Error("a rule that names it does not allow it")
	}
}
