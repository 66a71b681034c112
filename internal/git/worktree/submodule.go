package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/git/conf"
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
		if staged, err := r.git(ctx, top, "ls-files", "--stage", "--", filepath.ToSlash(m.path)); err != nil || git == "" || !strings.HasPrefix(staged, "160000 ") {
			if err != nil {
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

// submodules adds to the work of a worktree the commits of its submodules that neither a
// remote nor the checkout has. Their files are among those of the worktree.
func (r *Repo) submodules(ctx context.Context, c record, w *Work) error {
	return r.strays(ctx, c.Path, c.Git, []string{filepath.Join(r.Common, "modules")}, w, 0)
}

func (r *Repo) strays(ctx context.Context, top, git string, others []string, w *Work, depth int) error {
	list, err := r.modules(ctx, top)
	if err != nil || depth == maxNested {
		return err
	}
	for _, m := range list {
		own := filepath.Join(git, "modules", filepath.FromSlash(m.name))
		if !conf.IsGitDir(own) {
			continue
		}
		env := []string{"GIT_DIR=" + own}
		out, err := r.with(ctx, r.Common, env, "", "rev-list", fmt.Sprint("--max-count=", maxSeen), "HEAD", "--branches", "--tags", "--not", "--remotes")
		if err != nil {
			return fmt.Errorf("look at the submodule %s: %w", m.path, err)
		}
		var theirs []string
		for _, o := range others {
			theirs = append(theirs, filepath.Join(o, filepath.FromSlash(m.name)))
		}
		for id := range strings.FieldsSeq(out) {
			known := false
			for _, o := range theirs {
				if _, err := r.with(ctx, r.Common, []string{"GIT_DIR=" + o}, "", "cat-file", "-e", id+"^{commit}"); err == nil {
					known = true
				}
			}
			if !known {
				w.Commits++
			}
		}
		var nested []string
		for _, o := range theirs {
			nested = append(nested, filepath.Join(o, "modules"))
		}
		if err := r.strays(ctx, filepath.Join(top, m.path), own, nested, w, depth+1); err != nil {
			return err
		}
	}
	return nil
}
