package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/git/conf"
)

// repository is what git needs when dir is in a repository. git are git
// folders; outside those of them that lie beside the folders of the session
// (a worktree's shared one, that of a folder above); guards are paths that
// must stay. A worktree's claim counts only when the shared folder names it
// too, so a planted .git file opens nothing.
func repository(dir string) (git, outside, guards []string) {
	repo, err := conf.Find(dir)
	if err != nil {
		return nil, nil, nil
	}
	dot := filepath.Join(repo.Top, ".git")
	if repo.GitDir == dot {
		return []string{dot}, []string{dot}, nil
	}
	common, own := real(repo.Common), real(repo.GitDir)
	trees := filepath.Join(common, "worktrees")
	if filepath.Dir(own) != trees || !namesBack(own, dot) {
		return nil, nil, []string{dot}
	}
	for _, name := range []string{"commondir", "gitdir"} {
		guards = append(guards, filepath.Join(own, name))
	}
	return []string{common}, []string{common}, append(guards, dot)
}

// namesBack reports whether the git folder of a worktree says that the
// worktree's .git file is dot.
func namesBack(own, dot string) bool {
	b, err := readSmall(filepath.Join(own, "gitdir"))
	return err == nil && real(strings.TrimSpace(string(b))) == real(dot)
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
