package app

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/trust"
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
	state := trust.Nothing
	if !o.Trusted {
		v, err := Trust(p).Check(TrustFolder(p))
		if err != nil && o.Note != nil {
			o.Note(fmt.Sprintf("who is trusted is not known: %v", err))
		}
		state = v.State
	}
	cfg, err := config.Load(config.Options{
		Files: trust.Files{Folder: TrustFolder(p), Disk: confedit.Disk{}}, Keeper: Good(p), Home: p.Home, Folders: p.Folders, Dir: p.Dir, Root: p.Root, Env: o.Env,
		Flags: o.Flags, Settings: o.Settings, ManagedDir: own, ManagedCC: cc, Sources: sources, Trusted: o.Trusted || state == trust.Trusted,
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
			why := "it is not trusted"
			if state == trust.Changed {
				why = "they changed since it was trusted"
			}
			o.Note(fmt.Sprintf("this folder's own settings are not used, because %s: %s (look at them with: adze trust; or use them once with --trust)", why, strings.Join(cfg.Ignored, ", ")))
		}
	}
	return cfg, nil
}

// Trust is the record of trusted folders.
func Trust(p Paths) trust.Store {
	return trust.Store{Path: filepath.Join(p.State, "trust.json"), Now: time.Now}
}

// TrustFolder is this run's folder as trust sees it.
func TrustFolder(p Paths) trust.Folder { return trust.Folder{Root: p.Root, Dir: p.Dir, Home: p.Home} }

// Good keeps copies of settings that could be read, beside the state.
func Good(p Paths) *confedit.Good {
	return &confedit.Good{Dir: filepath.Join(p.State, "last-good")}
}
