// Package worktree makes git worktrees for sessions, looks what is in them, and takes
// them away. They lie in .adze/worktrees of a repository, each on a branch adze/NAME of
// its own. What adze made is written down outside of the repository, with the identity
// of the folder: nothing else is ever taken away, whatever a repository says of itself.
//
// A worktree goes only when nothing would be lost: nothing in it differs from its commit,
// and its commits are in another branch, in a tag, or on a remote. A person can say that
// the work is to be discarded; nobody else can.
//
// A crash leaves a record that says how far it came. List names it, and Clean finishes it.
package worktree

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Folder is where worktrees are, below the top of a repository.
const Folder = ".adze/worktrees"

// Prefix begins the names of their branches.
const Prefix = "adze/"

// A Config says of which repository worktrees are made, and how.
type Config struct {
	Dir   string // in the checkout that they are made of: absolute, resolved
	State string // the folder of adze's own state
	// Git is the program, and Env its whole environment, with the pins of conf.PinnedEnv.
	Git string
	Env []string

	Base        string   // where they begin: "" or head, fresh, or a commit as git knows it
	Uncommitted bool     // they begin with what is not committed in the checkout
	Links       []string // folders that are links to those of the checkout
	Sparse      []string // the only folders that are checked out; none: all
	Bring       []string // files that are copied where git ignores them, below the top
}

// A Repo is a repository as one of its checkouts has it.
type Repo struct {
	Config
	conf.Repo        // the checkout
	main      string // the folder below which worktrees are
	store     string // the folder of their records
}

// Open finds the repository. The error says what a person can do.
func Open(c Config) (*Repo, error) {
	repo, err := conf.Find(c.Dir)
	switch {
	case errors.Is(err, conf.ErrNone):
		return nil, &hint.Mistake{Why: "there is no git repository here, and a worktree is made of one", What: "git init, and a first commit"}
	case errors.Is(err, conf.ErrBare):
		return nil, &hint.Mistake{Why: "this is a bare repository, which has no files to work on", What: "go to a checkout of it: git worktree add ../work, then cd ../work"}
	case err != nil:
		return nil, &hint.Mistake{Why: fmt.Sprintf("git's way from %s to its folder is not followed: %v", c.Dir, err), What: "work in a checkout with a .git of its own"}
	case !repo.Claimed():
		return nil, &hint.Mistake{Why: fmt.Sprintf("the git folder %s does not say that %s is a checkout of it", repo.GitDir, repo.Top), What: "git worktree repair mends that, where the folder was moved"}
	case c.Git == "":
		return nil, &hint.Mistake{Why: "git was not found, and worktrees are git's", What: "install git"}
	}
	if _, err := os.Lstat(filepath.Join(repo.Common, "reftable")); err == nil {
		return nil, &hint.Mistake{Why: "this repository keeps its branches in a table (reftable), of which a worktree's own cannot be kept apart", What: "work in a clone that keeps them in files"}
	}
	if ok, why := conf.Safe(repo.Top); !ok {
		return nil, &hint.Mistake{Why: "git is not run here: " + why, What: "look at that setting, and take it away if it is not yours"}
	}
	r := &Repo{Config: c, Repo: repo, main: repo.Top}
	if above := filepath.Dir(repo.Common); filepath.Base(repo.Common) == ".git" {
		if m, err := conf.In(above); err == nil && m.GitDir == repo.Common {
			r.main = above
		}
	}
	if own := filepath.Join(r.main, ".adze"); paths.Within(own, c.State) || paths.Within(c.State, own) {
		return nil, &hint.Mistake{Why: own + " is adze's own folder, so no worktrees are made in it", What: "work in a repository below it"}
	}
	r.store = filepath.Join(c.State, "worktrees", key(r.Common))
	return r, nil
}

// key names the folder of a repository's records.
func key(common string) string {
	sum := sha256.Sum256([]byte(common))
	return filepath.Base(filepath.Dir(common)) + "-" + hex.EncodeToString(sum[:6])
}

// Checkout is the top of the checkout that worktrees are made of.
func (r *Repo) Checkout() string { return r.Top }

// at is where a worktree is that lies below a folder.
func at(main, name string) string { return filepath.Join(main, filepath.FromSlash(Folder), name) }

var plain = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// checkName refuses what cannot be both a folder's name and a part of a branch's.
func checkName(name string) error {
	if plain().MatchString(name) && !strings.HasSuffix(name, ".") && !strings.HasSuffix(name, ".lock") && !strings.Contains(name, "..") {
		return nil
	}
	return &hint.Mistake{Why: fmt.Sprintf("a worktree cannot be called %q", clip.Line(clip.Visible(name), 80)), What: "take letters, digits, \"-\", \"_\" and \".\", at most 64"}
}

// NewName is a name that no worktree has.
func NewName() string { return "w" + strings.ToLower(rand.Text()[:7]) }

// base is the commit that a worktree begins at.
func (r *Repo) base(ctx context.Context) (string, error) {
	head, err := r.commit(ctx, r.Top, "HEAD")
	if err != nil {
		return "", &hint.Mistake{Why: "this repository has no commit yet, and a worktree begins at one", What: "commit something first"}
	}
	switch r.Base {
	case "", "head", "HEAD":
		return head, nil
	case "fresh":
		if fresh, err := r.commit(ctx, r.Top, "refs/remotes/origin/HEAD"); err == nil {
			return fresh, nil
		}
		return head, nil // there is no remote, or nobody knows its main branch
	}
	id, err := r.commit(ctx, r.Top, r.Base)
	if err != nil {
		return "", &hint.Mistake{Why: fmt.Sprintf("worktree.base_ref is %q, which is no commit here", clip.Line(clip.Visible(r.Base), 80)), What: "head, fresh (what origin has), or a branch, a tag or a commit"}
	}
	return id, nil
}

// commit is the ID of a commit that is named as git knows it.
func (r *Repo) commit(ctx context.Context, dir, name string) (string, error) {
	out, err := r.git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	return strings.TrimSpace(out), err
}

// folder makes the folder of all worktrees, and opens it. What is in it is no part of
// the repository. No link is followed.
func folder(main string) (*os.Root, error) {
	top, err := pin.Dir(main)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	for _, dir := range []string{".adze", filepath.FromSlash(Folder)} {
		if err := top.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("make %s: %w", filepath.Join(main, dir), paths.Cause(err))
		}
		if info, err := top.Lstat(dir); err != nil || !info.IsDir() {
			return nil, &hint.Mistake{Why: filepath.Join(main, dir) + " is no folder", What: "take it away, and look first where it leads if it is a link"}
		}
	}
	in, err := pin.Dir(filepath.Join(main, filepath.FromSlash(Folder)))
	if err != nil {
		return nil, err
	}
	if err := safe.Make(in, safe.File{Name: ".gitignore", Text: []byte("*\n"), Mode: 0o644, Brief: true}); err != nil && !errors.Is(err, fs.ErrExist) {
		in.Close()
		return nil, fmt.Errorf("keep worktrees out of git: %w", paths.Cause(err))
	}
	return in, nil
}

// slashed is a relative path in the spelling of settings, "" for none that stays below.
func slashed(text string) string {
	text = filepath.ToSlash(filepath.Clean(filepath.FromSlash(strings.TrimSpace(text))))
	if text == "." || !filepath.IsLocal(filepath.FromSlash(text)) || strings.ContainsAny(text, "\x00\n") {
		return ""
	}
	if first, _, _ := strings.Cut(text, "/"); strings.EqualFold(first, ".git") {
		return ""
	}
	return text
}
