package worktree

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/disk/lock"
	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Kept is the error of a removal that would lose work. Nothing was removed.
type Kept struct {
	Name, Path, Branch string
	Work
}

func (k *Kept) Error() string {
	if k.Locked != "" {
		return fmt.Sprintf("the worktree %s is locked (git worktree lock): %s", k.Name, k.Locked)
	}
	return fmt.Sprintf("the worktree %s has work that would be lost: %s", k.Name, k.Says())
}

// Hint implements hint.Hinter.
func (k *Kept) Hint() string {
	switch {
	case k.Locked != "":
		return "git worktree unlock " + hint.Shell(k.Path) + ", then remove it again"
	case k.Commits == 0 && len(k.Files) == 0 && k.Left > 0:
		return "git -C " + hint.Shell(k.Path) + " reflog shows them; or lose them: adze worktree clean --discard " + hint.Shell(k.Name)
	}
	return "commit it, and merge or push " + k.Branch + "; or lose it: adze worktree clean --discard " + hint.Shell(k.Name)
}

// Remove takes a worktree away with its branch. Where work would be lost the error is a
// *Kept, unless discard is set, which only a person may decide. It returns what was in it.
func (r *Repo) Remove(ctx context.Context, name string, discard bool) (Work, error) {
	if err := checkName(name); err != nil {
		return Work{}, err
	}
	h, err := r.hold(name)
	if err != nil {
		return Work{}, err
	}
	if h.Version == 0 {
		h.release()
		return Work{}, &hint.Mistake{Why: fmt.Sprintf("adze made no worktree %s here", name), What: "adze worktree list shows them"}
	}
	return r.remove(ctx, h, discard)
}

// Remove takes the worktree away, as Repo.Remove; one that stays is left for others.
func (t *Tree) Remove(ctx context.Context, discard bool) (Work, error) {
	t.still()
	return t.repo.remove(ctx, t.held, discard)
}

// remove takes away what a record is of, and releases it.
func (r *Repo) remove(ctx context.Context, h *held, discard bool) (Work, error) {
	alone, err := r.alone()
	if err != nil {
		h.release()
		return Work{}, err
	}
	defer alone.Close()
	done, err := r.finish(ctx, h)
	if done || err != nil {
		if !done {
			h.release()
		}
		return Work{}, err
	}
	w, err := r.look(ctx, h.record)
	if err == nil && (w.Locked != "" || !w.Clean() && !discard) {
		err = &Kept{Name: h.Name, Path: h.Path, Branch: h.Branch, Work: w}
	}
	if err == nil {
		err = r.take(ctx, h, w)
	}
	if err != nil {
		h.release()
		return w, err
	}
	return w, nil
}

// alone waits until no other process takes a worktree of the repository away, until its
// file is closed. Two that have the same commit would each be looked at beside the other.
func (r *Repo) alone() (*os.File, error) {
	d, err := os.Open(r.store)
	if err != nil {
		return nil, err
	}
	if err := lock.Exclusive(d, true); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		_ = d.Close()
		return nil, fmt.Errorf("lock %s: %w", r.store, err)
	}
	return d, nil
}

// finish does what a crash kept from being done: done says that nothing is left of the
// worktree, and its record is gone. A worktree that is ready stays as it is.
func (r *Repo) finish(ctx context.Context, h *held) (done bool, err error) {
	switch {
	case h.Gone != "":
		in, err := folder(h.Main)
		if err != nil {
			return false, err
		}
		_, err = in.Lstat(h.Gone)
		_ = in.Close()
		if err == nil || r.verify(h.record) != nil { // it has its new name, or is gone
			w, err := r.look(ctx, h.record)
			if err != nil || w.Commits > 0 {
				w = Work{} // its branch stays
			}
			err = r.bury(ctx, h, w)
			return err == nil, err
		}
		h.Gone = ""
		return false, h.save()
	case h.Ready:
		if err := r.verify(h.record); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, hint.With(err, "look what is there; adze takes it neither for its own nor away")
		}
		return false, r.settle(ctx, h)
	}
	err = r.unmake(ctx, h)
	return err == nil, err
}

// unmake takes away what was made of a worktree that is not ready: nobody worked there. What
// stands there and is of somebody else stays, with the record.
func (r *Repo) unmake(ctx context.Context, h *held) error {
	if h.Git == "" && h.identify() != nil {
		in, err := folder(h.Main)
		if err != nil {
			return err
		}
		defer in.Close()
		if err := in.Remove(h.Name); err != nil && !errors.Is(err, fs.ErrNotExist) { // only an empty one
			return fmt.Errorf("%s: %w", h.Path, paths.Cause(err))
		}
		if h.Git, err = r.unclaimed(h.Path); err != nil {
			return err
		}
	}
	if r.verify(h.record) == nil {
		if out, err := r.git(ctx, h.Path, "--no-optional-locks", "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"); err == nil {
			for _, e := range split(out) { // what git had not checked out yet looks deleted
				if len(e) > 3 && strings.Trim(e[:2], " D") != "" {
					return &Kept{Name: h.Name, Path: h.Path, Branch: h.Branch, Work: Work{Files: []string{e[3:]}}}
				}
			}
		}
	}
	tip, _ := r.bare(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+h.Branch)
	w := Work{tip: strings.TrimSpace(tip)}
	if w.tip != h.begin() { // it is not as git made it
		w.tip = ""
	}
	return r.take(ctx, h, w)
}

// unclaimed is the git folder of a worktree at a path, where git made only that; "" for none.
func (r *Repo) unclaimed(path string) (string, error) {
	at := filepath.Join(r.Common, "worktrees")
	list, err := os.ReadDir(at)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	for _, e := range list {
		git := filepath.Join(at, e.Name())
		text, err := os.ReadFile(filepath.Join(git, "gitdir"))
		back := strings.TrimSpace(string(text))
		if !filepath.IsAbs(back) { // since git 2.48
			back = filepath.Join(git, back)
		}
		if err == nil && back == filepath.Join(path, ".git") {
			return git, nil
		}
	}
	return "", err
}

// take takes a worktree away: first its folder gets another name, so that a crash leaves
// nothing that somebody could take for a worktree.
func (r *Repo) take(ctx context.Context, h *held, w Work) error {
	in, err := folder(h.Main)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := r.verify(h.record); err == nil {
		h.Gone = ".gone-" + h.Name + "-" + rand.Text()[:6]
		if err := h.save(); err != nil {
			return err
		}
		if err := in.Rename(h.Name, h.Gone); err != nil {
			h.Gone = ""
			return errors.Join(fmt.Errorf("take %s away: %w", h.Path, paths.Cause(err)), h.save())
		}
	}
	return r.bury(ctx, h, w)
}

// bury removes what a worktree leaves: its folder under the new name, its git folder, its
// branch where that is still at the commit that was looked at, and its record.
func (r *Repo) bury(ctx context.Context, h *held, w Work) error {
	in, err := folder(h.Main)
	if err != nil {
		return err
	}
	defer in.Close()
	if h.Gone != "" {
		if err := removeAll(in, h.Gone); err != nil {
			return fmt.Errorf("remove %s: %w", filepath.Join(filepath.Dir(h.Path), h.Gone), paths.Cause(err))
		}
	}
	if err := r.forgetGit(h); err != nil {
		return err
	}
	if w.tip != "" && !r.checkedOut(h.Branch) {
		if _, err := r.bare(ctx, "update-ref", "-d", "refs/heads/"+h.Branch, w.tip); err != nil {
			return fmt.Errorf("remove the branch %s: %w", h.Branch, err)
		}
		_, _ = r.bare(ctx, "config", "--local", "--remove-section", "branch."+h.Branch) // most have none
	}
	return h.forget()
}

// checkedOut reports whether a checkout is on a branch.
func (r *Repo) checkedOut(branch string) bool {
	heads, _ := filepath.Glob(filepath.Join(r.Common, "worktrees", "*", "HEAD")) // the pattern is well-formed
	for _, head := range append(heads, filepath.Join(r.Common, "HEAD")) {
		text, err := os.ReadFile(head)
		if err == nil && strings.TrimSpace(string(text)) == "ref: refs/heads/"+branch {
			return true
		}
	}
	return false
}

// forgetGit removes the git folder of a worktree, when it says that it is that of this
// worktree. Others are left alone, also those that git would prune.
func (r *Repo) forgetGit(h *held) error {
	if h.Git == "" || filepath.Dir(h.Git) != filepath.Join(r.Common, "worktrees") {
		return nil
	}
	if now, err := r.unclaimed(h.Path); err != nil || now != h.Git {
		return err
	}
	all, err := pin.Dir(filepath.Dir(h.Git))
	if err != nil {
		return fmt.Errorf("open %s: %w", filepath.Dir(h.Git), paths.Cause(err))
	}
	err = removeAll(all, filepath.Base(h.Git))
	_ = all.Close()
	if err != nil {
		return fmt.Errorf("remove %s: %w", h.Git, paths.Cause(err))
	}
	_ = os.Remove(filepath.Dir(h.Git)) // as git does, when it was the last one
	return nil
}

// removeAll removes a folder with all that is in it, and follows no link.
func removeAll(in *os.Root, name string) error {
	if in.RemoveAll(name) == nil {
		return nil
	}
	safe.Unlock(in, name)
	return in.RemoveAll(name) // says what was wrong
}
