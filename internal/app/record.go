package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/adze-agent/adze/internal/checkpoint"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/view"
)

// files takes back what calls changed.
type files struct {
	*checkpoint.Recorder
	seen func([]effect.File)
}

// Seen implements session.Files.
func (f files) Seen(list []effect.File) {
	if f.seen != nil {
		f.seen(list)
	}
}

// A Past is a session that is opened only to go back in it: it has no model.
type Past struct {
	*session.Session
	log *openedLog
}

// OpenPast opens a session that no process runs.
func OpenPast(ctx context.Context, p Process, paths Paths, id string) (*Past, error) {
	log, err := openLog(ctx, p, SessionOptions{Resume: id}, paths)
	if err != nil {
		return nil, err
	}
	s, err := session.Start(ctx, session.Config{
		Log: log, Again: event.Resumed{Version: p.Version, Torn: log.torn}, Now: time.Now,
		Files: files{Recorder: &checkpoint.Recorder{Blobs: log.Blobs()}},
	})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &Past{s, log}, nil
}

// Diff is what the calls of a session changed on disk until now.
func Diff(ctx context.Context, paths Paths, i store.Info) (out []view.Block, err error) {
	var changes []effect.Change
	st := Sessions(paths)
	for e, err := range st.Read(ctx, i, 0) {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case event.ToolFinished:
			if c, ok := effect.Of[effect.Changed](b.Effects); ok {
				changes = append(changes, c.Files...)
			}
		case event.Rewound:
			changes = append(changes, b.Changes...)
		default: // changes no file
		}
	}
	return (&checkpoint.Recorder{Blobs: st.Blobs(i)}).Diff(changes), nil
}

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
	r.recorded = &checkpoint.Recorder{
		Blobs:  blobs,
		Beside: func() bool { return len(r.kit.Tasks.Running()) > 0 },
		Tree: checkpoint.New(checkpoint.Config{
			Root: w.Paths.Root, Home: w.Paths.Home, Blobs: blobs, Scratch: scratch,
			Git: git, Env: append(proc.Quiet(proc.Scrub(w.process.Environ, nil)), conf.PinnedEnv()...), Now: time.Now,
		}),
	}
	return r.recorded, nil
}
