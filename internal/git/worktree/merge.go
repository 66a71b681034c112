package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A Merge says how the work of a worktree is brought to the checkout.
type Merge struct {
	// Commit has the work as a merge commit; else it is rebased on what the checkout has.
	Commit bool
	// Check looks at the result in its folder before the checkout moves; nil: nobody does. Its
	// error says what is wrong, and keeps the checkout as it is.
	Check func(ctx context.Context, dir string) error
}

// A Merged is work that was brought over.
type Merged struct {
	Name    string   `json:"name"`
	Branch  string   `json:"branch"`
	Into    string   `json:"into"`    // the branch of the checkout
	Commits int      `json:"commits"` // 0: it had them all
	Notes   []string `json:"notes,omitempty"`
}

// Conflict is the error where the work and the checkout change the same lines. Both are as
// they were.
type Conflict struct {
	Name, Path, Into string
	Files            []string
	carried          string // what the work began with and is left out, "" for none
}

func (c *Conflict) Error() string {
	return fmt.Sprintf("the worktree %s and %s conflict in %s", c.Name, c.Into, list(c.Files))
}

// Hint implements hint.Hinter.
func (c *Conflict) Hint() string {
	onto := hint.Shell(c.Into)
	if c.carried != "" {
		onto = "--onto " + onto + " " + c.carried
	}
	return "git -C " + hint.Shell(c.Path) + " rebase " + onto + ", resolve them there and git rebase --continue, then adze worktree merge " + hint.Shell(c.Name)
}

// Overlap is the error where the work changes files that have something in the checkout which
// is not committed. Nothing was changed.
type Overlap struct {
	Name  string
	Files []string
}

func (o *Overlap) Error() string {
	return fmt.Sprintf("the work in %s changes files of the checkout that are not committed: %s", o.Name, list(o.Files))
}

// Hint implements hint.Hinter.
func (o *Overlap) Hint() string { return "commit them, or move them away, then merge again" }

// Red is the error of a check that the work did not pass. The checkout is as it was; the
// worktree has the result that was checked.
type Red struct {
	Name, Path string
	Err        error
}

func (r *Red) Error() string { return fmt.Sprintf("the check failed on %s: %v", r.Name, r.Err) }
func (r *Red) Unwrap() error { return r.Err }

// Hint implements hint.Hinter.
func (r *Red) Hint() string {
	return "the result is in " + r.Path + ": mend and commit it there, then merge again"
}

func list(files []string) string { return clip.Line(clip.Visible(strings.Join(files, ", ")), 400) }

// Merge brings the commits of a worktree to the branch of the checkout: it makes the result
// in the worktree, has it checked there, and moves the checkout to it, as a whole or not at
// all. What was carried along from the checkout is left out. Nobody may use the worktree.
// Wherever it is ended, the next call of anything on this worktree makes an end of it.
func (r *Repo) Merge(ctx context.Context, name string, m Merge) (Merged, error) {
	if err := checkName(name); err != nil {
		return Merged{}, err
	}
	h, err := r.hold(name)
	if err != nil {
		return Merged{}, err
	}
	if h.Version == 0 {
		h.release()
		return Merged{}, &hint.Mistake{Why: fmt.Sprintf("adze made no worktree %s here", name), What: "adze worktree list shows them"}
	}
	done, err := r.finish(ctx, h)
	if done {
		return Merged{}, &hint.Mistake{Why: fmt.Sprintf("the worktree %s was never finished, and is gone now", name), What: "adze worktree list shows them"}
	}
	defer h.release()
	if err != nil {
		return Merged{}, err
	}
	return r.merge(ctx, h, m)
}

// merge is Merge for a worktree that is held and whole.
func (r *Repo) merge(ctx context.Context, h *held, m Merge) (out Merged, err error) {
	out = Merged{Name: h.Name, Branch: h.Branch, Notes: []string{}}
	if err := r.verify(h.record); err != nil {
		return out, hint.With(fmt.Errorf("the worktree %s is not there: %w", h.Name, err), "git merge "+h.Branch+" brings over what is committed")
	}
	to, err := r.target(ctx, h)
	if err != nil {
		return out, err
	}
	out.Into = to.branch
	tip, err := r.finished(ctx, h)
	if err != nil {
		return out, err
	}
	if out.Commits, err = r.count(ctx, tip, "--not", to.head, h.begin()); err != nil || out.Commits == 0 {
		return out, err
	}
	if _, err := r.bare(ctx, "merge-base", to.head, tip); err != nil {
		return out, &hint.Mistake{Why: fmt.Sprintf("%s and %s have no commit in common", h.Branch, to.branch), What: "git log " + h.Branch + " shows what is in it; merge it by yourself"}
	}
	w := r.way(ctx, h, to, tip, m.Commit)
	if err := r.apartFrom(ctx, h.Name, w.base, tip); err != nil { // before work is done in vain
		return out, err
	}
	result, err := r.attempt(ctx, h, to, tip, w)
	if err != nil {
		return out, err
	}
	if err := r.apartFrom(ctx, h.Name, to.head, result); err != nil {
		return out, err
	}
	if m.Check != nil {
		if err := m.Check(ctx, h.Path); err != nil {
			if ctx.Err() != nil {
				return out, err
			}
			return out, &Red{Name: h.Name, Path: h.Path, Err: err}
		}
	}
	if now, err := r.target(ctx, h); err != nil || now != to {
		return out, errors.Join(err, &hint.Mistake{Why: fmt.Sprintf("the checkout moved to another commit or branch while %s was merged", h.Name), What: "merge again"})
	}
	if err := r.apartFrom(ctx, h.Name, to.head, result); err != nil { // the check may have taken long
		return out, err
	}
	notes, err := r.bringSubmodules(ctx, h, to.head, result)
	out.Notes = append(out.Notes, notes...)
	if err != nil {
		return out, err
	}
	return out, r.move(ctx, h, to, result)
}

// A target is where work is brought to.
type target struct{ branch, head string }

// target is the branch of the checkout, which must be one that can move.
func (r *Repo) target(ctx context.Context, h *held) (t target, err error) {
	if r.Top == h.Path {
		return t, &hint.Mistake{Why: "this is the worktree itself, and its work is brought to another checkout", What: "cd " + hint.Shell(h.Of)}
	}
	if what := busy(r.GitDir); what != "" {
		return t, &hint.Mistake{Why: fmt.Sprintf("%s is in the middle of a %s", r.Top, what), What: "finish that first: git status says how"}
	}
	name, err := r.git(ctx, r.Top, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil {
		return t, &hint.Mistake{Why: fmt.Sprintf("%s is on no branch, so that what is merged would be on none", r.Top), What: "git switch main, or the branch that is to have it"}
	}
	head, err := r.commit(ctx, r.Top, "HEAD")
	return target{strings.TrimSpace(name), head}, err
}

// finished is the commit of the worktree's branch, when all work is committed there.
func (r *Repo) finished(ctx context.Context, h *held) (tip string, err error) {
	if ok, why := conf.Safe(h.Path); !ok {
		return "", fmt.Errorf("git is not run in %s: %s", h.Path, why)
	}
	if what := busy(h.Git); what != "" {
		return "", &hint.Mistake{Why: fmt.Sprintf("the worktree %s is in the middle of a %s", h.Name, what), What: "finish that first: git -C " + hint.Shell(h.Path) + " status says how"}
	}
	on, _ := r.git(ctx, h.Path, "symbolic-ref", "--quiet", "HEAD") // fails where it is on none
	if on = strings.TrimSpace(on); on != "refs/heads/"+h.Branch {
		return "", &hint.Mistake{Why: fmt.Sprintf("the worktree %s is not on its branch %s", h.Name, h.Branch), What: "git -C " + hint.Shell(h.Path) + " switch " + h.Branch + ", or merge by yourself"}
	}
	files, err := r.files(ctx, h.Path)
	if err != nil {
		return "", err
	}
	if len(files) > 0 {
		return "", &hint.Mistake{Why: fmt.Sprintf("the worktree %s has work that is not committed: %s", h.Name, list(files)), What: "commit it there, then merge: git -C " + hint.Shell(h.Path) + " add -A, and git -C " + hint.Shell(h.Path) + " commit"}
	}
	return r.commit(ctx, h.Path, "refs/heads/"+h.Branch)
}

// apartFrom says which files that differ between two commits have something in the checkout
// that is not committed, or would be new where a file is that git ignores; nil for none.
func (r *Repo) apartFrom(ctx context.Context, name, from, to string) error {
	out, err := r.git(ctx, r.Top, "diff", "--name-status", "--no-renames", "-z", "--ignore-submodules=none", "--no-ext-diff", from, to)
	if err != nil {
		return err
	}
	dirty, err := r.files(ctx, r.Top)
	if err != nil {
		return err
	}
	parts, over := split(out), []string{}
	for i := 0; i+1 < len(parts); i += 2 {
		kind, file := parts[i], parts[i+1]
		switch {
		case slices.ContainsFunc(dirty, func(d string) bool { return holds(d, file) || holds(file, d) }):
			over = append(over, file)
		case kind == "A" && r.inTheWay(ctx, file):
			over = append(over, file)
		}
	}
	if len(over) > 0 {
		return &Overlap{Name: name, Files: over}
	}
	return nil
}

// inTheWay reports whether something is where a new file belongs that git does not have: also
// a file or a link in the place of a folder above it.
func (r *Repo) inTheWay(ctx context.Context, file string) bool {
	for at, below := file, false; at != "."; at, below = path.Dir(at), true {
		info, err := os.Lstat(filepath.Join(r.Top, filepath.FromSlash(at)))
		if err != nil || below && info.IsDir() {
			continue
		}
		out, err := r.git(ctx, r.Top, "ls-files", "-z", "--", ":(literal)"+at)
		return err != nil || out == ""
	}
	return false
}

// holds reports whether a path of git's is another one, or is below it.
func holds(path, other string) bool {
	path, other = strings.TrimSuffix(path, "/"), strings.TrimSuffix(other, "/")
	return path == other || strings.HasPrefix(path, other+"/")
}

// own are settings of merges that adze makes, so that they are the same everywhere.
var own = []string{"-c", "commit.gpgSign=false", "-c", "rerere.enabled=false", "-c", "rebase.autoStash=false", "-c", "rebase.updateRefs=false", "-c", "merge.autoStash=false", "-c", "advice.mergeConflict=false"}

// A way is how a result is made.
type way struct {
	base   string // where the work began
	onto   string // what it is replayed on, "" where it stays as it is
	not    string // the commits that are left out: this one and what leads to it
	commit bool   // it becomes a merge commit then
}

// way is how the work of a worktree is brought to a target. What was carried along, and what
// the work was begun on and the target does not have, is left out.
func (r *Repo) way(ctx context.Context, h *held, to target, tip string, commit bool) way {
	leads := func(from, to string) bool {
		_, err := r.bare(ctx, "merge-base", "--is-ancestor", from, to)
		return err == nil
	}
	w := way{base: h.begin(), onto: to.head, not: to.head, commit: commit}
	switch {
	case h.Carried != "" && leads(h.Carried, tip):
		w.not = h.Carried
	case leads(h.Start, tip) && !leads(h.Start, to.head):
		w.base, w.not = h.Start, h.Start
	default:
		merges, err := r.count(ctx, "--merges", tip, "--not", to.head)
		if w.base = to.head; err == nil && (commit || merges > 0) {
			w.onto, w.commit = "", true // a replay would lose what merges resolved
		}
		if leads(to.head, tip) {
			w.onto, w.commit = "", commit
		}
		if base, err := r.bare(ctx, "merge-base", to.head, tip); err == nil {
			w.base = strings.TrimSpace(base)
		}
	}
	return w
}

// attempt makes the result in the worktree, whose branch then has it. On a conflict all is
// as it was.
func (r *Repo) attempt(ctx context.Context, h *held, to target, tip string, w way) (result string, err error) {
	h.Trying = true
	if err := h.save(); err != nil {
		return "", err
	}
	defer func() {
		back := context.WithoutCancel(ctx) // git's own bound ends it
		if err != nil {
			err = errors.Join(err, r.giveUp(back, h, ""))
		}
	}()
	quiet := []string{"GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true"}
	do := func(args ...string) error {
		_, err := r.with(ctx, h.Path, quiet, "", append(slices.Clone(own), args...)...)
		if err == nil || ctx.Err() != nil {
			return err
		}
		open, lerr := r.git(ctx, h.Path, "diff", "--name-only", "--diff-filter=U", "-z")
		if files := split(open); lerr == nil && len(files) > 0 {
			return &Conflict{Name: h.Name, Path: h.Path, Into: to.branch, Files: files, carried: h.Carried}
		}
		return err
	}
	if err := do("checkout", "-q", "--detach"); err != nil {
		return "", err
	}
	if w.onto != "" {
		if err := do("rebase", "-q", "--no-fork-point", "--onto", w.onto, w.not); err != nil {
			return "", err
		}
	}
	if w.commit {
		work, err := r.commit(ctx, h.Path, "HEAD")
		if err != nil {
			return "", err
		}
		if err := errors.Join(do("checkout", "-q", "--detach", to.head), do("merge", "-q", "--no-ff", "-m", "Merge "+h.Branch, work)); err != nil {
			return "", err
		}
	}
	if result, err = r.commit(ctx, h.Path, "HEAD"); err != nil {
		return "", err
	}
	if err := r.fillSubmodules(ctx, h.Path, []string{filepath.Join(r.GitDir, "modules"), filepath.Join(r.Common, "modules")}, 0); err != nil {
		return "", err
	}
	if _, err := r.bare(ctx, "update-ref", "-m", "adze: on "+to.branch, "refs/heads/"+h.Branch, result, tip); err != nil {
		return "", err
	}
	if _, err := r.git(ctx, h.Path, "symbolic-ref", "HEAD", "refs/heads/"+h.Branch); err != nil {
		return "", err
	}
	h.Trying, h.Carried, h.Start = false, "", to.head
	return result, h.save()
}

// giveUp has the worktree on its branch again, when an attempt did not come to its end. left,
// when it is not "", is the branch for files that are not committed: somebody may have worked
// there after a crash.
func (r *Repo) giveUp(ctx context.Context, h *held, left string) error {
	if left != "" {
		files, err := r.files(ctx, h.Path)
		if err != nil {
			return err
		}
		if len(files) > 0 {
			head, err := r.commit(ctx, h.Path, "HEAD")
			if err != nil {
				return err
			}
			id, err := r.snapshot(ctx, h.Path, h.Git, h.path, head, "What was not committed when a merge was ended.\n")
			if err != nil {
				return err
			}
			if id != "" {
				if _, err := r.bare(ctx, "update-ref", "refs/heads/"+left, id); err != nil {
					return err
				}
			}
		}
	}
	_ = os.Remove(filepath.Join(h.Git, "index.lock")) // of a git that was killed: nobody else works there
	_, _ = r.git(ctx, h.Path, "rebase", "--quit")     // there may be none, and no merge
	_, _ = r.git(ctx, h.Path, "merge", "--quit")
	if _, err := r.git(ctx, h.Path, "reset", "-q", "--hard"); err != nil {
		return fmt.Errorf("take the merge in %s back: %w", h.Path, err)
	}
	if _, err := r.git(ctx, h.Path, "checkout", "-q", h.Branch); err != nil {
		return fmt.Errorf("take the merge in %s back: %w", h.Path, err)
	}
	h.Trying = false
	return h.save()
}

// settle makes an end of a merge that a crash left.
func (r *Repo) settle(ctx context.Context, h *held) error {
	if h.Moving != nil {
		if err := r.settleMove(ctx, h); err != nil {
			return err
		}
	}
	if !h.Trying {
		return nil
	}
	if err := r.verify(h.record); errors.Is(err, fs.ErrNotExist) {
		h.Trying = false
		return h.save()
	}
	return r.giveUp(ctx, h, h.Branch+"-left-"+strings.ToLower(NewName()))
}
