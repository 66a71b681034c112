package app

import (
	"cmp"
	"fmt"
	"os"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/text/hint"
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
	out.Root = cmp.Or(conf.Root(dir), dir)
	if out.Folders, err = config.FindFolders(out.Home, p.Env, exists); err != nil {
		return out, &hint.Mistake{Why: err.Error(), What: "set HOME, or set ADZE_HOME to an absolute path: HOME=/home/me adze …"}
	}
	return out, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
