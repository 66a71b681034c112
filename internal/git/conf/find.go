package conf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
)

// A Repo is where git would work.
type Repo struct {
	Top    string // the folder that holds .git
	GitDir string // its git folder; for a worktree below Common
	Common string // the git folder shared by all worktrees
}

// Errors of Find. Every other one means that a repository is there, in Top, and
// that git's way to its folder is not followed: .git is a link, no file, or does
// not say where the folder is.
var (
	ErrBare = errors.New("a bare repository, whose settings git would follow")
	ErrNone = errors.New("no git repository")
)

// Find walks up from dir (absolute, resolved) as git does without GIT_DIR and
// its like: a folder .git that is no git folder is passed over. It is the only
// way in which adze finds repositories.
func Find(dir string) (Repo, error) {
	for at := dir; ; at = filepath.Dir(at) {
		r, err := In(at)
		if !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
		if looksLikeGitDir(at) {
			return Repo{}, fmt.Errorf("%s is %w", at, ErrBare)
		}
		if filepath.Dir(at) == at {
			return Repo{}, ErrNone
		}
	}
}

// Root is the folder above dir that holds .git, also where Find has an error;
// "" when there is none.
func Root(dir string) string {
	r, _ := Find(dir) // where it cannot be followed it is there all the same
	return r.Top
}

// In is the repository whose .git is in top itself. The error is fs.ErrNotExist
// when there is none, else as that of Find.
func In(top string) (Repo, error) {
	dot := filepath.Join(top, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil && (errors.Is(err, fs.ErrNotExist) || isNotDir(err)):
		return Repo{}, fs.ErrNotExist
	case err != nil:
		return Repo{}, fmt.Errorf("looking for a repository: %w", err)
	case info.IsDir() && !looksLikeGitDir(dot):
		return Repo{}, fs.ErrNotExist
	case info.IsDir():
		return withCommon(Repo{Top: top, GitDir: dot})
	case info.Mode().IsRegular():
		return fromFile(top, dot)
	case info.Mode()&fs.ModeSymlink != 0:
		return Repo{Top: top}, fmt.Errorf("%s is a link", dot)
	}
	return Repo{Top: top}, fmt.Errorf("%s is %w", dot, regular.ErrKind)
}

// looksLikeGitDir is wider than git's own test, so that nothing that git
// takes for a repository escapes.
func looksLikeGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	for _, name := range []string{"objects", "refs", "commondir", "config"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// fromFile follows a .git file: "gitdir: PATH".
func fromFile(top, dot string) (Repo, error) {
	git, err := pointee(dot)
	if err != nil {
		return Repo{Top: top}, err
	}
	return withCommon(Repo{Top: top, GitDir: git})
}

// pointee is the folder that a .git file names, whatever is there.
func pointee(dot string) (string, error) {
	b, err := readSmall(dot)
	if err != nil {
		return "", broken(err)
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), "gitdir: ")
	if !ok || target == "" {
		return "", fmt.Errorf("%s does not say where the repository is", dot)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(dot), target)
	}
	return filepath.Clean(target), nil
}

func withCommon(r Repo) (Repo, error) {
	r.Common = r.GitDir
	b, err := readSmall(filepath.Join(r.GitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) || err != nil && isNotDir(err) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	common := strings.TrimRight(string(b), "\r\n")
	if common == "" {
		return r, fmt.Errorf("%s is empty", filepath.Join(r.GitDir, "commondir"))
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(r.GitDir, common)
	}
	r.Common = filepath.Clean(common)
	return r, nil
}

// broken is err as one that is not fs.ErrNotExist: something was there.
func broken(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New(err.Error())
	}
	return err
}

// Claimed reports whether the git folder says itself that Top is where its
// files are: it is .git there, names it as a worktree, or, as a submodule's, in
// core.worktree. A .git file alone can name anybody's folder.
func (r Repo) Claimed() bool {
	dot := filepath.Join(r.Top, ".git")
	switch {
	case r.Top == "" || r.GitDir == "":
		return false
	case r.GitDir == dot:
		return r.Common == r.GitDir
	case r.Common != r.GitDir:
		b, err := readSmall(filepath.Join(r.GitDir, "gitdir"))
		back := strings.TrimSpace(string(b))
		if err == nil && !filepath.IsAbs(back) { // since git 2.48
			back = filepath.Join(r.GitDir, back)
		}
		return err == nil && sameFile(filepath.Dir(r.GitDir), filepath.Join(r.Common, "worktrees")) && sameFile(back, dot)
	}
	b, err := readSmall(filepath.Join(r.GitDir, "config"))
	if err != nil {
		return false
	}
	said := ""
	err = parse(b, func(section, _, key, value string) {
		if section == "core" && key == "worktree" {
			said = value
		}
	})
	return err == nil && r.workTree(said)
}

// workTree reports whether a value of core.worktree is the folder that holds .git.
func (r Repo) workTree(value string) bool {
	if value != "" && !filepath.IsAbs(value) {
		value = filepath.Join(r.GitDir, value)
	}
	return value != "" && sameFile(value, r.Top)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
