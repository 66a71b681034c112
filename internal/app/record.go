package app

import (
	"fmt"
	"os"
	"time"

	"github.com/adze-agent/adze/internal/checkpoint"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/proc"
)

// recorder notes what the calls of the session change, so that it can be taken
// back. Contents that a command could change are copied to a file that has no
// name any more, so that it goes with the process.
func (r *Running) recorder() (*checkpoint.Recorder, error) {
	w := r.world
	scratch, err := os.CreateTemp(w.temp.all, "before-")
	if err != nil {
		return nil, fmt.Errorf("make a file for what commands change: %w", err)
	}
	r.scratch = scratch
	_ = os.Remove(scratch.Name()) // not on Windows; it goes with its folder there
	git, _ := proc.Lookup("git", w.process.Env("PATH"), []string{w.Paths.Root})
	blobs := r.log.Blobs()
	return &checkpoint.Recorder{
		Blobs:  blobs,
		Beside: func() bool { return len(r.kit.Tasks.Running()) > 0 },
		Tree: checkpoint.New(checkpoint.Config{
			Root: w.Paths.Root, Home: w.Paths.Home, Blobs: blobs, Scratch: scratch,
			Git: git, Env: append(proc.Quiet(proc.Scrub(w.process.Environ, nil)), conf.PinnedEnv()...), Now: time.Now,
		}),
	}, nil
}
