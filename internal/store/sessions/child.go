package sessions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/store/seal"
)

// childrenName is the folder beside a session's log that has the sessions of its children.
const childrenName = "agents"

// children is the project, as Catalogue has it, of a session's children. They are in no
// list of another project.
func children(key, id string) string { return filepath.Join(key, id, childrenName) }

// Child is a child of a session, by its ID. The error is store.ErrNone.
func (s Store) Child(of store.Info, id string) (store.Info, error) {
	if !ValidID(id) {
		return store.Info{}, store.ErrNone
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return store.Info{}, err
	}
	defer root.Close()
	i, err := s.info(root, children(of.Key, of.ID), id)
	if errors.Is(err, fs.ErrNotExist) {
		err = store.ErrNone
	}
	return i, err
}

// Children are the children of a session, in no useful order. One that cannot be read is
// left out.
func (s Store) Children(ctx context.Context, of store.Info) (out []store.Info, err error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	key := children(of.Key, of.ID)
	ids, err := folders(root, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, id := range ids {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if i, err := s.info(root, key, id); ValidID(id) && err == nil {
			out = append(out, i)
		}
	}
	return out, err
}

// Line splits the project of a child, as Catalogue has it, into the project of the session
// that all began with, the ID of that session, and those of the children on the way. For a
// session that is no child, path is empty.
func Line(key string) (project string, path []string) {
	parts := strings.Split(filepath.ToSlash(key), "/")
	for n := 1; n < len(parts); n += 2 {
		path = append(path, parts[n])
	}
	return parts[0], path
}

// ReadChild reads the log of a child of a child … of a session behind an event. path are
// their IDs, from the session's own child on.
func (s Store) ReadChild(ctx context.Context, of store.Info, path []string, after event.Seq) iter.Seq2[event.Event, error] {
	for _, id := range path {
		next, err := s.Child(of, id)
		if err != nil {
			return func(yield func(event.Event, error) bool) { yield(event.Event{}, err) }
		}
		of = next
	}
	return s.Read(ctx, of, after)
}

// Info is what a catalogue knows this session by.
func (l *Opened) Info() store.Info {
	key, err := filepath.Rel(In(l.run.State).Dir, filepath.Dir(l.Scratch()))
	if err != nil || l.Scratch() == "" {
		return store.Info{ID: l.ID}
	}
	return store.Info{ID: l.ID, Key: key, Dir: l.Scratch()}
}

// child opens the log of a child: a new one, or the one to go on with.
func (r Run) child(ctx context.Context, c Choice) (*Opened, error) {
	st, of := In(r.State), c.Child.Log
	st.Unread = func(note string) { r.Note("%s", note) }
	old := store.Info{}
	var err error
	switch {
	case c.Resume != "":
		old, err = st.Child(of.Info(), c.Resume)
	case c.ID != "":
		old.ID = c.ID
	default:
		old.ID, err = st.NewID()
	}
	if err != nil {
		return nil, fmt.Errorf("the session of an agent: %w", err)
	}
	l := &Opened{ID: old.ID, Begin: r.begin(old.ID), Model: old.Wish, Mode: old.Mode, Kin: slices.Clone(of.Kin), run: r, child: true}
	l.Begin.Child = &c.Child.Child
	if at := c.Child.At; at > 0 {
		l.Begin.Parent, l.Begin.At = of.ID, at
	}
	if dir := of.Scratch(); dir != "" {
		l.Kin = append(l.Kin, dir)
	}
	if l.Model == "" {
		l.Model = old.Model
	}
	if c.None || !of.Resumable {
		l.Session = &mem.Session{}
		return l, nil
	}
	at := of.Info()
	if st.Key, err = seal.Key(r.State); err != nil {
		st.Key = nil // it was said of the parent
	}
	l.key = st.Key
	if err := l.open(ctx, st, children(at.Key, at.ID), old, c.Resume == ""); err != nil {
		return nil, err
	}
	l.Resumable, l.Torn, l.old = true, l.Report().Torn, c.Resume != ""
	return l, nil
}
