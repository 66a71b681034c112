package toolkit

import (
	"context"
	"path/filepath"
	"time"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/object"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// lookTime bounds how long a decision waits for git.
const lookTime = 5 * time.Second

// world is the file system as a command that starts in dir would find it. Of commits
// git says what they do not have alike: with pinned settings, and only where conf.Safe
// says that it then runs nothing but itself.
func (c Config) world(dir string) world.World {
	w := place.World(dir, c.Home)
	ask := func(dir string, f func(context.Context, object.Repo) ([]string, error)) ([]string, bool) {
		repo, err := conf.Find(dir)
		if err != nil {
			return nil, false
		}
		environ, _ := c.Variables()
		git, found := proc.Lookup("git", proc.Getenv(environ, "PATH"), []string{dir, repo.Top})
		if ok, _ := conf.Safe(dir); !found || !ok {
			return nil, false
		}
		ctx, stop := context.WithTimeout(context.Background(), lookTime)
		defer stop()
		names, err := f(ctx, object.Repo{Repo: repo, Git: git, Env: append(proc.Quiet(proc.Scrub(environ, nil)), conf.PinnedEnv()...)})
		for i, n := range names {
			names[i] = filepath.Join(repo.Top, filepath.FromSlash(n))
		}
		return names, err == nil
	}
	w.Changed = func(dir, from, to string) ([]string, bool) {
		return ask(dir, func(ctx context.Context, r object.Repo) ([]string, error) { return r.Changed(ctx, from, to) })
	}
	w.Bisected = func(dir string, commits []string) ([]string, bool) {
		return ask(dir, func(ctx context.Context, r object.Repo) ([]string, error) { return r.Bisected(ctx, commits) })
	}
	return w
}
