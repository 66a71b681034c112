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
// commit that both have (git diff-tree --merge-base, since git 2.30).
func (r Repo) Changed(ctx context.Context, from, to string) ([]string, error) {
	if r.Git == "" || strings.HasPrefix(from, "-") || strings.HasPrefix(to, "-") {
		return nil, errors.New("there is no git, or no such commit")
	}
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	args := []string{"--git-dir=" + r.GitDir, "diff-tree", "-r", "-z", "--name-only", "--no-renames"}
	from, base := strings.CutSuffix(from, "...")
	if base {
		args = append(args, "--merge-base")
	}
	c := exec.CommandContext(ctx, r.Git, append(args, from, to, "--")...)
	c.Env, c.Dir, c.WaitDelay = r.Env, "/", time.Second
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("git diff-tree: %w", err)
	}
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }), nil
}
