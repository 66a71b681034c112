package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/inode"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// A State is how a worktree is, as far as its record says.
type State string

// States.
const (
	Ready      State = "ready"
	InUseNow   State = "in use"
	Unfinished State = "unfinished" // a crash left it while it was made, or taken away
	Missing    State = "missing"    // somebody else took its folder away
	Strange    State = "strange"    // what stands there is not what adze made
)

// An Info is a worktree for people and programs.
type Info struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"`
	Branch  string    `json:"branch"`
	State   State     `json:"state"`
	PID     int       `json:"pid,omitempty"` // of who uses it
	Why     string    `json:"why,omitempty"` // of a state that is not ready
	For     string    `json:"for,omitempty"`
	Made    time.Time `json:"made"`
	Carried bool      `json:"carried,omitempty"` // it began with what was not committed
	Work
}

// Work is what is in a worktree and would be lost with it.
type Work struct {
	Files   []string `json:"files"`          // that differ from the commit, or that git does not know
	Commits int      `json:"commits"`        // that no other branch, no tag and no remote has
	Ahead   int      `json:"ahead"`          // commits since it was made
	Left    int      `json:"left,omitempty"` // commits that reset or checkout left there, and that nothing has but its reflog
	Busy    string   `json:"busy,omitempty"` // what git is in the middle of
	// Locked is the reason for which a person locked it (git worktree lock).
	Locked string `json:"locked,omitempty"`
	head   string
	tip    string // of its branch, "" for none
}

// Clean reports whether nothing would be lost.
func (w Work) Clean() bool {
	return len(w.Files) == 0 && w.Commits == 0 && w.Left == 0 && w.Busy == "" && w.Locked == ""
}

// Says is what would be lost, in words.
func (w Work) Says() string {
	var parts []string
	if n := len(w.Files); n > 0 {
		parts = append(parts, clip.Count(n, "file")+" not committed ("+clip.Line(clip.Visible(strings.Join(w.Files, ", ")), 200)+")")
	}
	if w.Commits > 0 {
		parts = append(parts, clip.Count(w.Commits, "commit")+" that no other branch and no remote has")
	}
	if w.Left > 0 {
		parts = append(parts, clip.Count(w.Left, "commit")+" that reset or checkout left, and that only its reflog has")
	}
	if w.Busy != "" {
		parts = append(parts, "an unfinished "+w.Busy)
	}
	if w.Locked != "" {
		parts = append(parts, "the lock of a person ("+w.Locked+")")
	}
	return strings.Join(parts, ", ")
}

// List are the worktrees of the repository that adze made, the oldest first.
func (r *Repo) List(ctx context.Context) ([]Info, error) {
	names, err := r.Names()
	out := []Info{}
	for _, name := range names {
		c, bad := read(filepath.Join(r.store, name))
		if bad == nil && c.Version == 0 {
			continue // it is just being begun
		}
		i := Info{Name: name, Path: at(r.main, name), State: Strange}
		if bad != nil {
			i.Why = bad.Error()
		} else {
			i = r.info(ctx, c)
		}
		out = append(out, i)
	}
	order.By(out, func(a, b Info) int { return a.Made.Compare(b.Made) })
	return out, err
}

// info looks at a worktree, which others may use meanwhile.
func (r *Repo) info(ctx context.Context, c record) Info {
	i := Info{Name: c.Name, Path: c.Path, Branch: c.Branch, State: Ready, For: c.For, Made: c.Made, Carried: c.Carried != "", Work: Work{Files: []string{}}}
	if by, ok := r.user(c.Name); ok {
		i.State, i.PID = InUseNow, by
	}
	err := r.verify(c)
	switch {
	case i.State == InUseNow && !c.Ready:
		return i
	case c.Gone != "" || !c.Ready:
		i.State, i.Why = Unfinished, "adze was ended while it made this, or took it away"
		return i
	case c.Trying || c.Moving != nil:
		i.State, i.Why = Unfinished, "adze was ended while it merged this"
		return i
	case errors.Is(err, fs.ErrNotExist):
		i.State, i.Why = Missing, "its folder is not there any more"
	case err != nil:
		i.State, i.Why = Strange, err.Error()
		return i
	}
	w, err := r.look(ctx, c)
	if err != nil {
		i.State, i.Why = Strange, err.Error()
		return i
	}
	i.Work = w
	return i
}

// user is the process that uses a worktree.
func (r *Repo) user(name string) (pid int, ok bool) {
	dir, err := disk.Open(filepath.Join(r.store, name))
	if err != nil {
		return 0, false
	}
	defer dir.Close()
	by, held, err := lease.Look(dir, lease.ThisProcess())
	return by.PID, held && err == nil
}

// verify says why a path is not the worktree of a record, nil when it is. Where nothing is
// there, the error is fs.ErrNotExist.
func (r *Repo) verify(c record) error {
	if c.Path != at(c.Main, c.Name) || c.Common != r.Common || filepath.Dir(c.Git) != filepath.Join(r.Common, "worktrees") {
		return fmt.Errorf("the record of %s is about another place", c.Name)
	}
	root, err := pin.Dir(c.Path) // no link leads there
	if err != nil {
		return err
	}
	defer root.Close()
	if id, err := inode.Of(root); err != nil || id != c.ID {
		return errors.Join(err, fmt.Errorf("%s is another folder than adze made", c.Path))
	}
	if info, err := root.Lstat(".git"); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s has no .git of a worktree", c.Path)
	}
	repo, err := conf.In(c.Path)
	if err != nil {
		return err
	}
	if repo.GitDir != c.Git || repo.Common != c.Common || !repo.Claimed() {
		return fmt.Errorf("the .git of %s leads elsewhere than adze made it", c.Path)
	}
	return nil
}

// maxSeen bounds the commits and files that are counted and named.
const maxSeen = 10_000

// look finds out what is in a worktree, or what is left of one whose folder is gone.
func (r *Repo) look(ctx context.Context, c record) (w Work, err error) {
	w.Files = []string{}
	ids, err := r.heads(ctx, c, &w)
	if err != nil || len(ids) == 0 {
		return w, err
	}
	if _, err := os.Lstat(c.Path); err == nil {
		if ok, why := conf.Safe(c.Path); !ok {
			return w, fmt.Errorf("git is not run in %s: %s", c.Path, why)
		}
		if w.Files, err = r.files(ctx, c.Path); err != nil {
			return w, err
		}
	} else if _, err := os.Lstat(c.Git); c.Git != "" && err == nil { // somebody moved it: what was staged is in its git folder alone
		out, err := r.with(ctx, r.Common, []string{"GIT_DIR=" + c.Git}, "", "diff-index", "--cached", "--name-only", "-z", "--ignore-submodules=none", "HEAD", "--")
		if err != nil {
			return w, fmt.Errorf("look at what is staged in %s: %w", c.Name, err)
		}
		w.Files = append(w.Files, split(out)...)
	}
	if err := r.strays(ctx, strayed{c.Path, c.Git, []string{filepath.Join(r.Common, "modules")}}, &w, 0); err != nil {
		return w, err
	}
	w.Busy = busy(c.Git)
	known := []string{"--not", "--single-worktree", "--exclude=refs/heads/" + c.Branch, "--all", c.begin()} // else its own HEAD were among all
	n, err := r.count(ctx, append(ids, known...)...)
	if err != nil {
		return w, err
	}
	w.Commits += n // beside those of submodules
	if left, err := r.left(ctx, c); err != nil {
		return w, err
	} else if len(left) > 0 {
		if w.Left, err = r.count(ctx, append(append(left, known...), ids...)...); err != nil {
			return w, err
		}
	}
	w.Locked = locked(c.Git)
	w.Ahead, err = r.count(ctx, w.head, "--not", c.begin())
	return w, err
}

// heads are the commits that only the worktree may have: of its HEAD, its branch, and what
// git keeps for it alone.
func (r *Repo) heads(ctx context.Context, c record, w *Work) (ids []string, err error) {
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	w.tip, _ = r.bare(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+c.Branch) // somebody may have removed it
	w.tip = strings.TrimSpace(w.tip)
	add(w.tip)
	w.head = w.tip
	if _, err := os.Lstat(c.Git); c.Git != "" && err == nil {
		env := []string{"GIT_DIR=" + c.Git}
		head, err := r.with(ctx, r.Common, env, "", "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
		if err != nil {
			return nil, fmt.Errorf("look at the commits of %s: %w", c.Name, err)
		}
		w.head = strings.TrimSpace(head)
		add(w.head)
		own, err := r.with(ctx, r.Common, env, "", "for-each-ref", "--format=%(objectname)", "refs/worktree", "refs/bisect", "refs/rewritten")
		if err != nil {
			return nil, err
		}
		for id := range strings.FieldsSeq(own) {
			add(id)
		}
		for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"} {
			id, _ := r.with(ctx, r.Common, env, "", "rev-parse", "--verify", "--quiet", name+"^{commit}")
			add(strings.TrimSpace(id))
		}
	}
	return ids, nil
}

// left are the commits that somebody went away from in the worktree, with reset or checkout:
// what its reflog says. What amend and rebase replaced is not among them, nor a commit
// whose files are those of the commit that is checked out.
func (r *Repo) left(ctx context.Context, c record) (ids []string, err error) {
	text, err := regular.Read(filepath.Join(c.Git, "logs", "HEAD"), maxReflog)
	if c.Git == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the reflog of %s: %w", c.Name, err)
	}
	env := []string{"GIT_DIR=" + c.Git}
	now, err := r.with(ctx, r.Common, env, "", "rev-parse", "--verify", "--quiet", "HEAD^{tree}")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		who, why, _ := strings.Cut(line, "\t")
		old, _, _ := strings.Cut(who, " ")
		if !strings.HasPrefix(why, "reset:") && !strings.HasPrefix(why, "checkout:") || strings.Trim(old, "0") == "" || slices.Contains(ids, old) {
			continue
		}
		tree, err := r.with(ctx, r.Common, env, "", "rev-parse", "--verify", "--quiet", old+"^{tree}")
		if err == nil && tree != now { // git may have forgotten an old one
			ids = append(ids, old)
		}
	}
	return ids, nil
}

// maxReflog bounds a reflog, in bytes.
const maxReflog = 4 << 20

// locked is the reason of a lock of git's, "" for no lock.
func locked(git string) string {
	text, err := regular.Read(filepath.Join(git, "locked"), 4096)
	if git == "" || err != nil {
		return ""
	}
	return cmp.Or(clip.Line(clip.Visible(strings.TrimSpace(string(text))), 200), "no reason is given")
}

// bare runs git on the shared git folder, whatever is checked out.
func (r *Repo) bare(ctx context.Context, args ...string) (string, error) {
	return r.with(ctx, r.Common, []string{"GIT_DIR=" + r.Common}, "", args...)
}

func (r *Repo) count(ctx context.Context, args ...string) (int, error) {
	out, err := r.bare(ctx, append([]string{"rev-list", "--count", fmt.Sprint("--max-count=", maxSeen)}, args...)...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// files are those of a checkout that differ from its commit, and those that git does not
// know and does not ignore.
func (r *Repo) files(ctx context.Context, top string) ([]string, error) {
	out, err := r.git(ctx, top, "--no-optional-locks", "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none")
	if err != nil {
		return nil, err
	}
	files := []string{}
	for _, e := range split(out) {
		if len(e) > 3 && len(files) < maxSeen {
			files = append(files, e[3:])
		}
	}
	hidden, err := r.hidden(ctx, top)
	for _, name := range hidden {
		if !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	return files, err
}

// hidden are files of a checkout that differ, and that git was told not to look at
// (assume-unchanged, skip-worktree). What its index knows of them may be old, so that their
// texts are compared.
func (r *Repo) hidden(ctx context.Context, top string) (out []string, err error) {
	flags, err := r.git(ctx, top, "ls-files", "-v", "-z")
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, e := range split(flags) {
		flag, name, _ := strings.Cut(e, " ")
		if flag != "S" && flag == strings.ToUpper(flag) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(name))); err == nil && !info.IsDir() {
			named[name] = true
		}
	}
	if len(named) == 0 {
		return nil, nil
	}
	staged, err := r.git(ctx, top, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	var in strings.Builder
	for _, e := range split(staged) {
		if _, name, _ := strings.Cut(e, "\t"); named[name] {
			in.WriteString(e + "\x00")
		}
	}
	scratch, err := os.MkdirTemp(r.store, ".look-")
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", top, err)
	}
	defer os.RemoveAll(scratch)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(scratch, "index")}
	if _, err := r.with(ctx, top, env, in.String(), "update-index", "-z", "--index-info"); err != nil {
		return nil, err
	}
	_, _ = r.with(ctx, top, env, "", "update-index", "-q", "--refresh") // its error says that files differ
	differ, err := r.with(ctx, top, env, "", "diff-files", "--name-only", "-z")
	return split(differ), err
}

// operations are the files of a git folder that say what git is in the middle of.
var operations = [][2]string{
	{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}, {"BISECT_LOG", "bisect"}, {"sequencer", "sequence of commits"},
}

// busy is what git is in the middle of in a git folder, "" for nothing.
func busy(git string) string {
	for _, o := range operations {
		if _, err := os.Lstat(filepath.Join(git, o[0])); err == nil {
			return o[1]
		}
	}
	return ""
}
