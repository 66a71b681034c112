package checkpoint

import (
	"context"
	"fmt"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/diff"
	"github.com/adze-agent/adze/internal/view"
)

// TakeBack undoes changes, the oldest first; see Restore. begin is called with what is
// to be changed, before the first file is; with an error of it nothing is. When ctx ends
// meanwhile, what was done is undone. Foreign are the paths that something else changed
// since the newest of the changes. progress, when set, is told how many paths of all were put back.
func (r *Recorder) TakeBack(ctx context.Context, changes []effect.Change, begin func(todo []effect.Change) error, progress func(done, of int)) (done []effect.Change, problems, foreign []string, err error) {
	p := &restorer{blobs: r.Blobs, pipes: true}
	p.planAll(ctx, Back(changes), progress)
	if err := ctx.Err(); err != nil {
		return nil, nil, nil, err
	}
	if len(p.todo) > 0 {
		if err := begin(p.todo); err != nil {
			return nil, nil, nil, err
		}
	}
	done, err = p.restore(ctx, progress)
	if err != nil && ctx.Err() != nil {
		_, _, _ = Restore(context.WithoutCancel(ctx), r.Blobs, Back(done)) // what it could not do is seen below
		done = Since(p.todo)
	}
	r.mu.Lock()
	r.back = append(r.back, done...)
	r.mu.Unlock()
	return done, append(p.problems, p.elsewhere()...), p.foreign, err
}

// Since is what was done of changes that were to be made, by what stands there now.
func Since(todo []effect.Change) (done []effect.Change) {
	for _, c := range todo {
		now, err := Look(c.Path, nil)
		if c.After, c.Names = now, nil; err == nil && c.Before != c.After {
			done = append(done, c)
		}
	}
	return done
}

// Join puts two lists of changes, one after the other, into one.
func Join(first, then []effect.Change) []effect.Change {
	if len(first) == 0 {
		return then
	}
	return joinChanges(first, then)
}

// Preview says what TakeBack would do now, by path, and what it could not do.
func (r *Recorder) Preview(ctx context.Context, changes []effect.Change) (files []event.FileChange, lost []string) {
	for _, c := range Back(changes) {
		if ctx.Err() != nil {
			break
		}
		f, d, problem := r.preview(c)
		if problem != "" {
			lost = append(lost, c.Path+": "+problem)
		}
		if f.Kind != "" {
			f.Added, f.Removed = d.Added, d.Removed
			files = append(files, f)
		}
	}
	return files, lost
}

// preview compares what is there now with what would be.
func (r *Recorder) preview(c effect.Change) (f event.FileChange, d view.Diff, problem string) {
	now, err := Look(c.Path, nil)
	if err != nil {
		return f, d, unreadable(err)
	}
	want := c.After
	want.Lost = ""
	f = event.FileChange{Path: c.Path, Foreign: foreign(now, c.Before)}
	switch {
	case now == want:
		return event.FileChange{}, d, ""
	case want.Kind == effect.Elsewhere:
		return event.FileChange{}, d, errElsewhere.Error()
	case want.Kind == effect.IsSpecial:
		return event.FileChange{}, d, errSpecial.Error()
	case want.Kind == effect.IsFile && want.Hash == "":
		return event.FileChange{}, d, "what stood there before was not kept: " + c.After.Lost
	case now.Kind == effect.IsFile && now.Hash == "":
		return event.FileChange{}, d, errLarge.Error()
	case now.Kind == effect.IsSpecial:
		return event.FileChange{}, d, errPipe.Error()
	case want.Kind == effect.Absent:
		f.Kind = "removed"
	case now.Kind == effect.Absent:
		f.Kind = "created"
	case now.Kind == want.Kind && now.Hash == want.Hash && now.Link == want.Link:
		f.Kind = "mode"
	default:
		f.Kind = "changed"
	}
	if want.Kind == effect.IsFile || now.Kind == effect.IsFile {
		d = r.shown(c.Path, now, want)
	}
	return f, d, ""
}

// shown is the difference of two versions of a file, without one for what is no
// text.
func (r *Recorder) shown(path string, now, want effect.Version) view.Diff {
	from, ok := r.text(path, now, true)
	to, ok2 := r.text(path, want, false)
	if !ok || !ok2 {
		return view.Diff{Path: path}
	}
	return diff.Shown(path, from, to, now.Kind == effect.Absent)
}

// maxText bounds a file that is compared for people, in bytes.
const maxText = 4 << 20

// text is the content of a version, of what is on disk now or was kept.
func (r *Recorder) text(path string, v effect.Version, disk bool) (s string, ok bool) {
	if v.Kind != effect.IsFile {
		return "", true
	}
	if v.Size > maxText {
		return "", false
	}
	var b []byte
	var err error
	if disk {
		b, err = content(path)
	} else {
		b, err = r.Blobs.Get(v.Hash)
	}
	if err != nil || clip.Binary(b) {
		return "", false
	}
	return string(b), true
}

// Diff is what changes came to until now, for people: a diff for each file that
// is not what it was, by path.
func (r *Recorder) Diff(changes []effect.Change) (out []view.Block) {
	for _, c := range Back(changes) {
		now, err := Look(c.Path, nil)
		was := c.After
		was.Lost = ""
		if err != nil || now == was {
			continue
		}
		switch {
		case was.Kind == effect.IsFile && was.Hash == "":
			out = append(out, view.Diff{Path: c.Path, Unified: "\\ what stood there before was not kept: " + c.After.Lost + "\n"})
		case was.Kind == effect.IsFile || now.Kind == effect.IsFile:
			out = append(out, r.since(c.Path, was, now))
		default:
			out = append(out, view.Diff{Path: c.Path, Unified: "\\ " + describe(was) + " is now " + describe(now) + "\n"})
		}
	}
	return out
}

// since is what became of a version.
func (r *Recorder) since(path string, was, now effect.Version) view.Diff {
	from, ok := r.text(path, was, false)
	to, ok2 := r.text(path, now, true)
	d := view.Diff{Path: path, Created: was.Kind == effect.Absent}
	if ok && ok2 {
		d = diff.Shown(path, from, to, d.Created)
	} else {
		d.Unified = "\\ it is no text, or too large to be compared\n"
	}
	if was.Kind == effect.IsFile && now.Kind == effect.IsFile && was.Mode != now.Mode {
		d.Unified += "\\ its mode was " + mode(was) + " and is " + mode(now) + "\n"
	}
	return d
}

func mode(v effect.Version) string { return fmt.Sprintf("%04o", v.Mode&0o777) }

// describe names a version in a sentence.
func describe(v effect.Version) string {
	switch v.Kind {
	case effect.Absent:
		return "nothing"
	case effect.IsFolder:
		return "a folder (" + mode(v) + ")"
	case effect.IsLink:
		return "a link to " + clip.Visible(v.Link)
	case effect.IsFile:
		return "a file"
	case effect.IsSpecial, effect.Elsewhere:
	}
	return "something else"
}
