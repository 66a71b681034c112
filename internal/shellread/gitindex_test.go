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

// git branch -M drops another branch only where there may be one of that name.
func TestGitBranchIsRenamedFreely(t *testing.T) {
	f := newFixture()
	f.files["/home/u/project/.git/refs/heads/taken"] = true
	w := f.world()
	w.Repo = func(string) (string, string, bool) { return "/home/u/project/.git", "/home/u/project/.git", true }
	loses := func(command string) bool {
		for _, a := range shellread.Read(command, w).Actions {
			if e, ok := a.(policy.Exec); ok && e.Loses != "" {
				return true
			}
		}
		return false
	}
	for command, want := range map[string]bool{"git branch -M main": false, "git branch -M taken": true, "git branch -M other main": true, "git branch -M $x": true, "git branch -fM main": true} {
		if got := loses(command); got != want {
			t.Errorf("%s loses something: %v, want %v", command, got, want)
		}
	}
	f.files["/home/u/project/.git/packed-refs"] = true
	if !loses("git branch -M main") {
		t.Error("a packed branch may have the name")
	}
}
