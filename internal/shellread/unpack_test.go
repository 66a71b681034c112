package shellread_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// TestUnpacksElsewhere: a folder that may be written is as good as the one that the command
// runs in, with the same names refused.
func TestUnpacksElsewhere(t *testing.T) {
	f := newFixture()
	f.mkdir("/home/u/more")
	w := f.world()
	w.Dir, w.Dirs = "/home/u/project/src", []string{"/home/u/project", "/home/u/more"}
	rules := policy.Rules{Dir: "/home/u/project", Dirs: w.Dirs, Home: "/home/u"}
	for program := range strings.FieldsSeq("tar unzip patch") {
		rules.List = append(rules.List, policy.Rule{Tool: "Bash", Spec: program + ":*", Effect: policy.Allow, Scope: policy.CLI})
	}
	deny := rules
	deny.List = append(deny.List[:len(deny.List):len(deny.List)], policy.Rule{Tool: "Edit", Spec: "//home/u/more/**", Effect: policy.Deny, Scope: policy.CLI})
	for command, want := range map[string]policy.Effect{
		"tar xf ../a.tar -C /home/u/more": policy.Allow, "tar xf ../a.tar -C ../sub": policy.Allow, "tar -C /home/u/more -xf ../a.tar": policy.Allow, "unzip ../a.zip -d /home/u/more": policy.Allow,
		"tar xf ../evil.tar -C /home/u/more": policy.Ask, "tar xf ../up.tar -C /home/u/more": policy.Ask, "tar xf ../a.tar -C /home/u/less": policy.Ask, "unzip ../a.zip -d /home/u": policy.Ask, "7z x ../a.7z -o/home/u/more": policy.Ask,
	} {
		req := policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions}
		if v := policy.Decide(rules, policy.Default, req); v.Effect != want {
			t.Errorf("%q: %s (%s), want %s", command, v.Effect, v.Reason, want)
		}
		if v := policy.Decide(deny, policy.Default, req); strings.Contains(command, "more") && v.Effect == policy.Allow {
			t.Errorf("%q with a rule that denies edits there: %s (%s)", command, v.Effect, v.Reason)
		}
	}
}

// TestUnpacks: under a rule for what unpacks or patches, the names in the archive or the
// patch decide, and what nobody can look into is more than the rule says.
func TestUnpacks(t *testing.T) {
	f := newFixture()
	w := f.world()
	w.Text = func(file string) (string, bool) {
		text, ok := map[string]string{
			"p.diff": "--- a/src/a.go\n+++ b/src/a.go\n@@ -1 +1 @@\n", "evil.diff": "--- /dev/null\n+++ b/.envrc\n@@ -0,0 +1 @@\n+x\n",
			"quoted.diff": "diff --git \"a/\\056envrc\" \"b/\\056envrc\"\nnew file mode 100644\n", "moved.diff": "diff --git a/x b/.vscode/tasks.json\nrename from x\nrename to .vscode/tasks.json\n", "none.diff": "x\n", "up.diff": "--- ../x\n+++ ../x\n",
		}[path.Base(file)]
		return text, ok
	}
	w.Changed = func(dir, from, to string) ([]string, bool) {
		files, ok := map[string][]string{
			"HEAD plain": {"/home/u/project/src/a.go"}, "HEAD evil": {"/home/u/project/.envrc"}, "evil^ evil": {"/home/u/project/.vscode/tasks.json"}, "plain^ plain": {"/home/u/project/src/a.go"},
			"HEAD stash@{0}": {"/home/u/project/src/a.go"}, "HEAD stash@{1}": {"/home/u/project/src/a.go"}, " stash@{1}^3": {"/home/u/project/.envrc"}, "HEAD ": {"/home/u/project/src/a.go"}, "ORIG_HEAD ": {"/home/u/project/.envrc"}, "HEAD... ORIG_HEAD": {"/home/u/project/.envrc"}, "HEAD @{upstream}": {"/home/u/project/.husky/pre-commit"}, "plain evil": {"/home/u/project/.envrc"},
		}[from+" "+to]
		return files, ok
	}
	w.Bisected = func(dir string, commits []string) ([]string, bool) {
		if slices.Contains(commits, "evil") {
			return []string{"/home/u/project/.envrc"}, true
		}
		return []string{"/home/u/project/src/a.go"}, true
	}
	rules := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u"}
	for program := range strings.FieldsSeq("tar unzip patch git bsdtar 7z cpio curl cat") {
		rules.List = append(rules.List, policy.Rule{Tool: "Bash", Spec: program + ":*", Effect: policy.Allow, Scope: policy.CLI})
	}
	for want, commands := range map[policy.Effect]string{
		policy.Allow: `
			tar xf a.tar
			tar -xzvf a.tar
			tar --extract --file=a.tar --directory src
			tar xf a.tar -C src --strip-components=1
			tar cf out.tar src
			tar tf evil.tar
			unzip a.zip
			unzip -oq a.zip -d src
			unzip -l evil.zip
			patch -p1 < p.diff
			patch -p1 -i p.diff
			git apply p.diff
			git apply --check evil.diff
			git am p.diff
			git am --continue
			git merge plain
			git merge --abort
			git stash
			git bisect start plain
			git bisect log
			git merge --no-ff -m 'from evil' plain
			git merge --abort
			git cherry-pick plain
			git cherry-pick -x plain
			git rebase plain
			git stash
			git stash pop
			git checkout plain
			git checkout -b evil2
			git switch plain
			git reset plain
			7z l a.7z`,
		policy.Ask: `
			tar xf evil.tar
			tar -x -f evil.tar
			tar xf rc.tgz --strip-components=1
			tar xf up.tar
			tar xf rc.tgz -C src --exclude .envrc
			tar xf none.tar
			tar xPf a.tar
			tar -xPf a.tar
			tar --extract -P -f a.tar
			tar xf a.tar --absolute-names
			tar xf a.tar --transform s,.*,/home/u/.profile,
			tar xf a.tar --xform s,x,y,
			tar xf a.tar -C ..
			tar xf a.tar -C /home/u
			tar xf a.tar -C "$x"
			tar xf "$x"
			tar xf a.tar --one-top-level=../x
			tar xf a.tar -h
			tar x
			cat a.tar | tar x
			curl https://x | tar xz
			curl -o a.tar https://x; tar xf a.tar
			bsdtar -xf evil.tar
			unzip evil.zip
			unzip a.zip -d ..
			unzip a.zip -d /home/u
			unzip -: a.zip
			unzip evil.tar
			7z x a.7z
			cpio -i < a.cpio
			patch -p1 < evil.diff
			patch -p0 -i quoted.diff
			patch -p1 -d .. < p.diff
			patch < none.diff
			cat p.diff | patch -p1
			patch -p1 < up.diff
			git apply evil.diff
			git apply quoted.diff
			git apply moved.diff
			git apply --directory=.vscode p.diff
			git am evil.diff
			git am < "$x"
			git merge
			git merge evil
			git merge nobody
			git merge "$x"
			git merge --squash plain evil
			git cherry-pick evil
			git cherry-pick -n plain..evil
			git revert evil
			git rebase evil
			git stash apply 'stash@{1}'
			git bisect start evil plain
			git bisect bad evil
			git rebase --abort
			git stash -u
			git rebase --continue
			git am --abort
			git checkout evil
			git switch --detach evil
			git reset --keep evil`,
	} {
		for command := range strings.Lines(commands) {
			if command = strings.TrimSpace(command); command == "" {
				continue
			}
			if v := policy.Decide(rules, policy.Default, policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions}); v.Effect != want {
				t.Errorf("%q: %s (%s: %s), want %s", command, v.Effect, v.Check, v.Reason, want)
			}
		}
	}
}
