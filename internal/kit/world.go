package kit

import (
	"context"
	"path/filepath"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/object"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// world is the file system as a command that starts in dir would find it.
func (c Config) world(dir string) world.World {
	w := place.World(dir, c.Home)
	w.Changed = func(dir, from, to string) ([]string, bool) {
		repo, err := conf.Find(dir)
		environ, _ := c.Variables()
		git, found := proc.Lookup("git", proc.Getenv(environ, "PATH"), []string{dir})
		if ok, _ := conf.Safe(dir); err != nil || !found || !ok {
			return nil, false
		}
		r := object.Repo{Repo: repo, Git: git, Env: append(proc.Quiet(proc.Scrub(environ, nil)), conf.PinnedEnv()...)}
		names, err := r.Changed(context.Background(), from, to) // ends within seconds
		for i, n := range names {
			names[i] = filepath.Join(repo.Top, filepath.FromSlash(n))
		}
		return names, err == nil
	}
	return w
}
