// Package isolation has a session work in a worktree of its own: it makes the worktree as
// the settings say, says which paths are its own and which are beyond it, and maps what a
// model names of the checkout to the worktree. What git does is package worktree's; what is
// refused is decided in package policy. It never lets a session work in the checkout instead.
package isolation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/info"
	"github.com/adze-agent/adze/internal/git/worktree"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/trust"
)

// What a worktree is for people, and why one stays.
type (
	Info = worktree.Info
	Kept = worktree.Kept
)

// ErrNeeded is the error of a session that may work in a worktree of its own only, and was
// given none.
var ErrNeeded = errors.New("it works in a worktree of its own")

// Needed is ErrNeeded of a session that is an agent.
func Needed(agent string) error {
	return hint.With(fmt.Errorf("the agent %s has isolation: worktree, and this session has no worktree: %w", agent, ErrNeeded), "adze --worktree --agent "+hint.Shell(agent))
}

// A Repo is a repository of which worktrees are made, as one of its checkouts has it.
type Repo struct {
	*worktree.Repo
	paths settings.Paths
	links []string
	seen  trust.Verdict // of the checkout
}

// Open finds the repository of a folder. environ is the person's environment.
func Open(p settings.Paths, cfg *config.Config, environ []string) (Repo, error) {
	r := Repo{paths: p, links: cfg.Worktree.Links}
	var bring []string
	if v, err := p.Trust().Check(p.TrustFolder()); err == nil && v.State == trust.Trusted {
		r.seen = v
		for _, f := range v.Files { // a worktree without them were not what was trusted
			bring = append(bring, f.Path)
		}
	}
	git, _ := proc.Lookup("git", proc.Getenv(environ, "PATH"), []string{p.Dir, p.Root}) // worktree.Open says that there is none
	var err error
	r.Repo, err = worktree.Open(worktree.Config{
		Dir: p.Dir, State: p.State, Git: git, Env: proc.Pin(proc.Scrub(environ, cfg.ChildEnv), []string{p.Root}, nil, conf.PinnedEnv()),
		Base: cfg.Worktree.BaseRef, Uncommitted: cfg.Worktree.Uncommitted, Links: cfg.Worktree.Links, Sparse: cfg.Worktree.Sparse, Bring: bring,
	})
	return r, err
}

// A Room is a worktree that a session has to itself.
type Room struct {
	*worktree.Tree
	Dir   string // to work in: that of the session which the worktree was made for, in the worktree
	Apart *policy.Apart
}

// Make makes a worktree, or opens the one with this name; "" is a new name. who says for
// people what it is for. alone: an agent works there, see policy.Apart. What is trusted in
// the checkout is trusted there, as far as it is the same.
func (r Repo) Make(ctx context.Context, name, who string, alone bool) (*Room, error) {
	t, err := r.Repo.Make(ctx, name, who)
	if err != nil {
		return nil, err
	}
	if t.Fresh && r.seen.State == trust.Trusted {
		if err := r.paths.Trust().Made(ctx, t.Path, r.seen.By()); err != nil {
			_, lost := t.Remove(context.WithoutCancel(ctx), false)
			return nil, errors.Join(err, lost)
		}
	}
	return &Room{Tree: t, Dir: r.within(t.Path), Apart: r.apart(t.Path, t.Git, alone)}, nil
}

// within is the folder of the session, in a worktree; its top where it has no such folder.
func (r Repo) within(tree string) string {
	rel, err := filepath.Rel(r.Checkout(), r.paths.Dir)
	dir := filepath.Join(tree, rel)
	if info, serr := os.Lstat(dir); err != nil || serr != nil || !info.IsDir() || place.Real(dir) != dir {
		return tree
	}
	return dir
}

// apart says what is beyond a worktree.
func (r Repo) apart(tree, git string, alone bool) *policy.Apart {
	a := &policy.Apart{Tree: tree, Common: place.Real(r.Common), Git: place.Real(git), Alone: alone}
	for _, top := range append(info.Worktrees(tree), r.Checkout()) {
		if top = place.Real(top); top != tree && !slices.Contains(a.Tops, top) {
			a.Tops = append(a.Tops, top)
		}
	}
	for _, l := range r.links {
		if at, err := os.Readlink(filepath.Join(tree, filepath.FromSlash(l))); err == nil && filepath.IsAbs(at) {
			a.Shared = append(a.Shared, place.Real(at))
		}
	}
	return a
}

// Rules are those of a session in a worktree. One for an agent has no other folders.
func (r *Room) Rules(rules policy.Rules) policy.Rules {
	rules.Apart = r.Apart
	if r.Apart.Alone {
		rules.Dirs = []string{rules.Dir}
		if r.Path != rules.Dir {
			rules.Dirs = append(rules.Dirs, r.Path)
		}
	}
	return rules
}

// Leave gives the worktree up: it goes when nothing would be lost, else it stays. why says
// what is in it, "" when it went.
func (r *Room) Leave(ctx context.Context) (why string, err error) {
	_, err = r.Remove(ctx, false)
	if kept, ok := errors.AsType[*Kept](err); ok {
		return kept.Says(), nil
	}
	if err != nil {
		return fmt.Sprintf("it could not be looked at (%v)", err), err
	}
	return "", nil
}

// A Cleaned is what became of a worktree that was to be cleaned up.
type Cleaned struct {
	Name    string
	Removed bool
	Why     string // it was not
}

// Clean removes worktrees that nobody uses and that would lose nothing, and finishes what a
// crash left. names are those that are meant; none: all. lose, when it is not nil, is asked
// about each whose work would be lost; its error ends all.
func (r Repo) Clean(ctx context.Context, names []string, lose func(*Kept) (bool, error)) (out []Cleaned, err error) {
	if len(names) == 0 {
		if names, err = r.Names(); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		_, err := r.Remove(ctx, name, false)
		if kept, ok := errors.AsType[*Kept](err); ok && lose != nil {
			yes, asked := lose(kept)
			if asked != nil {
				return out, asked
			}
			if yes {
				_, err = r.Remove(ctx, name, true)
			}
		}
		c := Cleaned{Name: name, Removed: err == nil}
		if err != nil {
			c.Why = err.Error()
		}
		out = append(out, c)
	}
	return out, nil
}
