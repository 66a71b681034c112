package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/git/conf"
)

// repository is what git needs when dir is in a repository. git are git
// folders; outside those of them that lie beside the folders of the session
// (a worktree's shared one, a submodule's, that of a folder above); guards are
// paths that must stay. What a .git file says counts only when the folder that
// it names says the same, so a planted one opens nothing.
func repository(dir string) (git, outside, guards []string) {
	repo, err := conf.Find(dir)
	if err != nil {
		return nil, nil, nil
	}
	dot := filepath.Join(repo.Top, ".git")
	switch common, own := real(repo.Common), real(repo.GitDir); {
	case repo.GitDir == dot:
		return []string{dot}, []string{dot}, nil
	case !repo.Claimed():
		return nil, nil, []string{dot}
	case own == common:
		return []string{own}, []string{own}, []string{dot}
	default:
		return []string{common}, []string{common}, []string{filepath.Join(own, "commondir"), filepath.Join(own, "gitdir"), dot}
	}
}

func isDir(p string) bool {
	info, err := os.Lstat(p)
	return err == nil && info.IsDir()
}

func exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}

// readSmall reads a regular file of at most 1 MiB.
func readSmall(p string) ([]byte, error) {
	info, err := os.Lstat(p)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return nil, &fs.PathError{Op: "read", Path: p, Err: fs.ErrInvalid}
	}
	return os.ReadFile(p)
}
