package app

import (
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/worktree"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/settings"
)

// Worktrees is the repository of a folder, as far as worktrees of it are made.
func (s Surroundings) Worktrees(p settings.Paths, cfg *config.Config) (*worktree.Repo, error) {
	git, _ := proc.Lookup("git", s.Env("PATH"), []string{p.Dir, p.Root}) // Open says that there is none
	return worktree.Open(worktree.Config{
		Dir: p.Dir, State: p.State, Git: git, Env: proc.Pin(proc.Scrub(s.Environ, cfg.ChildEnv), []string{p.Root}, nil, conf.PinnedEnv()),
	})
}
