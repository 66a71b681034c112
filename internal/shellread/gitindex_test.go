package shellread_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// git rm --cached takes files out of the index and leaves them where they are.
func TestGitRemovesFromTheIndexAlone(t *testing.T) {
	f := newFixture()
	f.files["/home/u/project/a.txt"] = true
	w := f.world()
	removes := func(command string) bool {
		for a := range policy.All(shellread.Read(command, w).Actions) {
			if w, ok := a.(policy.Write); ok && w.Remove {
				return true
			}
		}
		return false
	}
	for command, want := range map[string]bool{
		"git rm --cached a.txt": false, "git rm -r --cached .": false, "git rm --cached -- a.txt": false, "git rm -rf --cached -q a.txt": false,
		"git rm a.txt": true, "git rm -- a.txt --cached": true, "git rm --cached --no-cached a.txt": true, "git rm --cached $x a.txt": true, "git rm --cached --no-c a.txt": true,
	} {
		if got := removes(command); got != want {
			t.Errorf("%s: removes a file: %v, want %v", command, got, want)
		}
	}
}
