package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A Recorder notes what calls change: those that only write files that they
// name, by these files and the names that appear beside them; all others by
// whole trees.
type Recorder struct {
	Trees []*Tree // that commands work in
	Blobs Blobs
	// Beside reports whether something runs that an earlier call left running,
	// so that what changed between two calls may be its doing. nil is no.
	Beside func() bool
	// Journal keeps what calls that run change; nil: it goes with the process.
	Journal *Journal

	mu      sync.Mutex      // guards what follows
	calls   int             // that were recorded
	running int             // of them
	pending bool            // a call did not end, or left something running
	back    []effect.Change // what a rewind did since the newest look
	said    map[string]bool // notes
}

// Begin looks at what a call with these actions may change. end, called once
// after it, says what it did change. note is for people, when not all can be
// recorded.
func (r *Recorder) Begin(ctx context.Context, actions []policy.Action) (end func(context.Context) effect.Changed, note string) {
	r.rest()
	paths, whole := r.scope(actions)
	var near *nearby
	if !whole {
		n, ok := r.named(actions, paths)
		if ok = ok && !slices.ContainsFunc(n.paths, linked); ok { // else what is written by one name is changed under all
			near, paths = n, n.paths
		} else {
			whole, paths = true, r.outside(paths)
		}
	}
	before, times := make([]effect.Version, len(paths)), make([]time.Time, len(paths))
	for i, p := range paths {
		times[i] = changedAt(p)
		v, err := Look(p, r.Blobs)
		if err != nil {
			v.Lost = unreadable(err)
		}
		before[i] = v
	}
	var marks []*Mark
	var others []effect.Change
	var unknown []string
	if whole {
		marks, others, unknown, note = r.marks(ctx)
	}
	call := r.journal(beginRecord{Others: others, Apart: whole && slices.ContainsFunc(r.Trees, (*Tree).apart)}, paths, before)
	return func(ctx context.Context) (out effect.Changed) {
		defer func() { r.finish(ctx, call, out) }()
		switch {
		case len(marks) > 0:
			r.ended()
		case commands(actions) && r.runs(): // what was named is compared below
			var late []effect.Change
			_, late, unknown, _ = r.marks(ctx)
			others = joinChanges(others, late)
		}
		out.Missed = unknown
		for _, m := range marks {
			now, err := m.End(ctx)
			out.Files, out.Missed = joinChanges(out.Files, now.Files), append(out.Missed, now.Missed...)
			if err != nil {
				out.Missed = append(out.Missed, err.Error())
			}
		}
		for i, p := range paths {
			after, err := Look(p, nil)
			c := effect.Change{Path: p, Before: before[i], After: after}
			if err == nil && c.Before != c.After {
				out.Files = append(out.Files, c)
			}
			if c.Before.Lost != "" && (c.Before != c.After || !changedAt(p).Equal(times[i])) {
				out.Missed = append(out.Missed, p+": "+c.Before.Lost)
			}
		}
		if near != nil {
			out.Files = append(out.Files, r.appeared(near)...)
		}
		if len(others) > 0 {
			out.Files = joinChanges(others, out.Files)
		}
		return out
	}, note
}

// Late is what changed since the newest look, where what calls left running may have done
// it. Where a call runs, its end says it.
func (r *Recorder) Late(ctx context.Context) (out effect.Changed) {
	r.mu.Lock()
	due := r.pending && r.running == 0
	r.mu.Unlock()
	if !due {
		return out
	}
	_, others, unknown, _ := r.marks(ctx)
	r.ended()
	if out.Files = others; len(others) > 0 {
		out.Missed = append(missed(others), unknown...)
	}
	return out
}

// commands reports whether a call runs commands that change something: one that goes on in the
// background changes more than what was seen at the call's end.
func commands(actions []policy.Action) bool {
	runs, writes := false, false
	for a := range policy.All(actions) {
		switch a := a.(type) {
		case policy.Exec:
			runs, writes = true, writes || !a.ReadOnly
		case policy.Write:
			writes = true
		default: // reads, or is looked at as a whole
		}
	}
	return runs && writes
}

// missed says of which changes it is not known what was there before.
func missed(changes []effect.Change) (out []string) {
	for _, c := range changes {
		if c.Before.Lost != "" {
			out = append(out, c.Path+": "+c.Before.Lost)
		}
	}
	return out
}

// runs reports whether something runs that calls left running.
func (r *Recorder) runs() bool { return r.Beside != nil && r.Beside() }

// linked reports whether a file has several names.
func linked(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().IsRegular() && links(fi) > 1
}

// rest lets the journal make room, while no call runs.
func (r *Recorder) rest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == 0 {
		r.Journal.rest()
	}
}

// journal notes a call that begins, and returns its number.
func (r *Recorder) journal(b beginRecord, paths []string, before []effect.Version) (call int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	r.running++
	b.Call = r.calls
	for i, p := range paths {
		b.Files = append(b.Files, effect.Change{Path: p, Before: before[i]})
	}
	r.Journal.begin(r.running == 1, b)
	return r.calls
}

// finish notes what a call changed.
func (r *Recorder) finish(ctx context.Context, call int, changed effect.Changed) {
	r.mu.Lock()
	r.running--
	alone := r.running == 0
	r.Journal.end(endRecord{call, changed})
	r.mu.Unlock()
	for _, t := range r.Trees {
		if !alone {
			t.keep(ctx) // what the others change comes on top of it
		}
	}
}

// marks looks at every tree. What changed since the last call, others, counts
// where something of ours may have done it. A tree that cannot be looked at is
// left out, which unknown says, and of which folders nothing is recorded; note is what of
// that, and of files, a person was not told yet.
func (r *Recorder) marks(ctx context.Context) (marks []*Mark, others []effect.Change, unknown []string, note string) {
	var left []string
	beside := r.runs()
	for i, t := range r.Trees {
		t.beside(beside)
		m, err := t.Begin(ctx)
		if err != nil {
			if i > 0 {
				err = fmt.Errorf("in %s: %w", t.root, err)
			}
			text := "What commands change is not recorded, and cannot be taken back: " + err.Error()
			left, unknown = append(left, text), append(unknown, text)
			continue
		}
		if m.Unknown != "" {
			unknown = append(unknown, m.Unknown)
		}
		if m.Left != "" {
			left = append(left, m.Left)
		}
		marks, others = append(marks, m), append(others, m.Others...)
	}
	if len(marks) > 0 {
		others = r.begun(others)
	}
	return marks, others, unknown, r.note(left)
}

// changedAt is the time of what stands at a path, zero when nothing does.
func changedAt(path string) time.Time {
	fi, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return fi.ModTime()
}

// joinChanges puts two lists, one after the other, into one.
func joinChanges(first, then []effect.Change) []effect.Change {
	at := map[string]int{}
	out := slices.Clone(first)
	for i, c := range out {
		at[c.Path] = i
	}
	for _, c := range then {
		if i, ok := at[c.Path]; ok {
			out[i].After = c.After
			continue
		}
		out = append(out, c)
	}
	return slices.DeleteFunc(out, nothing)
}

// begun notes a look, and returns what others of ours may have changed since the last one:
// nothing when none ran, and not what a rewind did.
func (r *Recorder) begun(changes []effect.Change) (ours []effect.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending {
		ours = slices.DeleteFunc(changes, func(c effect.Change) bool {
			return slices.ContainsFunc(r.back, func(b effect.Change) bool { return b.Path == c.Path && b.After == c.After })
		})
	}
	r.pending, r.back = true, nil
	return ours
}

// note is what of it a person was not told yet.
func (r *Recorder) note(unknown []string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said == nil {
		r.said = map[string]bool{}
	}
	var notes []string
	for _, text := range unknown {
		if !r.said[text] {
			notes = append(notes, text)
		}
		r.said[text] = true
	}
	return strings.Join(notes, "\n")
}

func (r *Recorder) ended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = r.runs()
}

// scope is what a call may change: files that it names, or anything.
func (r *Recorder) scope(actions []policy.Action) (files []string, whole bool) {
	for a := range policy.All(actions) {
		switch a := a.(type) {
		case policy.Exec:
			whole = whole || !a.ReadOnly && !a.Edits
		case policy.Opaque, policy.Call, policy.Spawn, policy.Workflow:
			whole = true
		case policy.Write:
			if a.Tree || a.Below != nil || a.Within {
				whole = true
			} else if a.Path != "" && !slices.Contains(files, a.Path) {
				files = append(files, a.Path)
				files = unmade(files, a.Path)
			}
		case policy.Read, policy.Net, policy.Tell, policy.Skill, policy.Person, policy.None:
		}
	}
	if whole {
		files = r.outside(files)
	}
	return files, whole
}

// unmade adds the folders that have to be made for a path.
func unmade(files []string, path string) []string {
	for dir := filepath.Dir(path); !slices.Contains(files, dir) && len(files) < maxNamed; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		files = append(files, dir)
	}
	return files
}

// outside are the files that are in no tree.
func (r *Recorder) outside(files []string) []string {
	return slices.DeleteFunc(files, func(p string) bool {
		return slices.ContainsFunc(r.Trees, func(t *Tree) bool { return paths.Within(t.root, p) })
	})
}
