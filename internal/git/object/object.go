// Package object reads contents out of a git repository. It runs git, with the
// environment it is given, only to read objects by their ID: nothing of the
// repository's settings takes part in that. It never writes.
package object

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/git/conf"
)

// A Repo is where objects are read.
type Repo struct {
	conf.Repo
	Git string   // the program: absolute
	Env []string // git's whole environment, with the pins
}

// maxSize bounds an object that is read, in bytes.
const maxSize = 64 << 20

// timeout ends a git that hangs.
const timeout = 20 * time.Second

// Read calls each for every ID, in that order. An object that is not there, that
// is too large or no file's content is nil.
func (r Repo) Read(ctx context.Context, ids []string, each func(id string, content []byte) error) error {
	return r.batch(ctx, "--batch", ids, func(in *bufio.Reader, id, kind string, size int64) error {
		var content []byte
		switch {
		case kind != "blob" || size > maxSize:
			if _, err := io.CopyN(io.Discard, in, size); err != nil {
				return err
			}
		default:
			content = make([]byte, size)
			if _, err := io.ReadFull(in, content); err != nil {
				return err
			}
		}
		if _, err := in.Discard(1); err != nil { // the line's end
			return err
		}
		return each(id, content)
	}, func(id string) error { return each(id, nil) })
}

// Sizes returns how many bytes each object has, -1 for one that is not there.
func (r Repo) Sizes(ctx context.Context, ids []string) (map[string]int64, error) {
	out := make(map[string]int64, len(ids))
	err := r.batch(ctx, "--batch-check", ids, func(_ *bufio.Reader, id, _ string, size int64) error {
		out[id] = size
		return nil
	}, func(id string) error {
		out[id] = -1
		return nil
	})
	return out, err
}

// batch runs git cat-file (git-cat-file(1), "Batch output").
func (r Repo) batch(ctx context.Context, mode string, ids []string, found func(in *bufio.Reader, id, kind string, size int64) error, missing func(id string) error) error {
	if r.Git == "" {
		return errors.New("there is no git")
	}
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	c := exec.CommandContext(ctx, r.Git, "--git-dir="+r.GitDir, "cat-file", mode)
	c.Env, c.Dir, c.WaitDelay = r.Env, "/", time.Second
	c.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("run git: %w", err)
	}
	err = answers(bufio.NewReaderSize(out, 64<<10), ids, found, missing)
	stop() // a git that was not read to its end
	if waitErr := c.Wait(); err == nil && waitErr != nil && ctx.Err() == nil {
		err = fmt.Errorf("git cat-file: %w: %s", waitErr, bytes.TrimSpace(said.Bytes()))
	}
	return err
}

func answers(in *bufio.Reader, ids []string, found func(in *bufio.Reader, id, kind string, size int64) error, missing func(id string) error) error {
	for _, id := range ids {
		line, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("reading what git says: %w", err)
		}
		f := strings.Fields(line)
		switch {
		case len(f) >= 2 && (f[1] == "missing" || f[1] == "ambiguous"):
			err = missing(id)
		case len(f) == 3 && f[0] == id:
			size, sizeErr := strconv.ParseInt(f[2], 10, 64)
			if sizeErr != nil || size < 0 {
				return fmt.Errorf("git says %q of an object", strings.TrimSpace(line))
			}
			err = found(in, id, f[1], size)
		default:
			return fmt.Errorf("git says %q of an object", strings.TrimSpace(line))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Changed lists the files, relative to the top of the worktree, that are not the same in
// two commits, which are named as git knows them. A from that ends in ... is the newest
// commit that both have (git diff-tree --merge-base, since git 2.30), "" one with no files.
// A to of "" is the worktree: then the settings of the repository have to be safe.
func (r Repo) Changed(ctx context.Context, from, to string) ([]string, error) {
	if strings.HasPrefix(from, "-") || strings.HasPrefix(to, "-") || from+to == "" {
		return nil, errors.New("there is no such commit")
	}
	args := []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames"}
	from, base := strings.CutSuffix(from, "...")
	switch {
	case to == "":
		args = []string{"diff", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", from}
	case from == "":
		args = append(args, "--root", "--no-commit-id", to)
	case base:
		args = append(args, "--merge-base", from, to)
	default:
		args = append(args, from, to)
	}
	out, err := r.run(ctx, "", append(args, "--")...)
	return split(out), err
}

// maxBetween bounds the commits of one bisection that are looked at.
const maxBetween = 5000

// Bisected lists the files that any commit changes between some commits, HEAD and those that
// git bisect is at. What is no commit counts for nothing.
func (r Repo) Bisected(ctx context.Context, commits []string) ([]string, error) {
	out, err := r.run(ctx, "", "for-each-ref", "--format=%(objectname)%00", "refs/bisect")
	if err != nil {
		return nil, err
	}
	var ends []string
	for _, c := range append(append(split(out), "HEAD"), commits...) {
		if id, err := r.run(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", strings.TrimSpace(c)+"^{commit}"); err == nil {
			ends = append(ends, strings.TrimSpace(id))
		}
	}
	base, err := r.run(ctx, "", append([]string{"merge-base", "--octopus"}, ends...)...)
	if err != nil {
		return nil, err
	}
	list, err := r.run(ctx, "", append([]string{"rev-list", fmt.Sprint("--max-count=", maxBetween+1), "^" + strings.TrimSpace(base)}, ends...)...)
	if err != nil || strings.Count(list, "\n") > maxBetween {
		return nil, errors.Join(err, errors.New("there are too many commits to look at"))
	}
	out, err = r.run(ctx, list, "diff-tree", "--stdin", "-r", "-m", "-z", "--name-only", "--no-renames", "--no-commit-id")
	return split(out), err
}

// split are texts that a NUL ends.
func split(out string) []string {
	return strings.FieldsFunc(out, func(c rune) bool { return c == 0 })
}

// run is what git prints.
func (r Repo) run(ctx context.Context, in string, args ...string) (string, error) {
	if r.Git == "" {
		return "", errors.New("there is no git")
	}
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	c := exec.CommandContext(ctx, r.Git, append([]string{"--no-optional-locks", "--git-dir=" + r.GitDir, "--work-tree=" + r.Top}, args...)...)
	c.Env, c.Dir, c.WaitDelay, c.Stdin = r.Env, "/", time.Second, strings.NewReader(in)
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out), nil
}
