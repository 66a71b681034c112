package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/gitconf"
)

// Bounds of the search for submodules.
const (
	maxModules     = 64
	maxModuleDepth = 4
)

// repository is what git needs when dir is in a repository. git are git
// folders; outside those of them that lie beside the folders of the session
// (a worktree's shared one, that of a folder above); guards are paths that
// must stay. A worktree's claim counts only when the shared folder names it
// too, so a planted .git file opens nothing.
func repository(dir string) (git, outside, guards []string) {
	repo, err := gitconf.Find(dir)
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

// gitGuards are the paths in a git folder that make git run programs or read
// its settings from elsewhere. The rest git must write to do its work: index,
// objects, refs, logs, HEAD and the like.
func gitGuards(git string) []string {
	config := filepath.Join(git, "config")
	guards := []string{filepath.Join(git, "hooks"), config, filepath.Join(git, "commondir")}
	b, _ := readSmall(config) // one that cannot be read has no extensions
	if extra := filepath.Join(git, "config.worktree"); exists(extra) || strings.Contains(strings.ToLower(string(b)), "worktreeconfig") {
		guards = append(guards, extra)
	}
	trees, _ := os.ReadDir(filepath.Join(git, "worktrees")) // most have none
	for _, t := range trees[:min(len(trees), maxModules)] {
		if extra := filepath.Join(git, "worktrees", t.Name(), "config.worktree"); exists(extra) {
			guards = append(guards, extra)
		}
	}
	return append(guards, moduleGuards(filepath.Join(git, "modules"), maxModuleDepth)...)
}

// moduleGuards are the guards of submodules that exist.
func moduleGuards(dir string, depth int) []string {
	list, err := os.ReadDir(dir)
	if err != nil || depth == 0 {
		return nil
	}
	var out []string
	for _, e := range list {
		at := filepath.Join(dir, e.Name())
		switch {
		case !e.IsDir():
		case exists(filepath.Join(at, "HEAD")):
			for _, g := range []string{"hooks", "config", "commondir"} {
				out = append(out, filepath.Join(at, g))
			}
			out = append(out, moduleGuards(filepath.Join(at, "modules"), depth-1)...)
		default:
			out = append(out, moduleGuards(at, depth-1)...)
		}
		if len(out) > 3*maxModules {
			return out[:3*maxModules]
		}
	}
	return slices.Clip(out)
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
