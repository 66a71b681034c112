package shellread_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// TestStanding: a rule for a name that floats forbids what changes a folder only where such a
// file stands below it, and asks where that is not known.
func TestStanding(t *testing.T) {
	f := newFixture()
	for _, d := range []string{"build/in", "kept", "empty"} {
		f.mkdir("/home/u/project/" + d)
	}
	for _, n := range []string{"build/in/a.pyc", "build/x.txt", "kept/x.key", "kept/a.pyc"} {
		f.files["/home/u/project/"+n] = true
	}
	w := f.world()
	w.Tracked = func(string, int) ([]string, bool) {
		return []string{"/home/u/project/main.go", "/home/u/project/src/a.go", "/home/u/project/build/x.txt"}, true
	}
	none := w
	none.Tree = func(string, int) (world.Listing, bool) { return world.Listing{}, false }
	for want, commands := range map[policy.Effect][]string{
		policy.Allow: {
			"rm -rf build", "rm -rf not-there", "rm -rf build/*", "rm -rf empty build/in", "mv build lib", "tar czf a.tgz build", "tar cf - kept | wc -c", "tar --create --file a.tar .", "zip -qr x.zip kept", "bsdtar -czf a.tgz .",
			`find . -name "*.pyc" -delete`, `find kept -type f -name '*.pyc' -delete`, `find . \( -name '*.pyc' -o -iname '*.PYO' \) -delete`, `find . -name src -prune -o -name '*.pyc' -delete`, "find build -delete", "find kept -type d -delete",
			"git checkout .", "git checkout -- kept", "git restore kept", "git rm -r build", "git clean -fd build", "chmod -R u+w build", "chown -R u build",
		},
		policy.Deny: {
			"rm -rf kept", "rm -rf build kept", "rm -rf ./kept/../kept", "cd kept; rm -rf ../kept", "mv kept lib", "find . -delete", "find kept build -delete", "find . -name '*.k*' -delete", "find . ! -name '*.pyc' -delete", "find . -delete -name '*.pyc'",
			"find . -name '*.pyc' -o -delete", "find -O3 kept -delete", "find . -name '*.pyc' , -delete", "git clean -fdx kept", "chmod -R 777 kept", "tar czf a.tgz --remove-files kept", "tar czf kept/x.key build", "zip -rm x.zip kept", "rm -rf /home/u/project/kept",
		},
		policy.Ask: {"git checkout HEAD~1 -- kept", "git restore -s HEAD~1 kept", "find -L links -delete", "git stash -a"},
	} {
		for _, c := range commands {
			if got := decideIn(t, w, c, policy.Bypass, "deny:Edit(**/*.key)", "Bash"); got.Effect != want && !(want == policy.Allow && got.Check == policy.CheckRemoval) {
				t.Errorf("%q: %s (%s: %s), want %s", c, got.Effect, got.Check, got.Reason, want)
			}
		}
	}
	for _, c := range []string{"rm -rf build", "mv build lib", "find build -delete"} {
		if got := decideIn(t, none, c, policy.Bypass, "deny:Edit(**/*.key)", "Bash"); got.Effect != policy.Ask || got.Check != policy.CheckRule && got.Check != policy.CheckRemoval {
			t.Errorf("too much to look at: %q: %s (%s: %s)", c, got.Effect, got.Check, got.Reason)
		}
		if got := decideIn(t, none, c, policy.Bypass, "deny:Edit(build/**)", "Bash"); got.Effect != policy.Deny {
			t.Errorf("all of a folder that is too much to look at: %q: %s (%s: %s)", c, got.Effect, got.Check, got.Reason)
		}
	}
}
