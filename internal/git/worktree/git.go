package worktree

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of a run of git. A checkout of a large repository takes minutes on a slow disk.
const (
	deadline = 10 * time.Minute
	maxSaid  = 600 // characters of what it says when it fails
)

// A Failed is a git that ended with an error.
type Failed struct {
	Verb, Said string
	Exit       int
}

func (f *Failed) Error() string { return fmt.Sprintf("git %s: %s", f.Verb, f.Said) }

// git is what git prints when it runs in a folder.
func (r *Repo) git(ctx context.Context, dir string, args ...string) (string, error) {
	return r.with(ctx, dir, nil, "", args...)
}

// with is git with further variables, NAME=value, and with an input.
func (r *Repo) with(ctx context.Context, dir string, env []string, in string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, deadline)
	defer stop()
	c := exec.CommandContext(ctx, r.Git, append([]string{"--no-pager"}, args...)...)
	c.Dir, c.Env, c.WaitDelay = dir, proc.Set(r.Env, append(env, "GIT_REFLOG_ACTION="+reflogAction)...), time.Second
	c.Stdin = strings.NewReader(in)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	err := c.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s: %w", verb(args), context.Cause(ctx))
	}
	text := strings.TrimSpace(said.String())
	if text == "" {
		text = strings.TrimSpace(out.String())
	}
	if text == "" {
		text = err.Error()
	}
	return out.String(), &Failed{Verb: verb(args), Said: clip.Middle(clip.VisibleText(text), maxSaid, ""), Exit: c.ProcessState.ExitCode()}
}

// reflogAction stands in reflogs before what adze does, so that it can be told from what a
// person or a model did (git-reflog(1), GIT_REFLOG_ACTION).
const reflogAction = "adze"

// verb is the command among git's words.
func verb(args []string) string {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-C" || a == "-c":
			i++
		case !strings.HasPrefix(a, "-"):
			return a
		}
	}
	return ""
}

// settings are variables that give git further settings, beside the pins. pairs are a
// name and a value each.
func (r *Repo) settings(pairs ...string) []string {
	n, _ := strconv.Atoi(proc.Getenv(r.Env, "GIT_CONFIG_COUNT")) // 0 where it is not set
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, pairs[i]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, pairs[i+1]))
		n++
	}
	return append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// split are texts that a NUL ends each.
func split(out string) []string {
	return strings.FieldsFunc(out, func(c rune) bool { return c == 0 })
}
