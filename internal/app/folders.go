package app

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/place"
)

// Settings finds the folders and loads the settings.
func Settings(p Process, s Sources) (Paths, *config.Config, error) {
	paths, err := folders(p)
	if err != nil {
		return paths, nil, err
	}
	cfg, err := loadConfig(p, s, paths)
	return paths, cfg, err
}

func folders(p Process) (Paths, error) {
	var out Paths
	dir, err := place.Resolve(p.Dir)
	if err != nil {
		return out, fmt.Errorf("work in %s: %w", p.Dir, err)
	}
	out.Dir, out.Home = dir, p.Home
	if h, err := place.Resolve(p.Home); err == nil && p.Home != "" {
		out.Home = h
	}
	out.Root = RepoRoot(dir)
	if out.Folders, err = config.FindFolders(out.Home, p.Env, exists); err != nil {
		return out, &Mistake{err.Error(), "set HOME, or set ADZE_HOME to an absolute path: HOME=/home/me adze …"}
	}
	return out, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// RepoRoot is the folder above dir that holds .git, or dir.
func RepoRoot(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}
