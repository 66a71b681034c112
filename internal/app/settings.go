package app

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
)

// loadConfig reads the settings, and tells what a person should know of them.
func loadConfig(o Options, p Paths) (*config.Config, error) {
	own, cc := config.ManagedDirs(runtime.GOOS, o.Env)
	sources := o.Sources
	if o.Bare && sources == nil {
		sources = []string{string(config.User)}
	}
	for _, s := range sources {
		if !slices.Contains([]string{"user", "project", "local"}, s) {
			return nil, &Mistake{fmt.Sprintf("--setting-sources: there is no source %q", s), "the sources are user, project and local"}
		}
	}
	cfg, err := config.Load(config.Options{
		Files: confedit.Disk{}, Keeper: Good(p), Home: p.Home, Folders: p.Folders, Dir: p.Dir, Root: p.Root, Env: o.Env,
		Flags: o.Flags, Settings: o.Settings, ManagedDir: own, ManagedCC: cc, Sources: sources, Trusted: o.Trusted,
	})
	if err != nil {
		return nil, &Mistake{err.Error(), "adze config list shows what can be set"}
	}
	if o.Note != nil {
		for _, pr := range cfg.Problems {
			if pr.Severity == config.Error {
				o.Note("settings: " + pr.String())
			}
		}
		if len(cfg.Ignored) > 0 {
			o.Note(fmt.Sprintf("this folder's own settings are not used, because it is not trusted: %v (use them with --trust)", cfg.Ignored))
		}
	}
	return cfg, nil
}

// Good keeps copies of settings that could be read, beside the state.
func Good(p Paths) *confedit.Good {
	return &confedit.Good{Dir: filepath.Join(p.State, "last-good")}
}
