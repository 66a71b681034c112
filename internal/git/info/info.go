// Package info reads what a session should know about its repository:
// branch, changed files, last commits. The branch is read from git's files;
// git itself runs only with a pinned environment, from outside the repository,
// for at most ten seconds, and not at all where the repository's configuration could make
// it run programs. It never writes to the repository.
package info

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Bounds.
const (
	deadline   = 10 * time.Second // for all runs of git together
	maxStatus  = 20               // changed files that are named
	maxCommits = "5"
	maxOutput  = 256 << 10 // bytes read of git's answer
	maxRefs    = 8 << 20   // bytes of packed-refs
)

// Options say what to read and how. All paths are absolute.
type Options struct {
	Dir string // anywhere in the working copy
	// Git is the program; "" or one inside the working copy is not run.
	Git string
	// Env is git's whole environment. It has to hold the pins, which
	// GIT_CONFIG_COUNT shows; git is not run without.
	Env []string
	// Safe says whether a repository's configuration could make a pinned git
	// run programs. nil runs nothing.
	Safe func(dir string) (ok bool, why string)
	// Deadline for git; 0 is 10 s.
	Deadline time.Duration
	// Yields has git leave the processors to others, where the system can.
	Yields bool
}

// Info is the repository at one moment. Its strings come from the repository
// and are not cleaned.
type Info struct {
	Top    string // the folder that holds .git; "" when there is no repository
	GitDir string
	Common string // the git folder that all worktrees share
	Head   string // commit, hex; "" before the first one
	// Git is what a model is told. Its Branch is "" when detached; Status has at
	// most maxStatus lines; Why is why Status or Commits are missing.
	prompt.Git
}

// Find locates the repository of a folder without running git; ok is false
// when there is none.
func Find(dir string) (i Info, ok bool) {
	r, err := conf.Find(dir)
	if err != nil {
		return Info{}, false
	}
	i = Info{Top: r.Top, GitDir: r.GitDir, Common: r.Common}
	i.Branch, i.Head = checkedOut(i.GitDir, i.Common)
	return i, true
}

// Siblings reports whether two folders are in two worktrees of one repository.
func Siblings(a, b string) bool {
	x, ok := Find(a)
	if !ok {
		return false
	}
	y, ok := Find(b)
	return ok && x.Common == y.Common && x.Top != y.Top
}

// maxWorktrees bounds the worktrees that are looked for.
const maxWorktrees = 100

// Worktrees are the folders of the other worktrees of a folder's repository: at
// most 100, only such as are there and say so themselves.
func Worktrees(dir string) (out []string) {
	i, ok := Find(dir)
	if !ok {
		return nil
	}
	var tops []string
	common := filepath.Clean(i.Common)
	if filepath.Base(common) == ".git" {
		tops = append(tops, filepath.Dir(common))
	}
	entries, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil {
		entries = nil // there are no others
	}
	for _, e := range entries[:min(len(entries), maxWorktrees)] {
		at := strings.TrimSpace(head(filepath.Join(common, "worktrees", e.Name(), "gitdir"), 4096))
		if filepath.IsAbs(at) && filepath.Base(at) == ".git" {
			tops = append(tops, filepath.Dir(at))
		}
	}
	for _, top := range tops {
		if Siblings(i.Top, top) {
			out = append(out, top)
		}
	}
	return out
}

// checkedOut reads HEAD and follows it to a commit.
func checkedOut(gitDir, common string) (branch, commit string) {
	line := strings.TrimSpace(head(filepath.Join(gitDir, "HEAD"), 4096))
	ref, symbolic := strings.CutPrefix(line, "ref:")
	if !symbolic {
		return "", hexOnly(line)
	}
	ref = strings.TrimSpace(ref)
	branch = strings.TrimPrefix(ref, "refs/heads/")
	if branch == ".invalid" { // refs are in a reftable; git will say
		return "", ""
	}
	if !filepath.IsLocal(ref) {
		return branch, ""
	}
	for _, d := range []string{gitDir, common} {
		if c := hexOnly(strings.TrimSpace(head(filepath.Join(d, filepath.FromSlash(ref)), 256))); c != "" {
			return branch, c
		}
	}
	for l := range strings.Lines(head(filepath.Join(common, "packed-refs"), maxRefs)) {
		if c, name, ok := strings.Cut(strings.TrimRight(l, "\r\n"), " "); ok && name == ref {
			return branch, hexOnly(c)
		}
	}
	return branch, ""
}

func hexOnly(s string) string {
	if len(s) < 40 || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}

// head returns the first max bytes of a regular file, "" for anything else.
func head(path string, max int64) string {
	b, err := regular.Head(path, max)
	if err != nil {
		return ""
	}
	return string(b)
}

// Read finds the repository and, where that is safe, asks git for the status
// and the last commits. The two run side by side.
func Read(ctx context.Context, o Options) Info {
	i, ok := Find(o.Dir)
	if !ok {
		return Info{}
	}
	if i.Why = o.refuse(i); i.Why != "" {
		return i
	}
	if o.Deadline == 0 {
		o.Deadline = deadline
	}
	ctx, cancel := context.WithTimeout(ctx, o.Deadline)
	defer cancel()
	var status, log string
	var statusErr, logErr error
	var both sync.WaitGroup
	both.Go(func() { // ends with git, at the latest at the deadline
		status, statusErr = o.git(ctx, i.Top, "status", "--porcelain=v1", "-z", "--branch", "--no-ahead-behind", "--no-renames", "--ignore-submodules=all", "--untracked-files=normal")
	})
	if i.Head != "" || i.Branch == "" {
		log, logErr = o.git(ctx, i.Top, "log", "-n", maxCommits, "--no-color", "--no-decorate", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--format=%h %s", "HEAD", "--")
	}
	both.Wait()
	switch {
	case statusErr != nil:
		i.Why = "status not known: " + statusErr.Error()
	case logErr != nil && i.Head != "":
		i.Why = "commits not known: " + logErr.Error()
	}
	if statusErr == nil {
		i.setStatus(status)
	}
	if logErr == nil {
		for l := range strings.Lines(log) {
			i.Commits = append(i.Commits, strings.TrimRight(l, "\n"))
		}
	}
	return i
}

// refuse says why git is not run.
func (o Options) refuse(i Info) string {
	switch {
	case o.Git == "":
		return "git was not found"
	case !filepath.IsAbs(o.Git) || paths.WithinAny([]string{i.Top, o.Dir}, o.Git):
		return "git was not run: the program found is inside the working copy"
	case !slices.ContainsFunc(o.Env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_CONFIG_COUNT=") }):
		return "git was not run: its environment is not pinned"
	case o.Safe == nil:
		return "git was not run"
	}
	if ok, why := o.Safe(i.Top); !ok {
		return "git was not run: " + why
	}
	return ""
}

// git runs one command and returns the start of what it prints.
func (o Options) git(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, o.Git, append([]string{"--no-pager", "--no-optional-locks"}, args...)...)
	c.Dir, c.Env = dir, o.Env
	c.WaitDelay = time.Second // on a busy machine, what git printed is read later than it ends
	out := &bounded{max: maxOutput}
	c.Stdout = out
	err := c.Start()
	if err == nil {
		if o.Yields {
			yield(c.Process.Pid)
		}
		err = c.Wait()
	}
	switch {
	case out.full:
		return out.String(), nil // a long answer is cut, by us
	case ctx.Err() != nil:
		return "", fmt.Errorf("git took longer than %v", o.Deadline)
	case err != nil:
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.String(), nil
}

// bounded keeps the first max bytes and then refuses, which ends the command.
type bounded struct {
	bytes.Buffer
	max  int
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if n := b.max - b.Len(); len(p) > n {
		b.full = true
		b.Buffer.Write(p[:n])
		return n, io.ErrShortWrite
	}
	return b.Buffer.Write(p)
}

// setStatus reads NUL-separated entries; the first is the branch.
func (i *Info) setStatus(out string) {
	if j := strings.LastIndexByte(out, 0); j >= 0 {
		out = out[:j] // what follows was cut
	}
	if out == "" {
		return
	}
	for e := range strings.SplitSeq(out, "\x00") {
		if b, ok := strings.CutPrefix(e, "## "); ok {
			if i.Branch == "" && i.Head == "" && !strings.HasPrefix(b, "HEAD (") {
				b = strings.TrimPrefix(b, "No commits yet on ")
				i.Branch, _, _ = strings.Cut(b, "...")
			}
			continue
		}
		if len(i.Status) == maxStatus {
			i.More++
			continue
		}
		i.Status = append(i.Status, e)
	}
}
