// Package rewind records what the calls of a session change on disk, and opens
// a session that no process runs, to go back in it. How changes are found, kept
// and put back is for package checkpoint; what a rewind is, for package session.
package rewind

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/checkpoint"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
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
	Environ []string // of the process; programs are looked for in its PATH
	Blobs   store.Blobs
	Scratch string      // the session's own folder, "" when nothing is on a disk
	Beside  func() bool // something that a call began runs
	// Told learns what the model knows of files after a rewind; nil: nobody.
	Told func([]effect.File)
}

// A Recorder is what a session's calls changed. Close it in the end.
type Recorder struct {
	*checkpoint.Recorder
	cut     func(context.Context) effect.Changed
	left    effect.Changed // what cut said
	halfway string         // what a rewind that was cut off changed, for people
	mu      sync.Mutex     // guards scratch
	scratch []*os.File     // of trees that are not in the journal
	told    func([]effect.File)
	watched func(done, of int) // is told of a rewind, too; nil: nobody
}

// journalName is the folder of the journal, in a session's own one.
const journalName = "before"

// Record makes a recorder. Contents that a command could change are copied to
// the session's folder, from where they go when the session is closed, and to
// a file without a name where it has none.
func Record(c Config) *Recorder {
	roots := []string{c.Root}
	for _, dir := range c.More {
		if !slices.ContainsFunc(roots, func(root string) bool { return paths.Within(root, dir) }) {
			roots = append(roots, dir)
		}
	}
	base := common(c.Blobs, c.Environ, roots)
	r := &Recorder{Recorder: &checkpoint.Recorder{Blobs: c.Blobs, Beside: c.Beside}, told: c.Told, cut: cut(c.Scratch, base)}
	if c.Scratch != "" {
		r.Journal = checkpoint.NewJournal(filepath.Join(c.Scratch, journalName))
	}
	for _, root := range roots {
		t := base
		t.Root, t.Leave, t.Home, t.Journal = root, c.State, c.Home, r.Journal
		t.Scratch = func() (*os.File, error) {
			scratch, err := os.CreateTemp(c.Temp, "before-")
			if err != nil {
				return nil, err
			}
			_ = os.Remove(scratch.Name()) // not on Windows; it goes with its folder there
			r.mu.Lock()
			defer r.mu.Unlock()
			r.scratch = append(r.scratch, scratch)
			return scratch, nil
		}
		r.Trees = append(r.Trees, checkpoint.New(t))
	}
	return r
}

// common is what all trees of a session share.
func common(blobs store.Blobs, environ, roots []string) checkpoint.Config {
	path := ""
	for _, v := range environ {
		if p, is := strings.CutPrefix(v, "PATH="); is {
			path = p
		}
	}
	c := checkpoint.Config{Blobs: blobs, Env: append(proc.Quiet(proc.Scrub(environ, nil)), conf.PinnedEnv()...), Now: time.Now}
	c.Git, _ = proc.Lookup("git", path, roots)
	return c
}

// cut says what calls changed that the last process of a session left open.
func cut(scratch string, c checkpoint.Config) func(context.Context) effect.Changed {
	return func(ctx context.Context) effect.Changed {
		if scratch == "" {
			return effect.Changed{}
		}
		return checkpoint.Recover(ctx, filepath.Join(scratch, journalName), c)
	}
}

// Cut implements session.Files.
func (r *Recorder) Cut(ctx context.Context) effect.Changed {
	r.left = r.cut(ctx)
	return r.left
}

// TakeBack implements session.Files.
func (r *Recorder) TakeBack(ctx context.Context, changes []effect.Change, begin func([]effect.Change) error, progress func(done, of int)) (out session.TakenBack, err error) {
	out.Done, out.Problems, out.Foreign, err = r.Recorder.TakeBack(ctx, changes, begin, func(done, of int) {
		if progress(done, of); r.watched != nil {
			r.watched(done, of)
		}
	})
	return out, err
}

// Join implements session.Files.
func (r *Recorder) Join(first, then []effect.Change) []effect.Change {
	return checkpoint.Join(first, then)
}

// Unfinished implements session.Files.
func (r *Recorder) Unfinished(b event.RewindBegan) event.Rewound {
	e := event.Rewound{To: b.To, ID: b.ID, Text: b.Text, Undo: b.Undo, Code: true, Cut: "adze ended meanwhile", Changes: checkpoint.Since(b.Changes)}
	r.halfway = e.String()
	return e
}

// Left says for people what a rewind or a call changed that was cut off by the end of the
// process before, "" when none was. It is known once the session has started.
func (r *Recorder) Left() string {
	if len(r.left.Files)+len(r.left.Missed) == 0 {
		return r.halfway
	}
	text := fmt.Sprintf("adze was ended while a call ran. %s changed on disk since it began, whoever did it: adze diff shows them, and a rewind takes them back.", clip.Count(len(r.left.Files), "file"))
	for _, m := range r.left.Missed {
		text += "\nNot recorded: " + m
	}
	if r.halfway != "" {
		text = r.halfway + "\n" + text
	}
	return text
}

// Seen implements session.Files.
func (r *Recorder) Seen(list []effect.File) {
	if r.told != nil {
		r.told(list)
	}
}

// Close ends the record.
func (r *Recorder) Close() (err error) {
	for _, t := range r.Trees {
		t.Close()
	}
	for _, f := range r.scratch {
		err = errors.Join(err, f.Close())
	}
	return errors.Join(err, r.Journal.Close())
}

// Open opens a session that no process runs, by its ID, only to go back in it:
// it has no model. left is what Left says. A rewind that ctx ends is settled and recorded all the same.
func Open(ctx context.Context, run sessions.Run, environ []string, id string, progress func(done, of int)) (s *session.Session, left string, err error) {
	log, err := sessions.Choose(ctx, run, sessions.Choice{Resume: id})
	if err != nil {
		return nil, "", err
	}
	files := &Recorder{
		Recorder: &checkpoint.Recorder{Blobs: log.Blobs()}, watched: progress,
		cut: cut(log.Scratch(), common(log.Blobs(), environ, []string{run.Root})),
	}
	if s, err = session.Start(context.WithoutCancel(ctx), session.Config{ // ends with Close
		Record: session.Record{Log: log, Again: event.Resumed{Version: run.Version, Torn: log.Torn}},
		Hands:  session.Hands{Files: files},
		Now:    time.Now,
	}); err != nil {
		return nil, "", errors.Join(err, log.Close())
	}
	if dir := log.Scratch(); dir != "" { // what the journal knew is in the log, behind the end of the turn, which is synced
		_ = checkpoint.NewJournal(filepath.Join(dir, journalName)).Close() // what stays goes when a session next runs
	}
	return s, files.Left(), nil
}

// Read yields the events of a session. Where a call was cut off by the end of
// its process, or runs in one, the last event is what it changed until now.
func Read(ctx context.Context, st sessions.Store, i store.Info, environ []string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		open := map[string]string{}
		for e, err := range st.Read(ctx, i, 0) {
			if !yield(e, err) {
				return
			}
			switch b := e.Body.(type) {
			case event.ToolStarted:
				open[b.Call] = b.Name
			case event.ToolFinished:
				delete(open, b.Call)
			case event.TurnEnded:
				clear(open)
			default: // about no call
			}
		}
		for call, name := range open {
			changed := cut(st.Scratch(i), common(st.Blobs(i), environ, []string{i.Dir}))(ctx)
			yield(event.Event{Body: event.ToolFinished{Call: call, Name: name, Effects: []effect.Effect{changed}}}, nil)
			return
		}
	}
}

// Diff is what the calls of a session changed on disk until now.
func Diff(ctx context.Context, st sessions.Store, i store.Info, environ []string) (out []view.Block, err error) {
	var changes []effect.Change
	for e, err := range Read(ctx, st, i, environ) {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case event.ToolFinished, event.InputAccepted, event.FilesChanged:
			changes = append(changes, event.ChangedBy(b).Files...)
		case event.Rewound:
			changes = append(changes, b.Changes...)
		default: // changes no file
		}
	}
	return (&checkpoint.Recorder{Blobs: st.Blobs(i)}).Diff(changes), nil
}
