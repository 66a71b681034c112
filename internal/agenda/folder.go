package agenda

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/schedule"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Files with the schedules of a folder, below its root. Adze writes the first. The other is
// that of Claude Code 2.1.332, and only read.
const (
	OwnFile   = ".adze/schedules.json"
	TheirFile = ".claude/scheduled_tasks.json"
)

// Bounds of the files, in bytes.
const (
	maxFile   = 2 << 20
	maxRecord = 4 << 20
)

// A Folder is the schedules of a folder. They are in files that everybody who has the
// repository can write, so that none comes before the person has allowed it, as it stands
// there, and while the folder is not trusted. What was allowed, and what has come, is in a
// record outside of it, under the lock of which every change is made: so each time comes in
// one process only, and what is deleted comes in none.
type Folder struct {
	Root   string // of the project
	Record string // <state>/schedules.json
	// Trusted reports whether what the folder brings may count.
	Trusted func() bool
	Now     func() time.Time
}

// A Standing is a schedule of a folder.
type Standing struct {
	Listed
	File string // that it stands in, below the root
	// Allowed: the person allowed it as it stands there. Bad is why it cannot come, "" where
	// it can.
	Allowed bool
	Bad     string
}

// A record is what is known of the schedules of all folders.
type record struct {
	Version int                       `json:"version"`
	Folders map[string]map[string]bit `json:"folders"` // by root and ID
}

// A bit is what is known of one.
type bit struct {
	Hash  string `json:"hash"`           // of what was allowed
	Since int64  `json:"since"`          // when it was, in milliseconds since 1970
	Last  int64  `json:"last,omitempty"` // the time that it was set for when it came last, in seconds since 1970
}

const version = 1

// tasks is the form of both files.
type tasks struct {
	Tasks []schedule.Entry `json:"tasks"`
}

var anID = pattern.Lazy(`^[A-Za-z0-9_-]{1,40}$`)

// hash is that of what a person allows.
func hash(e schedule.Entry) string {
	text, _ := json.Marshal(e) // of strings and numbers
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Here reports whether the folder has a file with schedules.
func (f *Folder) Here() bool {
	for _, name := range []string{OwnFile, TheirFile} {
		if _, err := os.Lstat(filepath.Join(f.Root, filepath.FromSlash(name))); err == nil {
			return true
		}
	}
	return false
}

// read is what the files say. A file that cannot be read says nothing, and errs why.
func (f *Folder) read() (out []Standing, errs error) {
	for _, name := range []string{OwnFile, TheirFile} {
		text, err := confedit.Disk{}.Read(filepath.Join(f.Root, filepath.FromSlash(name)), maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var t tasks
		if err == nil && len(text) > 0 {
			err = json.Unmarshal(text, &t)
		}
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("reading %s: %w", name, err))
			continue
		}
		for _, e := range t.Tasks {
			if slices.ContainsFunc(out, func(s Standing) bool { return s.ID == e.ID }) {
				continue // of two with one ID, the first counts
			}
			s := Standing{Listed: Listed{Entry: e}, File: name}
			switch err := e.Check(); {
			case !anID().MatchString(e.ID):
				s.Bad = "its ID is not 1 to 40 letters and digits"
			case err != nil:
				s.Bad = err.Error()
			case e.Wakeup != "":
				s.Bad = "a wake-up is a session's own"
			case len(out) >= schedule.Most:
				s.Bad = fmt.Sprintf("a folder has at most %d schedules", schedule.Most)
			}
			out = append(out, s)
		}
	}
	return out, errs
}

// with is what stands in the files with what the record says.
func (f *Folder) with(list []Standing, known map[string]bit) {
	now := f.Now()
	for i := range list {
		s := &list[i]
		s.Human = s.Entry.Human(now.Location())
		b, ok := known[s.ID]
		if s.Allowed = ok && b.Hash == hash(s.Entry) && s.Bad == ""; s.Allowed {
			s.Next = b.of(s.Entry).Next(schedule.Numbered(int(b.Last)), now.Location())
			if s.Next.IsZero() {
				s.Bad = "it comes no more"
			}
		}
	}
}

// of is an entry as it counts: from the time on at which it was allowed.
func (b bit) of(e schedule.Entry) schedule.Entry {
	e.Created = max(e.Created, b.Since)
	return e
}

// List is the schedules of the folder, in their order in the files. The error says what
// could not be read; the rest is there.
func (f *Folder) List() ([]Standing, error) {
	list, errs := f.read()
	text, err := confedit.Disk{}.Read(f.Record, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = nil, nil
	}
	var r record
	if err == nil {
		r, err = parse(text)
	}
	f.with(list, r.Folders[f.Root])
	return list, errors.Join(errs, err)
}

func parse(text []byte) (record, error) {
	r := record{Version: version}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &r); err != nil {
			return record{}, fmt.Errorf("the record of schedules cannot be read: %w", err)
		}
		if r.Version > version {
			return record{}, errors.New("the record of schedules was written by a newer version of adze")
		}
	}
	return r, nil
}

// change changes the record, under its lock.
func (f *Folder) change(ctx context.Context, edit func(known map[string]bit) error) error {
	dir := filepath.Dir(f.Record)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var no error // of edit, which says all
	err := confedit.Editor{}.Rewrite(ctx, confedit.Target{Path: f.Record, Root: dir}, func(text []byte) ([]byte, error) {
		r, err := parse(text)
		if err != nil {
			return nil, err
		}
		known, was := map[string]bit{}, r.Folders[f.Root]
		maps.Copy(known, was)
		if no = edit(known); no != nil {
			return nil, no
		}
		if maps.Equal(known, was) {
			return text, nil
		}
		if r.Folders == nil {
			r.Folders = map[string]map[string]bit{}
		}
		r.Folders[f.Root] = known
		out, err := json.MarshalIndent(r, "", "  ")
		return append(out, '\n'), err
	})
	return cmp.Or(no, err)
}

// write changes the file that adze writes. It is called under the lock of the record.
func (f *Folder) write(ctx context.Context, edit func(t *tasks) error) error {
	return confedit.Editor{}.Rewrite(ctx, confedit.Target{Path: filepath.Join(f.Root, filepath.FromSlash(OwnFile)), Root: f.Root, Mode: 0o644}, func(text []byte) ([]byte, error) {
		var t tasks
		if len(text) > 0 {
			if err := json.Unmarshal(text, &t); err != nil {
				return nil, fmt.Errorf("%s cannot be read: %w", OwnFile, err)
			}
		}
		if err := edit(&t); err != nil {
			return nil, err
		}
		out, err := json.MarshalIndent(t, "", "  ")
		return append(out, '\n'), err
	})
}

// Add writes a schedule into the folder's file. The person has allowed it.
func (f *Folder) Add(ctx context.Context, e schedule.Entry) (Listed, error) {
	now := f.Now()
	id := make([]byte, 3)
	if _, err := rand.Read(id); err != nil {
		return Listed{}, err
	}
	e.ID, e.Created = "d"+hex.EncodeToString(id), now.UnixMilli()
	if err := e.Check(); err != nil {
		return Listed{}, err
	}
	list, err := f.read()
	if err != nil {
		return Listed{}, err
	}
	if len(list) >= schedule.Most {
		return Listed{}, fmt.Errorf("this folder has %d schedules, and can have no more; delete one first", len(list))
	}
	if err := os.MkdirAll(filepath.Join(f.Root, filepath.FromSlash(OwnFile), ".."), 0o755); err != nil {
		return Listed{}, err
	}
	err = f.change(ctx, func(known map[string]bit) error {
		known[e.ID] = bit{Hash: hash(e), Since: e.Created}
		return f.write(ctx, func(t *tasks) error {
			t.Tasks = append(t.Tasks, e)
			return nil
		})
	})
	return item{Entry: e}.listed(now), err
}

// Set is Add of what a person says: when it comes, and what it says. once: at the first such
// time only; keep: it does not end after 30 days; skip: what was missed does not come.
func (f *Folder) Set(ctx context.Context, when, prompt string, once, keep, skip bool) (Listed, error) {
	e, err := schedule.When(when, prompt)
	if err != nil {
		return Listed{}, err
	}
	if e.Recurring, e.Permanent = !once, keep; skip {
		e.Missed = schedule.Skip
	}
	return f.Add(ctx, e)
}

// Delete takes a schedule out of the folder's file. One of another file comes no more, and
// stays where it stands: left is its file then. The error is ErrNone where there is none.
func (f *Folder) Delete(ctx context.Context, id string) (e schedule.Entry, left string, err error) {
	err = f.change(ctx, func(known map[string]bit) error {
		list, err := f.read()
		i := slices.IndexFunc(list, func(s Standing) bool { return s.ID == id })
		switch {
		case i < 0 && err != nil:
			return err
		case i < 0:
			return ErrNone
		}
		e = list[i].Entry
		delete(known, id)
		if list[i].File != OwnFile {
			left = list[i].File
			return nil
		}
		return f.write(ctx, func(t *tasks) error {
			t.Tasks = slices.DeleteFunc(t.Tasks, func(x schedule.Entry) bool { return x.ID == id })
			return nil
		})
	})
	return e, left, err
}

// Allow has a schedule come from now on, as it stands in the folder now. seen is what the
// person saw of it.
func (f *Folder) Allow(ctx context.Context, seen schedule.Entry) (Listed, error) {
	now := f.Now()
	b := bit{Hash: hash(seen), Since: now.UnixMilli()}
	err := f.change(ctx, func(known map[string]bit) error {
		list, err := f.read()
		i := slices.IndexFunc(list, func(s Standing) bool { return s.ID == seen.ID })
		switch {
		case i < 0 && err != nil:
			return err
		case i < 0:
			return ErrNone
		case list[i].Bad != "":
			return errors.New(list[i].Bad)
		case hash(list[i].Entry) != b.Hash:
			return errors.New("it was changed just now: look at it again")
		}
		known[seen.ID] = b
		return nil
	})
	return item{Entry: b.of(seen)}.listed(now), err
}

// A claim is a schedule that has come, in this process and in no other.
type claim struct {
	schedule.Entry
	due  schedule.Due
	was  bit
	file string
}

// claim takes what has come, and says when the next comes, zero for never. Whatever busy
// says is left for later.
func (f *Folder) claim(ctx context.Context, busy func(id string) bool) (out []claim, next time.Time, err error) {
	if !f.Here() || !f.Trusted() {
		return nil, next, nil
	}
	list, err := f.List() // without the lock: mostly nothing has come
	now, due := f.Now(), false
	for _, s := range list {
		if s.Allowed && !s.Next.IsZero() {
			due = due || !s.Next.After(now)
			if next.IsZero() || s.Next.Before(next) {
				next = s.Next
			}
		}
	}
	if !due {
		return nil, next, err
	}
	err = f.change(ctx, func(known map[string]bit) error {
		out, next = nil, time.Time{}
		list, _ := f.read() // what cannot be read does not come
		f.with(list, known)
		for _, s := range list {
			if !s.Allowed || s.Next.IsZero() {
				continue
			}
			b := known[s.ID]
			e := b.of(s.Entry)
			if d, ok := e.Due(schedule.Numbered(int(b.Last)), now); ok && !busy(s.ID) {
				out = append(out, claim{e, d, b, s.File})
				b.Last = d.At.Unix()
				known[s.ID] = b
			}
			if at := e.Next(schedule.Numbered(int(b.Last)), now.Location()); !at.IsZero() && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
		return nil
	})
	if err != nil { // another one has it, or nobody
		return nil, next, err
	}
	return out, next, nil
}

// done takes a schedule that comes once out of the folder's file: it has come.
func (f *Folder) done(ctx context.Context, c claim) {
	if !c.Once() || c.file != OwnFile {
		return
	}
	_, _, _ = f.Delete(ctx, c.ID) // else it stands there, and comes no more
}

// unclaim gives back what could not be given to the session.
func (f *Folder) unclaim(ctx context.Context, c claim) {
	_ = f.change(ctx, func(known map[string]bit) error { // else it is lost, and comes the next time
		if b, ok := known[c.ID]; ok && b.Last == c.due.At.Unix() {
			known[c.ID] = c.was
		}
		return nil
	})
}

// About says what a schedule of a folder is, for people.
func (s Standing) About(now time.Time) string {
	state := "next on " + s.Next.In(now.Location()).Format("2006-01-02 at 15:04:05")
	switch {
	case s.Bad != "":
		state = s.Bad
	case !s.Allowed:
		state = "not allowed yet"
	}
	return fmt.Sprintf("%s  %s (%s; %s): %s", clip.Visible(s.ID), s.Human, s.File, state, clip.Line(clip.Visible(s.Prompt), 200))
}
