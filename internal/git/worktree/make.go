package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/inode"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A Tree is a worktree that this process works in. Nobody else does until Close.
type Tree struct {
	Path   string
	Branch string // without refs/heads/
	Git    string // its own git folder
	Common string
	Of     string   // the top of the checkout that it was made of
	Fresh  bool     // it was made now
	Notes  []string // what of the settings could not be had

	repo *Repo
	held *held
	stop chan struct{} // ends the touching of the lease
	over chan struct{}
}

// Make makes a worktree, or opens the one that adze made with this name; "" is a new name.
// who says for people what it is for.
func (r *Repo) Make(ctx context.Context, name, who string) (*Tree, error) {
	if name == "" {
		name = NewName()
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	h, err := r.hold(name)
	if err != nil {
		return nil, err
	}
	if h.Version > 0 {
		done, err := r.finish(ctx, h)
		if err == nil && !done {
			err = r.verify(h.record)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // somebody took its folder away
			if _, err := r.remove(ctx, h, false); err != nil {
				return nil, err
			}
		case err != nil:
			h.release()
			return nil, err
		case !done:
			return r.enter(h, false, nil), nil
		}
		if h, err = r.hold(name); err != nil { // what was left of it is gone
			return nil, err
		}
	}
	notes, err := r.make(ctx, h, name, who)
	if err != nil {
		undo, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute) // nobody has worked in it
		defer stop()
		if h.Version == 0 {
			h.release()
		} else if lost := r.unmake(undo, h); lost != nil {
			h.release()
			err = hint.With(fmt.Errorf("%w; what was made of it is left: %w", err, lost), "adze worktree clean "+hint.Shell(name))
		}
		return nil, err
	}
	return r.enter(h, true, notes), nil
}

// enter is the worktree of a record that is ready.
func (r *Repo) enter(h *held, fresh bool, notes []string) *Tree {
	t := &Tree{Path: h.Path, Branch: h.Branch, Git: h.Git, Common: h.Common, Of: h.Of, Fresh: fresh, Notes: notes, repo: r, held: h, stop: make(chan struct{}), over: make(chan struct{})}
	go t.refresh() // ends with Close
	return t
}

// refresh shows other machines that somebody works there.
func (t *Tree) refresh() {
	defer close(t.over)
	tick := time.NewTicker(lease.Refresh)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = t.held.lease.Refresh() // one that is lost is no longer ours to touch
		case <-t.stop:
			return
		}
	}
}

// Name is what people call it.
func (t *Tree) Name() string { return t.held.Name }

// Close leaves the worktree as it is, for whoever comes next.
func (t *Tree) Close() {
	t.still()
	t.held.release()
}

func (t *Tree) still() {
	close(t.stop)
	<-t.over
}

// make makes the worktree of a record that is not written yet. What it leaves when it
// fails is what the record says.
func (r *Repo) make(ctx context.Context, h *held, name, who string) (notes []string, err error) {
	path, branch := at(r.main, name), Prefix+name
	in, err := folder(r.main)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if _, err := in.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil, &hint.Mistake{Why: fmt.Sprintf("%s is there, and adze did not make it", path), What: "take another name, or move it away"}
	}
	if _, err := r.commit(ctx, r.Top, "refs/heads/"+branch); err == nil {
		return nil, &hint.Mistake{Why: fmt.Sprintf("there is a branch %s already", branch), What: "take another name; git branch -d " + branch + " removes it, where its commits are elsewhere"}
	}
	if _, err := r.commit(ctx, r.Top, "refs/heads/"+strings.TrimSuffix(Prefix, "/")); err == nil {
		return nil, &hint.Mistake{Why: fmt.Sprintf("the branch %s is in the way of branches %s…", strings.TrimSuffix(Prefix, "/"), Prefix), What: "rename it: git branch -m " + strings.TrimSuffix(Prefix, "/") + " OTHER"}
	}
	start, err := r.base(ctx)
	if err != nil {
		return nil, err
	}
	h.record = record{Name: name, Path: path, Main: r.main, Of: r.Top, Common: r.Common, Branch: branch, Start: start, Made: time.Now().UTC().Truncate(time.Second), For: clip.Line(who, 100)}
	if r.Uncommitted {
		if h.Carried, err = r.carry(ctx, h.path, start); err != nil {
			return nil, err
		}
	}
	if err := h.save(); err != nil {
		return nil, err
	}
	args := []string{"worktree", "add", "--no-track", "-b", branch}
	if len(r.Sparse) > 0 {
		args = append(args, "--no-checkout")
	}
	if _, err := r.git(ctx, r.Top, append(args, path, h.begin())...); err != nil {
		return nil, fmt.Errorf("make a worktree: %w", err)
	}
	if err := h.identify(); err != nil {
		return nil, err
	}
	if err := h.save(); err != nil {
		return nil, err
	}
	if notes, err = r.fill(ctx, h); err != nil {
		return nil, err
	}
	h.Ready = true
	return notes, h.save()
}

// identify notes which folder git has made, and which its git folder is.
func (h *held) identify() error {
	repo, err := conf.In(h.Path)
	if err == nil && (!repo.Claimed() || repo.Common != h.Common || repo.GitDir == repo.Common) {
		err = errors.New("it is not one of this repository's worktrees")
	}
	if err != nil {
		return fmt.Errorf("look at the worktree %s: %w", h.Path, err)
	}
	h.Git = repo.GitDir
	h.ID, err = inode.At(h.Path)
	return err
}

// carry makes a commit of what is not committed in the checkout, and returns its ID; "" when
// there is nothing. It changes neither the checkout nor its index. No branch has the commit.
func (r *Repo) carry(ctx context.Context, scratch, start string) (string, error) {
	head, err := r.commit(ctx, r.Top, "HEAD")
	if err != nil {
		return "", err
	}
	if head != start {
		return "", &hint.Mistake{Why: "worktree.uncommitted takes along what is not committed on HEAD, and worktree.base_ref names another commit", What: "set only one of them"}
	}
	if open, err := r.git(ctx, r.Top, "ls-files", "--unmerged"); err != nil || open != "" {
		return "", errors.Join(err, &hint.Mistake{Why: "the checkout has conflicts that are not resolved, so that what is not committed cannot be taken along", What: "resolve them, or set worktree.uncommitted to false"})
	}
	return r.snapshot(ctx, r.Top, r.GitDir, scratch, head, "What was not committed when this worktree was made. It is left out of a merge.\n")
}

// snapshot makes a commit on head of what is not committed in a checkout, and returns its ID; ""
// when there is nothing. git is the checkout's own git folder, and scratch is for files.
func (r *Repo) snapshot(ctx context.Context, top, git, scratch, head, message string) (string, error) {
	index := filepath.Join(scratch, "index")
	defer os.Remove(index)
	if err := copyIndex(git, index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look at what is not committed: %w", err)
	}
	env := []string{"GIT_INDEX_FILE=" + index}
	if _, err := r.with(ctx, top, env, "", "add", "--all"); err != nil {
		return "", fmt.Errorf("look at what is not committed: %w", err)
	}
	tree, err := r.with(ctx, top, env, "", "write-tree")
	if err != nil {
		return "", err
	}
	was, err := r.git(ctx, top, "rev-parse", "--verify", head+"^{tree}")
	if err != nil || tree == was {
		return "", err
	}
	who := []string{"GIT_AUTHOR_NAME=adze", "GIT_AUTHOR_EMAIL=adze@localhost", "GIT_COMMITTER_NAME=adze", "GIT_COMMITTER_EMAIL=adze@localhost"}
	out, err := r.with(ctx, top, who, message, "commit-tree", "-p", head, strings.TrimSpace(tree))
	return strings.TrimSpace(out), err
}

// copyIndex copies the index of a git folder. The copy is as old as it: by that git knows which
// files may have been changed after it was written.
func copyIndex(git, to string) error {
	from := filepath.Join(git, "index")
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, text, 0o600), os.Chtimes(to, time.Time{}, info.ModTime()))
}
