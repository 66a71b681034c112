//go:build unix

package worktree_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/git/worktree"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/text/hint"
)

// histories is how many random histories ./test long makes. Every other run makes a part.
const histories = 100

var historySeed = flag.Uint64("historyseed", 29, "which random histories are made")

// Whatever a person's repository is like and whatever is done in a worktree: adze makes it,
// is killed, cleans up, and the person merges, and no commit and no file is lost or changed
// that is not the worktree's own. It is compared with a picture taken before each step.
func TestRandomHistories(t *testing.T) {
	for n := range histories {
		name := fmt.Sprintf("history %d", n)
		if !slowtest.OneOf(8, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &history{rig: begun(t), rnd: rand.New(rand.NewPCG(uint64(n), *historySeed))}
			defer func() {
				if t.Failed() {
					t.Logf("what was done:\n%s", strings.Join(h.told, "\n"))
				}
			}()
			h.person()
			h.live()
		})
	}
}

// A history is a person's repository and what becomes of it.
type history struct {
	*rig
	rnd   *rand.Rand
	told  []string
	edit  func(*worktree.Config)
	links bool
	sub   bool
	other []string // folders beside the repository that are the person's
	n     int      // of names and texts
}

func (h *history) say(format string, args ...any) {
	h.told = append(h.told, fmt.Sprintf(format, args...))
}
func (h *history) one(of int) bool           { return h.rnd.IntN(of) == 0 }
func (h *history) beside(name string) string { return filepath.Join(filepath.Dir(h.top), name) }

// fresh is a text that nothing else has.
func (h *history) fresh() string { h.n++; return fmt.Sprintf("text %d\n", h.n) }

// names are files that histories change.
var names = []string{"a.txt", "dir/b.txt", "dir/deep/c.txt", "with blank.txt", "ä\u0308.txt"}

func (h *history) name() string { return names[h.rnd.IntN(len(names))] }

// nothing is the object of an empty file.
const nothing = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// lib is the submodule of a checkout.
const lib = "deep/lib"

// An act is something that somebody does in a checkout.
type act struct {
	name string
	do   func(h *history, top string)
}

// some does n random acts. Git may refuse one: that is a history, too.
func (h *history) some(n int, top string, acts []act) {
	for range n {
		a := acts[h.rnd.IntN(len(acts))]
		h.say("%s: %s", filepath.Base(top), a.name)
		a.do(h, top)
	}
}

// maybe runs git, which may refuse.
func (h *history) maybe(dir string, args ...string) { _, _ = h.try(dir, args...) }

func (h *history) write(path, text string) {
	if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
		_ = os.WriteFile(path, []byte(text), 0o644) // a folder may be in the way, or a submodule gone
	}
}

var commits = []act{
	{"a commit", func(h *history, top string) {
		h.write(filepath.Join(top, h.name()), h.fresh())
		h.maybe(top, "add", "-A")
		h.maybe(top, "commit", "-q", "-m", h.fresh())
	}},
	{"a renamed file", func(h *history, top string) {
		h.maybe(top, "mv", h.name(), fmt.Sprintf("renamed%d", h.rnd.IntN(9)))
		h.maybe(top, "commit", "-q", "-m", h.fresh())
	}},
	{"a removed file", func(h *history, top string) {
		h.maybe(top, "rm", "-q", h.name())
		h.maybe(top, "commit", "-q", "-m", h.fresh())
	}},
	{"an empty commit", func(h *history, top string) { h.maybe(top, "commit", "-q", "--allow-empty", "-m", h.fresh()) }},
	{"a commit in the submodule", func(h *history, top string) {
		if in := filepath.Join(top, lib); h.sub && h.exists(filepath.Join(in, ".git")) {
			h.write(filepath.Join(in, "file"), h.fresh())
			h.maybe(in, "commit", "-q", "-a", "-m", h.fresh())
			if h.one(2) {
				h.maybe(top, "commit", "-q", "-a", "-m", h.fresh())
			}
		}
	}},
}

var loose = []act{
	{"a changed file", func(h *history, top string) { h.write(filepath.Join(top, h.name()), h.fresh()) }},
	{"a staged file", func(h *history, top string) {
		name := h.name()
		h.write(filepath.Join(top, name), h.fresh())
		h.maybe(top, "add", "--", name)
		if h.one(2) {
			h.write(filepath.Join(top, name), h.fresh())
		}
	}},
	{"a new file", func(h *history, top string) {
		h.write(filepath.Join(top, fmt.Sprintf("new%d/x", h.rnd.IntN(9))), h.fresh())
	}},
	{"a file that git ignores", func(h *history, top string) { h.write(filepath.Join(top, "x.o"), h.fresh()) }},
	{"a file that is to be", func(h *history, top string) {
		h.write(filepath.Join(top, "soon"), h.fresh())
		h.maybe(top, "add", "-N", "soon")
	}},
	{"a link", func(h *history, top string) { _ = os.Symlink("a.txt", filepath.Join(top, "link")) }},
	{"a mode", func(h *history, top string) { _ = os.Chmod(filepath.Join(top, h.name()), 0o755) }},
	{"a file of the submodule", func(h *history, top string) {
		if in := filepath.Join(top, lib); h.sub && h.exists(filepath.Join(in, ".git")) {
			h.write(filepath.Join(in, "new"), h.fresh())
		}
	}},
	{"a changed file that git is told not to look at", func(h *history, top string) {
		name := h.name()
		h.maybe(top, "update-index", []string{"--assume-unchanged", "--skip-worktree"}[h.rnd.IntN(2)], name)
		h.write(filepath.Join(top, name), h.fresh())
	}},
	{"a stash", func(h *history, top string) { h.maybe(top, "stash", "push", "-q", "-u", "-m", h.fresh()) }},
	{"another HEAD", func(h *history, top string) { h.maybe(top, "checkout", "-q", "--detach") }},
	{"a merge that conflicts", func(h *history, top string) {
		h.maybe(top, "branch", "-f", "theirs", "HEAD")
		h.maybe(top, "commit", "-q", "-a", "-m", h.fresh())
		id, err := h.try(top, "commit-tree", "-p", "theirs", "-m", "theirs", "theirs^{tree}")
		if err == nil && h.one(2) {
			h.maybe(top, "merge", "-q", "--no-commit", "--no-ff", id)
		}
	}},
	{"a branch", func(h *history, top string) { h.maybe(top, "branch", fmt.Sprintf("b%d", h.rnd.IntN(9))) }},
}

// person makes a repository as people have it.
func (h *history) person() {
	if h.one(3) {
		h.sub = true
		far := h.beside("lib")
		h.git(h.home, "init", "-q", far)
		h.put(filepath.Join(far, "file"), "of the library\n")
		h.commit(far, "library")
		h.git(h.top, "submodule", "--quiet", "add", far, lib)
		h.commit(h.top, "with a library")
		h.other = append(h.other, far)
		h.say("repo: a submodule")
	}
	h.some(1+h.rnd.IntN(4), h.top, commits)
	if h.one(2) {
		far := h.beside("far.git")
		h.git(h.home, "clone", "-q", "--bare", h.top, far)
		h.git(h.top, "remote", "add", "origin", far)
		h.git(h.top, "fetch", "-q")
		h.maybe(h.top, "remote", "set-head", "origin", "main")
		h.other = append(h.other, far)
		h.say("repo: a remote")
	}
	h.some(h.rnd.IntN(3), h.top, commits)
	if h.one(2) {
		mine := h.beside("mine")
		h.git(h.top, "worktree", "add", "-q", "-b", "mine", mine)
		h.some(h.rnd.IntN(3), mine, slices.Concat(commits, loose))
		if h.one(3) { // on a disk that is not there now: git would prune it
			if err := os.Rename(mine, mine+" away"); err != nil {
				h.Fatal(err)
			}
			mine += " away"
		}
		h.other = append(h.other, mine)
		h.say("repo: a worktree of the person's")
	}
	if h.one(4) {
		h.git(h.top, "pack-refs", "--all")
		h.say("repo: packed")
	}
	h.some(h.rnd.IntN(5), h.top, loose)
	h.put(h.at("node_modules/x/index.js"), h.fresh())
	h.put(h.at(".env"), h.fresh())
	base, uncommitted := []string{"", "", "fresh", "main"}[h.rnd.IntN(4)], h.one(3)
	var sparse, links []string
	if h.one(4) {
		sparse = []string{"dir"}
	}
	if h.one(3) {
		links, h.links = []string{"node_modules"}, true
	}
	if h.one(3) {
		h.put(h.at(".worktreeinclude"), ".env\n")
	}
	h.say("settings: base %q, uncommitted %t, sparse %q, links %q", base, uncommitted, sparse, links)
	h.edit = func(c *worktree.Config) { c.Base, c.Uncommitted, c.Sparse, c.Links = base, uncommitted, sparse, links }
}

// live is the way of a worktree, with a kill at a random place of each step.
func (h *history) live() {
	before := h.whole()
	h.kill("make")
	h.same(before, "a worktree was made")
	tree, err := h.open(h.edit).Make(h.Context(), "one", "a test")
	h.same(before, "a worktree was made again")
	if err != nil {
		if hint.Of(err) == "" {
			h.Errorf("not made, without a way on: %v", err)
		}
		h.say("not made: %v", err)
		h.clean()
		h.same(before, "a worktree that was not made was cleaned up")
		return
	}
	tree.Close()
	began := h.work(tree.Path)
	h.some(h.rnd.IntN(5), tree.Path, slices.Concat(commits, commits, loose, odd))
	h.some(h.rnd.IntN(3), h.top, slices.Concat(commits, loose))
	work := h.work(tree.Path)
	maps.DeleteFunc(work, func(what, text string) bool { return had(began, what, text) })
	before = h.whole()
	h.kill("remove")
	h.same(before, "a worktree was removed")
	h.kept(work, tree.Path)
	h.clean()
	h.same(before, "worktrees were cleaned up")
	h.kept(work, tree.Path)
	if !h.exists(tree.Path) {
		return
	}
	if h.one(2) {
		work = h.merged(tree.Path, began)
	} else { // the person does it
		h.maybe(h.top, "stash", "push", "-q", "-u")
		h.maybe(h.top, "merge", "-q", "-X", "ours", "-m", "merged", "adze/one")
		h.say("repo: a merge")
	}
	before = h.whole()
	h.kill("remove")
	h.clean()
	h.same(before, "worktrees were cleaned up after a merge")
	h.kept(work, tree.Path)
}

// had reports whether something was in the worktree from its beginning: the person has it, and
// what was carried along may go.
func had(began map[string]string, what, text string) bool {
	was, ok := began[what]
	return ok && was == text
}

// merged has adze merge the worktree, killed and not. The checkout is as it was, or at the
// result with all else as it was. It returns the work that is to be kept from then on.
func (h *history) merged(tree string, began map[string]string) map[string]string {
	if h.one(2) {
		h.say("one: all is committed")
		h.maybe(tree, "add", "-A")
		h.maybe(tree, "commit", "-q", "-m", h.fresh())
	}
	if h.one(2) {
		h.say("repo: on a branch")
		h.maybe(h.top, "checkout", "-q", "-B", "merging")
	}
	work := h.work(tree)
	maps.DeleteFunc(work, func(what, text string) bool { return had(began, what, text) })
	before, head := h.whole(), h.git(h.top, "rev-parse", "HEAD")
	h.kill([]string{"merge", "merge commit"}[h.rnd.IntN(2)])
	h.sameOrMoved(before, head)
	m, err := h.open(h.edit).Merge(h.Context(), "one", worktree.Merge{})
	h.say("adze: merge: %+v, %v", m, err)
	if err != nil && hint.Of(err) == "" {
		h.Errorf("not merged, without a way on: %v", err)
	}
	h.sameOrMoved(before, head)
	for what := range work { // what was rebased has other commits with the same files
		if strings.HasPrefix(what, "commit ") && h.git(h.top, "rev-parse", "HEAD") != head {
			delete(work, what)
		}
	}
	h.kept(work, tree)
	return work
}

// sameOrMoved is same, where the branch of the checkout may have moved on from head: then what
// it changes is as its commit has it.
func (h *history) sameOrMoved(before map[string]string, head string) {
	h.Helper()
	now := h.git(h.top, "rev-parse", "HEAD")
	if now == head {
		h.same(before, "a merge")
		return
	}
	h.git(h.top, "merge-base", "--is-ancestor", head, now)
	after := h.whole()
	changed := map[string]bool{}
	for name := range strings.SplitSeq(h.git(h.top, "diff", "--name-only", "-z", "--no-renames", head, now), "\x00") {
		changed["repo/"+name] = true
		info, err := os.Lstat(h.at(name))
		if name == "" || err == nil && !info.Mode().IsRegular() { // a submodule, or a link
			continue
		}
		want, none := h.try(h.top, "rev-parse", "--verify", "--quiet", now+":"+name)
		if (err == nil) != (none == nil) || err == nil && h.git(h.top, "hash-object", "--no-filters", h.at(name)) != want {
			h.Errorf("%s is not as the commit has it", name)
		}
	}
	for name, text := range before {
		switch {
		case changed[name], strings.HasPrefix(name, "repo/.git/"), name == "ref "+h.git(h.top, "symbolic-ref", "HEAD"):
		case after[name] != text:
			h.Errorf("after a merge, %s is %q, and was %q", name, after[name], text)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok && !changed[name] && !strings.HasPrefix(name, "object ") && !strings.HasPrefix(name, "repo/.git/") {
			h.Errorf("after a merge, there is %s", name)
		}
	}
}

// odd is what is done in worktrees and seldom elsewhere.
var odd = []act{
	{"the submodule is removed", func(h *history, top string) {
		h.maybe(top, "rm", "-q", "-f", lib)
		h.maybe(top, "commit", "-q", "-m", h.fresh())
	}},
	{"the submodule is moved", func(h *history, top string) {
		h.maybe(top, "mv", lib, "moved")
		h.maybe(top, "commit", "-q", "-m", h.fresh())
	}},
	{"a repository in it", func(h *history, top string) {
		in := filepath.Join(top, "inner")
		h.maybe(top, "init", "-q", in)
		h.write(filepath.Join(in, "x"), h.fresh())
		h.maybe(in, "add", "-A")
		h.maybe(in, "commit", "-q", "-m", h.fresh())
	}},
	{"another branch", func(h *history, top string) {
		h.maybe(top, "checkout", "-q", "-b", fmt.Sprintf("own%d", h.rnd.IntN(9)))
	}},
	{"back to the first commit", func(h *history, top string) { h.maybe(top, "reset", "-q", "--hard", "main") }},
	{"its folder is moved", func(h *history, top string) {
		to := h.beside("moved away")
		if os.Rename(top, to) == nil {
			h.other = append(h.other, to)
		}
	}},
	{"git moves it", func(h *history, top string) {
		to := h.beside("moved by git")
		h.maybe(top, "worktree", "move", top, to)
		if h.exists(to) {
			h.other = append(h.other, to)
		}
	}},
}

// kill has a process do something with the worktree, and kills it at a random call of git:
// before, after, or never.
func (h *history) kill(do string) {
	n, when := 1+h.rnd.IntN(16), []string{"before", "after", "never"}[h.rnd.IntN(3)]
	h.say("adze: %s, killed %s call %d", do, when, n)
	c := h.config()
	h.edit(&c)
	script, count := filepath.Join(h.home, "git"), filepath.Join(h.home, "count")
	_ = os.Remove(count)
	text := fmt.Sprintf("#!/bin/sh\nn=$(cat %[1]s 2>/dev/null || echo 0); n=$((n+1)); echo $n >%[1]s\n[ %[3]s$n = before%[2]d ] && { kill -9 $PPID; exit 1; }\n%[4]s \"$@\"; code=$?\n[ %[3]s$n = after%[2]d ] && kill -9 $PPID\nexit $code\n", count, n, when, h.program)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		h.Fatal(err)
	}
	c.Git = script
	config, err := json.Marshal(c)
	if err != nil {
		h.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WORKTREE_CONFIG="+string(config), "WORKTREE_DO="+do)
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		h.Fatal(err)
	}
}

// clean removes what may go. What stays has a reason.
func (h *history) clean() {
	repo := h.open(h.edit)
	list, err := repo.List(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	for _, i := range list {
		_, err := repo.Remove(h.Context(), i.Name, false)
		_, kept := errors.AsType[*worktree.Kept](err)
		h.say("adze: clean: %v", err)
		if err != nil && !kept && hint.Of(err) == "" {
			h.Errorf("%s is not removed, without a way on: %v", i.Name, err)
		}
	}
	if left, _ := filepath.Glob(h.at(".adze/worktrees/.gone*")); len(left) > 0 {
		h.Errorf("it left %q", left)
	}
}

// whole is all that is the person's: each file with its mode and text, but what git keeps in
// forms that may change; each reference; and each object.
func (h *history) whole() map[string]string {
	h.Helper()
	out := map[string]string{}
	for _, dir := range append([]string{h.top}, h.other...) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(filepath.Dir(h.top), path)
			switch in, _ := filepath.Rel(h.top, path); {
			case err != nil:
				return err
			case in == ".adze", d.IsDir() && (d.Name() == "objects" || in == ".git/refs" || in == ".git/logs/refs/heads/adze" || in == ".git/worktrees/one"):
				return filepath.SkipDir
			case d.IsDir() || in == ".git/packed-refs" || in == ".git/ORIG_HEAD" || in == ".git/info/exclude" && h.links:
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text := h.text(path)
			if d.Type()&fs.ModeSymlink != 0 {
				text, _ = os.Readlink(path)
			}
			out[rel] = info.Mode().String() + " " + text
			return nil
		})
		if err != nil {
			h.Fatal(err)
		}
	}
	for line := range strings.Lines(h.git(h.top, "for-each-ref", "--format=%(refname) %(objectname)")) {
		if name, id, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(name, "refs/heads/adze/") {
			out["ref "+name] = id
		}
	}
	for _, dir := range h.stores() {
		for id := range strings.FieldsSeq(h.git(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
			out["object "+filepath.Base(dir)+" "+id] = ""
		}
	}
	return out
}

// stores are the git folders whose objects are the person's.
func (h *history) stores() []string {
	out := []string{h.at(".git")}
	if at := h.at(".git/modules/" + lib); h.sub && h.exists(at) {
		out = append(out, at)
	}
	return out
}

// same reports what of the person's is not as it was. More objects are none of it.
func (h *history) same(before map[string]string, after string) {
	h.Helper()
	now := h.whole()
	for name, text := range before {
		if got, ok := now[name]; !ok || got != text {
			h.Errorf("after %s, %s is %q (there: %t), and was %q", after, name, got, ok, text)
		}
	}
	for name, text := range now {
		if _, ok := before[name]; !ok && !strings.HasPrefix(name, "object ") {
			h.Errorf("after %s, there is %s: %q", after, name, text)
		}
	}
}

// work is what is in a worktree: texts of its files that git does not ignore, by "file NAME",
// commits of its HEAD, its branch and its submodule, as "commit ID", and what is staged, as
// "object ID".
func (h *history) work(tree string) map[string]string {
	out := map[string]string{}
	for _, dir := range []string{tree, filepath.Join(tree, lib), filepath.Join(tree, "moved")} {
		if !h.exists(filepath.Join(dir, ".git")) {
			continue
		}
		list, err := h.try(dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		if err != nil {
			continue
		}
		for name := range strings.SplitSeq(list, "\x00") {
			path := filepath.Join(dir, name)
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
				rel, _ := filepath.Rel(tree, path)
				out["file "+rel] = h.text(path)
			}
		}
	}
	git := h.at(".git/worktrees/one")
	if staged, err := h.try(h.home, "--git-dir="+git, "ls-files", "--stage"); err == nil {
		for line := range strings.Lines(staged) {
			if f := strings.Fields(line); f[0] != "160000" && f[1] != nothing {
				out["object "+f[1]] = ""
			}
		}
	}
	for _, from := range []string{git, filepath.Join(git, "modules", lib)} {
		args := []string{"--git-dir=" + from, "--work-tree=" + h.home, "rev-list", "HEAD"}
		if from != git {
			args = append(args, "--branches")
		} else if _, err := h.try(h.top, "rev-parse", "--verify", "--quiet", "adze/one"); err == nil {
			args = append(args, "adze/one")
		}
		list, err := h.try(h.top, args...)
		if err != nil {
			continue // there is none
		}
		for id := range strings.FieldsSeq(list) {
			out["commit "+id] = ""
		}
	}
	return out
}

// kept reports work that is gone: neither in the worktree nor reachable in a repository.
func (h *history) kept(work map[string]string, tree string) {
	h.Helper()
	reached := map[string]bool{}
	for _, dir := range append(h.stores(), h.at(".git/worktrees/one"), h.at(".git/worktrees/one/modules/"+lib), h.beside("lib/.git"), h.beside("far.git")) {
		if !h.exists(dir) {
			continue
		}
		args := []string{"--work-tree=" + h.home, "--git-dir=" + dir, "rev-list", "--objects", "--all", "--indexed-objects"}
		if _, err := h.try(h.home, "--git-dir="+dir, "--work-tree="+h.home, "rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
			args = append(args, "HEAD")
		}
		for line := range strings.Lines(h.git(h.home, args...)) {
			id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			reached[id] = true
		}
	}
	for what, text := range work {
		kind, name, _ := strings.Cut(what, " ")
		if kind != "file" {
			if !reached[name] {
				h.Errorf("the %s %s is lost", kind, name)
			}
			continue
		}
		if h.text(filepath.Join(tree, name)) == text {
			continue
		}
		moved := false
		for _, dir := range h.other {
			moved = moved || h.text(filepath.Join(dir, name)) == text
		}
		if moved {
			continue
		}
		blob := filepath.Join(h.home, "blob")
		h.put(blob, text)
		if !reached[h.git(h.top, "hash-object", blob)] {
			h.Errorf("the file %s with %q is lost", name, text)
		}
	}
}
