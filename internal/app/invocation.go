package app

import (
	"context"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/confine"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/isolation"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/settings"
)

// An Invocation is what a start of adze asks for, as far as it is not about one session:
// what is asked of a folder without any is asked of this.
type Invocation struct {
	Surroundings
	settings.Sources
	Front
	// Now has the folders and the settings of a run that has begun; nil: they are read.
	Now func() (settings.Paths, *config.Config, error)
}

// Quiet is the same for what must not speak.
func (i Invocation) Quiet() Invocation {
	i.Note = nil
	return i
}

// Load finds the folders and loads the settings.
func (i Invocation) Load() (settings.Paths, *config.Config, error) {
	if i.Now != nil {
		return i.Now()
	}
	return settings.Load(i.Environment, i.Sources)
}

// Open reads the settings for what needs more of them than values. Close them.
func (i Invocation) Open() (*settings.Live, error) { return settings.Open(i.Environment, i.Sources) }

// Offered is what extensions are read from, without a session.
func (i Invocation) Offered(live *settings.Live) ext.FolderConfig {
	return ext.FolderConfig{
		Live: live, Env: i.Env, Environment: i.Environ, Version: i.Version, Bare: i.Bare, Flags: i.Extensions,
		Roots: func() []string { return settings.Dirs(live.Config(), live.Paths) },
	}
}

// What is told of worktrees.
type (
	Worktree     = isolation.Info
	KeptWorktree = isolation.Kept
	Merging      = isolation.Merging
	Queued       = isolation.Queued
)

// Worktrees is the repository that is worked in, as far as worktrees of it are made.
func (i Invocation) Worktrees() (isolation.Repo, error) {
	p, cfg, err := i.Load()
	if err != nil {
		return isolation.Repo{}, err
	}
	return isolation.Open(p, cfg, i.Environ)
}

// Merge brings worktrees over, one behind the other, each checked as the settings say.
func (i Invocation) Merge(ctx context.Context, names []string, m Merging) ([]Queued, error) {
	p, cfg, err := i.Load()
	if err != nil {
		return nil, err
	}
	repo, err := isolation.Open(p, cfg, i.Environ)
	if err != nil {
		return nil, err
	}
	m.Check = i.checks(p, cfg)
	return repo.MergeAll(ctx, names, m), nil
}

// checks is the person's check of what is merged; nil where the settings name none.
func (s Surroundings) checks(p settings.Paths, cfg *config.Config) func(ctx context.Context, dir string, apart *policy.Apart) error {
	if strings.TrimSpace(cfg.Worktree.Check) == "" {
		return nil
	}
	return func(ctx context.Context, dir string, apart *policy.Apart) error {
		p.Dir, p.Root = dir, apart.Tree
		boxes := s.sandboxes(p)
		boxes.Apart = apart
		return confine.Check(ctx, boxes, cfg, s.Environ)
	}
}

// Isolate makes a worktree for a session of the person's own, or opens the one with this
// name; "" is a new name.
func (i Invocation) Isolate(ctx context.Context, name string) (*isolation.Room, error) {
	repo, err := i.Quiet().Worktrees()
	if err != nil {
		return nil, err
	}
	room, err := repo.Make(ctx, name, "adze --worktree", false)
	if err != nil {
		return nil, err
	}
	for _, n := range room.Notes {
		i.Notef("%s", n)
	}
	return room, nil
}
