// Package rewind records what the calls of a session change on disk, and opens
// a session that no process runs, to go back in it. How changes are found, kept
// and put back is for package checkpoint; what a rewind is, for package session.
package rewind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/checkpoint"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/view"
)

// A Config says what is recorded, and where it is kept.
type Config struct {
	Root    string   // the tree that commands work in: absolute, resolved
	More    []string // further folders of theirs, likewise; each is bounded as Root is
	State   []string // adze's own folders, likewise, of which nothing is recorded
	Home    string   // "" when there is none
	Temp    string   // a folder for temporary files
	Path    string   // where programs are looked for, as in PATH
	Environ []string
	Blobs   store.Blobs
	Beside  func() bool // something that a call began runs
	// Told learns what the model knows of files after a rewind; nil: nobody.
	Told func([]effect.File)
}

// A Recorder is what a session's calls changed. Close it in the end.
type Recorder struct {
	*checkpoint.Recorder
	scratch []*os.File // of each tree
	told    func([]effect.File)
}

// Record makes a recorder. Contents that a command could change are copied to
// a file that has no name any more, so that it goes with the process.
func Record(c Config) (*Recorder, error) {
	r := &Recorder{Recorder: &checkpoint.Recorder{Blobs: c.Blobs, Beside: c.Beside}, told: c.Told}
	roots := []string{c.Root}
	for _, dir := range c.More {
		if !slices.ContainsFunc(roots, func(root string) bool { return paths.Within(root, dir) }) {
			roots = append(roots, dir)
		}
	}
	git, _ := proc.Lookup("git", c.Path, roots)
	for _, root := range roots {
		scratch, err := os.CreateTemp(c.Temp, "before-")
		if err != nil {
			return nil, errors.Join(fmt.Errorf("make a file for what commands change: %w", err), r.Close())
		}
		_ = os.Remove(scratch.Name()) // not on Windows; it goes with its folder there
		r.scratch = append(r.scratch, scratch)
		r.Trees = append(r.Trees, checkpoint.New(checkpoint.Config{
			Root: root, Leave: c.State, Home: c.Home, Blobs: c.Blobs, Scratch: scratch,
			Git: git, Env: append(proc.Quiet(proc.Scrub(c.Environ, nil)), conf.PinnedEnv()...), Now: time.Now,
		}))
	}
	return r, nil
}

// Seen implements session.Files.
func (r *Recorder) Seen(list []effect.File) {
	if r.told != nil {
		r.told(list)
	}
}

// Close ends the record.
func (r *Recorder) Close() (err error) {
	for i, f := range r.scratch {
		if i < len(r.Trees) {
			r.Trees[i].Close()
		}
		err = errors.Join(err, f.Close())
	}
	return err
}

// Open opens a session that no process runs, by its ID, only to go back in it:
// it has no model.
func Open(ctx context.Context, run sessions.Run, id string) (*session.Session, error) {
	log, err := sessions.Choose(ctx, run, sessions.Choice{Resume: id})
	if err != nil {
		return nil, err
	}
	s, err := session.Start(ctx, session.Config{
		Log: log, Again: event.Resumed{Version: run.Version, Torn: log.Torn}, Now: time.Now,
		Files: &Recorder{Recorder: &checkpoint.Recorder{Blobs: log.Blobs()}},
	})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return s, nil
}

// Diff is what the calls of a session changed on disk until now.
func Diff(ctx context.Context, st sessions.Store, i store.Info) (out []view.Block, err error) {
	var changes []effect.Change
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
