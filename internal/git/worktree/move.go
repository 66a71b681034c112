package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A moving is a checkout on its way from one commit to another.
type moving struct {
	Top string `json:"top"`
	Git string `json:"git"` // its own git folder
	Old string `json:"old"`
	New string `json:"new"`
}

// move has the checkout go on to a commit that its own leads to. No file changes that is not
// as its commit has it: that was looked at, and git looks once more.
func (r *Repo) move(ctx context.Context, h *held, to target, result string) error {
	ctx = context.WithoutCancel(ctx) // once begun it is done, or taken back
	h.Moving = &moving{Top: r.Top, Git: r.GitDir, Old: to.head, New: result}
	if err := h.save(); err != nil {
		return err
	}
	_, err := r.with(ctx, r.Top, []string{"GIT_REFLOG_ACTION=adze worktree merge " + h.Name}, "", append(slices.Clone(own), "merge", "-q", "--ff-only", "--no-squash", "--commit", "--no-overwrite-ignore", "--no-stat", result)...)
	if now, herr := r.commit(ctx, r.Top, "HEAD"); err == nil && (herr != nil || now != result) {
		err = errors.New("git did not move it")
	}
	if err != nil {
		return errors.Join(hint.With(fmt.Errorf("move %s to the result: %w", r.Top, err), "git status there says what is in the way"), r.settleMove(ctx, h))
	}
	h.Moving = nil
	return h.save()
}

// settleMove makes an end of a move that did not come to its own: when the branch has not
// moved, each file that the move changes gets the text back that it had. A file that is
// neither as before nor as after stays, and is named.
func (r *Repo) settleMove(ctx context.Context, h *held) error {
	m := *h.Moving
	settled := func() error { h.Moving = nil; return h.save() }
	if repo, err := conf.In(m.Top); err != nil || repo.GitDir != m.Git {
		return settled() // that checkout is not there any more
	}
	head, err := r.commit(ctx, m.Top, "HEAD")
	if err != nil || head != m.Old {
		return errors.Join(err, settled())
	}
	if _, err := os.Lstat(filepath.Join(m.Git, "index.lock")); err == nil {
		return hint.With(fmt.Errorf("git was ended while it changed %s", m.Top), "when no git runs there: rm "+hint.Shell(filepath.Join(m.Git, "index.lock"))+", then adze worktree list")
	}
	out, err := r.git(ctx, m.Top, "diff", "--name-status", "--no-renames", "-z", "--ignore-submodules=all", "--no-ext-diff", m.Old, m.New)
	if err != nil {
		return err
	}
	before, err := r.differing(ctx, h, m, m.Old)
	if err != nil {
		return err
	}
	after, err := r.differing(ctx, h, m, m.New)
	if err != nil {
		return err
	}
	var strange, restore, all []string
	for parts := split(out); len(parts) > 1; parts = parts[2:] {
		kind, file := parts[0], parts[1]
		all = append(all, file)
		_, lerr := os.Lstat(filepath.Join(m.Top, filepath.FromSlash(file)))
		there := lerr == nil
		switch {
		case kind == "A" && !there, kind != "A" && there && !before[file]: // as before
		case kind != "A" && !there: // git had taken it away to write it anew
			restore = append(restore, file)
		case kind == "D" || after[file]:
			strange = append(strange, file)
		case kind == "A":
			if err := os.Remove(filepath.Join(m.Top, filepath.FromSlash(file))); err != nil {
				return err
			}
			for dir := filepath.Dir(filepath.FromSlash(file)); dir != "." && os.Remove(filepath.Join(m.Top, dir)) == nil; dir = filepath.Dir(dir) {
			}
		default:
			restore = append(restore, file)
		}
	}
	if len(all) > 0 {
		if _, err := r.with(ctx, m.Top, nil, strings.Join(all, "\x00")+"\x00", "reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
			return err
		}
	}
	if len(restore) > 0 {
		if _, err := r.with(ctx, m.Top, nil, strings.Join(restore, "\x00")+"\x00", "checkout-index", "-q", "-f", "-z", "--stdin"); err != nil {
			return err
		}
	}
	if len(strange) > 0 {
		return hint.With(fmt.Errorf("adze was ended while it moved %s, and these files are neither as before nor as after: %s", m.Top, list(strange)), "look at them; git restore FILE brings one back as it was, then adze worktree list")
	}
	return settled()
}

// differing are the files of a checkout that differ from a commit which has them.
func (r *Repo) differing(ctx context.Context, h *held, m moving, commit string) (map[string]bool, error) {
	index := filepath.Join(h.path, "index")
	defer os.Remove(index)
	env := []string{"GIT_INDEX_FILE=" + index}
	if _, err := r.with(ctx, m.Top, env, "", "read-tree", commit); err != nil {
		return nil, err
	}
	_, _ = r.with(ctx, m.Top, env, "", "update-index", "-q", "--refresh") // its error says that files differ
	out, err := r.with(ctx, m.Top, env, "", "diff-files", "--name-only", "-z", "--ignore-submodules=all")
	differ := map[string]bool{}
	for _, f := range split(out) {
		differ[f] = true
	}
	return differ, err
}

// bringSubmodules has the checkout's submodules have the commits that a result names, as a
// branch of the worktree's name there. notes say what is to be done by hand.
func (r *Repo) bringSubmodules(ctx context.Context, h *held, old, result string) (notes []string, err error) {
	out, err := r.git(ctx, r.Top, "diff", "--raw", "--no-renames", "-z", "--no-abbrev", "--ignore-submodules=none", "--no-ext-diff", old, result)
	if err != nil {
		return nil, err
	}
	mods, err := r.modules(ctx, h.Path)
	if err != nil {
		return nil, err
	}
	for parts := split(out); len(parts) > 1; parts = parts[2:] {
		f, file := strings.Fields(parts[0]), parts[1]
		if len(f) < 5 || f[1] != "160000" {
			continue
		}
		at := slices.IndexFunc(mods, func(m module) bool { return filepath.ToSlash(m.path) == file })
		if at < 0 {
			continue // a repository that .gitmodules does not name: git has nothing of it
		}
		id, name := f[3], filepath.FromSlash(mods[at].name)
		ours, theirs := filepath.Join(h.Git, "modules", name), filepath.Join(r.Common, "modules", name)
		notes = append(notes, fmt.Sprintf("the submodule %s is another commit now: git submodule update -- %s", file, hint.Shell(file)))
		if !conf.IsGitDir(ours) {
			continue
		}
		if shared, err := r.with(ctx, r.Common, r.elsewhere(ours), "", "for-each-ref", "--contains", id, "refs/remotes"); err == nil && shared != "" {
			continue // the checkout has it, or can fetch it
		}
		if !conf.IsGitDir(theirs) {
			return notes, &hint.Mistake{Why: fmt.Sprintf("the submodule %s is new, and no remote has its commit %s", file, id), What: "push it: git -C " + hint.Shell(filepath.Join(h.Path, mods[at].path)) + " push"}
		}
		if err := r.copyCommit(ctx, ours, theirs, id); err != nil {
			return notes, fmt.Errorf("bring the commits of the submodule %s: %w", file, err)
		}
		if _, err := r.with(ctx, r.Common, r.elsewhere(theirs), "", "update-ref", "refs/heads/"+h.Branch, id); err != nil {
			return notes, fmt.Errorf("bring the commits of the submodule %s: %w", file, err)
		}
	}
	return notes, nil
}

// elsewhere are variables with which git works on a git folder and on none of its files, which
// may be gone.
func (r *Repo) elsewhere(git string) []string {
	return []string{"GIT_WORK_TREE=" + r.Common, "GIT_DIR=" + git}
}

// copyCommit has a git folder have a commit of another one, with all that leads to it. No
// reference changes.
func (r *Repo) copyCommit(ctx context.Context, from, to, id string) error {
	pack, err := r.with(ctx, r.Common, r.elsewhere(from), id+"\n", "pack-objects", "-q", "--revs", "--stdout")
	if err != nil {
		return err
	}
	_, err = r.with(ctx, r.Common, r.elsewhere(to), pack, "unpack-objects", "-q")
	return err
}
