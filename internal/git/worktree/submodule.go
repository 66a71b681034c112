package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/text/paths"
)

// maxNested is how deep submodules have submodules.
const maxNested = 6

// A module is a submodule as .gitmodules names it.
type module struct{ name, path string }

// modules are those of a checkout.
func (r *Repo) modules(ctx context.Context, top string) (out []module, err error) {
	file := filepath.Join(top, ".gitmodules")
	if _, err := os.Lstat(file); err != nil {
		return nil, nil //nolint:nilerr // there are none
	}
	text, err := r.git(ctx, top, "config", "--file", file, "--null", "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		if bad, ok := errors.AsType[*Failed](err); ok && bad.Exit == 1 {
			return nil, nil // it names none
		}
		return nil, fmt.Errorf("read the submodules of %s: %w", top, err)
	}
	for _, e := range split(text) {
		key, path, _ := strings.Cut(e, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
		if path = slashed(path); path != "" && slashed(name) == name {
			out = append(out, module{name, filepath.FromSlash(path)})
		}
	}
	return out, nil
}

// fillSubmodules checks out the submodules of a worktree from the git folders that the
// checkout has of them, in one of these folders: nothing is fetched. One that is not there
// stays empty, as it is in the checkout.
func (r *Repo) fillSubmodules(ctx context.Context, top string, from []string, depth int) error {
	list, err := r.modules(ctx, top)
	if err != nil || depth == maxNested {
		return err
	}
	for _, m := range list {
		git := ""
		for _, f := range from {
			if at := filepath.Join(f, filepath.FromSlash(m.name)); git == "" && conf.IsGitDir(at) {
				git = at
			}
		}
		staged, err := r.git(ctx, top, "ls-files", "--stage", "--", filepath.ToSlash(m.path))
		if err != nil || git == "" || !strings.HasPrefix(staged, "160000 ") {
			if err != nil {
				return err
			}
			continue
		}
		if has, err := conf.In(filepath.Join(top, m.path)); err == nil && has.GitDir != git && conf.IsGitDir(has.GitDir) {
			if err := r.moveSubmodule(ctx, has.GitDir, git, filepath.Join(top, m.path), strings.Fields(staged)[1]); err != nil {
				return fmt.Errorf("check out the submodule %s: %w", m.path, err)
			}
			if err := r.fillSubmodules(ctx, filepath.Join(top, m.path), []string{filepath.Join(git, "modules")}, depth+1); err != nil {
				return err
			}
			continue
		}
		section := "submodule." + m.name + "."
		env := r.settings(section+"url", git, section+"active", "true", section+"update", "checkout", "protocol.file.allow", "always")
		if _, err := r.with(ctx, top, env, "", "submodule", "--quiet", "update", "--init", "--checkout", "--", filepath.ToSlash(m.path)); err != nil {
			return fmt.Errorf("check out the submodule %s: %w", m.path, err)
		}
		in := filepath.Join(top, m.path)
		if url, err := r.git(ctx, in, "config", "--file", filepath.Join(git, "config"), "--get", "remote.origin.url"); err == nil {
			if _, err := r.git(ctx, in, "remote", "set-url", "origin", strings.TrimSpace(url)); err != nil {
				return err
			}
		}
		if err := r.fillSubmodules(ctx, in, []string{filepath.Join(git, "modules")}, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// moveSubmodule has a submodule that is there be at a commit, which it gets from the checkout's
// git folder of it: a remote may not have it.
func (r *Repo) moveSubmodule(ctx context.Context, own, theirs, at, id string) error {
	if head, err := r.commit(ctx, at, "HEAD"); err == nil && head == id {
		return nil
	}
	if _, err := r.with(ctx, r.Common, r.elsewhere(own), "", "cat-file", "-e", id+"^{commit}"); err != nil {
		if err := r.copyCommit(ctx, theirs, own, id); err != nil {
			return err
		}
	}
	_, err := r.git(ctx, at, "checkout", "-q", "--detach", id)
	return err
}

// A strayed is where submodules of a checkout are that may have work.
type strayed struct {
	top    string   // of the checkout
	git    string   // its git folder, which has those of the submodules
	others []string // folders of git folders that other checkouts have of them
}

// strays adds to the work of a worktree what its submodules have: commits that neither a
// remote nor the checkout has, and files, where git does not name the submodule among those
// of the worktree. What git keeps of them counts, also of one that was removed from the files.
func (r *Repo) strays(ctx context.Context, at strayed, w *Work, depth int) error {
	own := filepath.Join(at.git, "modules")
	if depth == maxNested {
		return nil
	}
	return filepath.WalkDir(own, func(git string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || !d.IsDir():
			return err
		case git == own || !conf.IsGitDir(git):
			return nil
		}
		name, err := filepath.Rel(own, git)
		if err == nil {
			err = r.stray(ctx, at, name, git, w, depth)
		}
		if err != nil {
			return err
		}
		return fs.SkipDir
	})
}

// stray is strays for one submodule. The error is nil, or says what could not be looked at.
func (r *Repo) stray(ctx context.Context, at strayed, name, git string, w *Work, depth int) error {
	env := r.elsewhere(git)
	out, err := r.with(ctx, r.Common, env, "", "rev-list", fmt.Sprint("--max-count=", maxSeen), "HEAD", "--branches", "--tags", "--not", "--remotes", "--")
	if err != nil {
		return fmt.Errorf("look at the submodule %s: %w", name, err)
	}
	var theirs, nested []string
	for _, o := range at.others {
		theirs, nested = append(theirs, filepath.Join(o, name)), append(nested, filepath.Join(o, name, "modules"))
	}
	for id := range strings.FieldsSeq(out) {
		if !slices.ContainsFunc(theirs, func(o string) bool {
			_, err := r.with(ctx, r.Common, r.elsewhere(o), "", "cat-file", "-e", id+"^{commit}")
			return err == nil
		}) {
			w.Commits++
		}
	}
	set, err := r.with(ctx, r.Common, nil, "", "config", "--file", filepath.Join(git, "config"), "--get", "core.worktree")
	top := filepath.Join(git, filepath.FromSlash(strings.TrimSpace(set)))
	if err != nil || !paths.Within(at.top, top) {
		return nil //nolint:nilerr // it has no files in the worktree
	}
	if repo, err := conf.In(top); err != nil || repo.GitDir != git {
		return nil //nolint:nilerr // they are not there any more
	}
	if ok, why := conf.Safe(top); !ok {
		return fmt.Errorf("git is not run in %s: %s", top, why)
	}
	if in, err := filepath.Rel(at.top, top); err == nil && !slices.Contains(w.Files, filepath.ToSlash(in)) {
		files, err := r.files(ctx, top)
		if err != nil {
			return err
		}
		for _, f := range files {
			w.Files = append(w.Files, filepath.ToSlash(filepath.Join(in, filepath.FromSlash(f))))
		}
	}
	return r.strays(ctx, strayed{top, git, nested}, w, depth+1)
}
