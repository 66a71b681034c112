package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
)

// IncludeFile lists files that git ignores and that a worktree is to have, with patterns
// as in .gitignore.
const IncludeFile = ".worktreeinclude"

// Bounds of what is copied into a worktree.
const (
	maxCopied   = 5000
	maxBytes    = 1 << 30 // of all files together
	maxFile     = 64 << 20
	maxPatterns = 1 << 20 // bytes of IncludeFile
)

// fill puts into a worktree what git does not: what is checked out of it when that is not
// all, links, copies of ignored files, submodules. notes say what could not be had.
func (r *Repo) fill(ctx context.Context, h *held) (notes []string, err error) {
	if err := r.sparse(ctx, h); err != nil {
		return nil, err
	}
	from, err := pin.Dir(r.Top)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := pin.Dir(h.Path)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	note := func(format string, args ...any) {
		notes = append(notes, clip.VisibleText(fmt.Sprintf(format, args...)))
	}
	for _, text := range r.Links {
		if err := r.link(ctx, h, from, to, text); err != nil {
			note("%s is not linked into the worktree: %v", text, paths.Cause(err))
		}
	}
	if err := r.include(ctx, from, to, note); err != nil {
		return nil, err
	}
	err = r.fillSubmodules(ctx, h.Path, []string{filepath.Join(r.GitDir, "modules"), filepath.Join(r.Common, "modules")}, 0)
	return notes, err
}

// sparse checks out some folders, those above them without what else is in these, and the
// files of the top. Nothing of that is written into the settings of the repository: git's
// index says which files are not there.
func (r *Repo) sparse(ctx context.Context, h *held) error {
	if len(r.Sparse) == 0 {
		return nil
	}
	text := []byte("/*\n!/*/\n")
	seen := map[string]bool{}
	for _, dir := range r.Sparse {
		dir = slashed(dir)
		if dir == "" {
			continue
		}
		for above := path.Dir(dir); above != "."; above = path.Dir(above) {
			seen[above] = seen[above] || false
		}
		seen[dir] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(seen)) { // what is above comes first
		at := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
		text = append(text, "/"+at+"/\n"...)
		if !seen[dir] {
			text = append(text, "!/"+at+"/*/\n"...)
		}
	}
	info := filepath.Join(h.Git, "info")
	if err := os.MkdirAll(info, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(info, "sparse-checkout"), text, 0o644); err != nil {
		return err
	}
	if _, err := r.with(ctx, h.Path, r.settings("core.sparseCheckout", "true", "core.sparseCheckoutCone", "true"), "", "read-tree", "-m", "-u", "HEAD"); err != nil {
		return fmt.Errorf("check out %s: %w", strings.Join(r.Sparse, ", "), err)
	}
	return nil
}

// link makes a folder of a worktree a link to that of the checkout.
func (r *Repo) link(ctx context.Context, h *held, from, to *os.Root, text string) error {
	dir := slashed(text)
	if dir == "" {
		return errors.New("it is no folder below the top of the repository")
	}
	name := filepath.FromSlash(dir)
	if info, err := from.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil // there is nothing to share
	} else if err != nil || !info.IsDir() {
		return errors.Join(err, errors.New("it is no folder"))
	}
	if _, err := to.Lstat(name); err == nil {
		return nil // git has it
	}
	if ignored, err := r.ignored(ctx, r.Top, []string{dir}); err != nil || len(ignored) == 0 {
		return errors.Join(err, errors.New("git does not ignore it, so that the link would become a part of the work"))
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := to.Symlink(filepath.Join(r.Top, name), name); err != nil {
		return err
	}
	ignored, err := r.ignored(ctx, h.Path, []string{dir})
	if err == nil && len(ignored) == 0 { // "node_modules/" means folders, and a link is none
		err = confedit.HideFromGit(ctx, r.Common, dir)
	}
	if err != nil {
		return errors.Join(err, to.Remove(name))
	}
	return nil
}

// ignored are those of some paths that git ignores in a checkout.
func (r *Repo) ignored(ctx context.Context, top string, list []string) ([]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out, err := r.with(ctx, top, nil, strings.Join(list, "\x00")+"\x00", "check-ignore", "-z", "--stdin")
	if bad, ok := errors.AsType[*Failed](err); ok && bad.Exit == 1 { // none is
		return nil, nil
	}
	return split(out), err
}

// include copies files that git ignores: those that IncludeFile means, and those of Bring.
func (r *Repo) include(ctx context.Context, from, to *os.Root, note func(string, ...any)) error {
	var want []string
	text, err := regular.In(from, IncludeFile, os.O_RDONLY, 0)
	if err == nil {
		defer text.Close()
		info, err := text.Stat()
		if err == nil && info.Size() > maxPatterns {
			err = fmt.Errorf("it is larger than %d MiB", maxPatterns>>20)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", IncludeFile, err)
		}
		out, err := r.git(ctx, r.Top, "ls-files", "-z", "--others", "--ignored", "--exclude-from="+filepath.Join(r.Top, IncludeFile))
		if err != nil {
			return fmt.Errorf("read %s: %w", IncludeFile, err)
		}
		want = split(out)
	} else if !errors.Is(err, fs.ErrNotExist) {
		note("%s is not used: %v", IncludeFile, paths.Cause(err))
	}
	want, err = r.ignored(ctx, r.Top, append(want, r.Bring...))
	if err != nil {
		return err
	}
	n, bytes := 0, int64(0)
	for _, name := range want {
		name = filepath.FromSlash(name)
		if !filepath.IsLocal(name) || paths.Within(filepath.FromSlash(Folder), name) {
			continue
		}
		size, err := copyFile(from, to, name, maxBytes-bytes)
		if n, bytes = n+1, bytes+size; err != nil && !errors.Is(err, fs.ErrNotExist) {
			note("%s is not copied into the worktree: %v", name, paths.Cause(err))
		}
		if n == maxCopied {
			note("only %d files that git ignores are copied into the worktree", maxCopied)
			break
		}
	}
	return nil
}

// copyFile copies a regular file to the same path, where nothing is yet.
func copyFile(from, to *os.Root, name string, most int64) (int64, error) {
	in, err := regular.In(from, name, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		return 0, err
	case info.Size() > min(most, maxFile):
		return 0, fmt.Errorf("it has %s; at most %s are copied of one file, and %s of all", clip.Size(info.Size()), clip.Size(maxFile), clip.Size(maxBytes))
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFile))
	if err == nil {
		err = to.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err == nil {
		err = safe.Make(to, safe.File{Name: name, Text: text, Mode: info.Mode().Perm(), Brief: true})
	}
	if errors.Is(err, fs.ErrExist) {
		return 0, nil // git has it
	}
	return int64(len(text)), err
}
