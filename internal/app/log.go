package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/git/info"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/store/grants"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/store/seal"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// Sessions is the store of all sessions of these folders.
func Sessions(p Paths) sessions.Store {
	return sessions.Store{Dir: filepath.Join(p.State, "projects"), Now: time.Now, Rand: rand.Reader}
}

// Search is the index of what all sessions say.
func Search(o Process, p Paths) fulltext.Folder {
	return fulltext.Folder{Path: searchFolder(p), Mask: secret.New(secret.Environ(o.Environ)...).String}
}

func searchFolder(p Paths) string { return filepath.Join(p.State, "search") }

// An openedLog is a session's log, ready for its session.
type openedLog struct {
	store.Session
	id    string
	kept  bool // it can be resumed
	begin event.SessionStarted
	torn  int64
	model string // of a session that is resumed
	mode  policy.Mode
	key   []byte // seals what is kept; nil when nothing is
}

// openLog finds or makes the log that the options ask for.
func openLog(ctx context.Context, o Process, s SessionOptions, p Paths) (*openedLog, error) {
	st := Sessions(p)
	if s.Fork || s.At != "" {
		st.Key, _ = seal.Key(p.State) // the copy is sealed, too
	}
	key := sessions.Key(p.Root)
	info, fresh, err := pick(ctx, o, s, st, key, p)
	if err != nil {
		return nil, err
	}
	id := info.ID
	l := &openedLog{id: id, begin: begin(o, p, id), model: info.Model, mode: info.Mode}
	if info.Start != "" && info.Start != p.Dir {
		o.note("this session was in %s; it goes on in %s", info.Start, p.Dir)
	}
	if s.None {
		l.Session = &mem.Session{}
		return l, nil
	}
	if fresh {
		if err := st.Ready(key); err != nil {
			return l, l.inMemory(o, err)
		}
	}
	var unsealed error
	st.Key, unsealed = seal.Key(p.State)
	l.key = st.Key
	if fresh {
		l.grants(p).Forget(id) // of an earlier session that was given the same ID
		l.Session, err = st.Create(ctx, key, id)
	} else {
		l.Session, err = st.Open(ctx, info)
	}
	var locked *store.LockedError
	switch {
	case errors.As(err, &locked):
		return nil, &hint.Mistake{Why: fmt.Sprintf("session %s is open in another process (%d on %s)", id, locked.PID, locked.Host), What: "close it there, or go on in a copy: --resume " + id + " --fork-session"}
	case err != nil:
		return nil, err
	}
	l.kept, l.torn = true, l.Report().Torn
	_ = fulltext.Folder{Path: searchFolder(p)}.Mark(id) // without it the session is found after the next whole reading
	noSeals(o, unsealed)
	return l, nil
}

// situation is what the model was told of where it is when the session began:
// among the first events, nothing when the log is of an older adze or new.
func (l *openedLog) situation(ctx context.Context) (event.Situated, error) {
	for e, err := range l.After(ctx, 0) {
		if err != nil {
			return event.Situated{}, fmt.Errorf("read the session: %w", err)
		}
		switch b := e.Body.(type) {
		case event.Situated:
			return b, nil
		case event.TurnStarted:
			return event.Situated{}, nil
		default: // comes before it
		}
	}
	return event.Situated{}, nil
}

// tell says what was wrong with the file, once it has been read.
func (l *openedLog) tell(o Process) {
	r := l.Report()
	if r.Torn > 0 {
		o.note("the end of the session (%s) was torn by a crash; it is kept in %s", clip.Size(r.Torn), r.TornAt)
	}
	if r.Cut > 0 {
		o.Note(fmt.Sprintf("the end of this session's file is gone (%s that adze had written); it goes on from what is left", clip.Size(r.Cut)))
	}
	if len(r.Bad) > 0 {
		o.note("lines of the session that could not be read were skipped: %s", numbers(r.Bad))
	}
	switch {
	case r.Foreign > 0 && r.Sealed:
		o.note("this session's file was changed by another program since adze wrote it (%s); what it says was approved does not count", clip.Count(r.Foreign, "line"))
	case r.Foreign > 0:
		o.note("%s of this session, written by an older adze, on another machine or by another program: what is said there to be approved does not count", clip.Count(r.Foreign, "line"))
	}
}

// numbers lists line numbers, as many as a note can hold.
func numbers(lines []int) string {
	var out []string
	for _, n := range lines[:min(len(lines), 10)] {
		out = append(out, fmt.Sprint(n))
	}
	if len(lines) > 10 {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// noSeals says that sessions cannot be sealed, if that is so.
func noSeals(o Process, err error) {
	if err != nil {
		o.note("this session is kept without seals, and rules granted for it end with it: %v", err)
	}
}

// granted are the rules that were granted for the session before, in this
// folder. They come from a place of their own, never from the log.
func (l *openedLog) granted(o Process, p Paths) []policy.Rule {
	if l.key == nil || !l.kept {
		return nil
	}
	texts, err := l.grants(p).Get(l.id, p.Dir)
	if err != nil {
		o.note("rules granted for this session are asked again: %v", err)
	}
	var out []policy.Rule
	for _, text := range texts {
		if r, err := policy.ParseRule(text, policy.Allow, policy.Session, "this session", p.Dir); err == nil {
			out = append(out, r)
		}
	}
	return out
}

// scratch is the session's own folder for files, "" when nothing is kept.
func (l *openedLog) scratch() string {
	if !l.kept {
		return ""
	}
	return l.Scratch()
}

func (l *openedLog) grants(p Paths) grants.Store { return Grants(p, l.key) }

// Grants is where rules granted for a session are kept.
func Grants(p Paths, key []byte) grants.Store {
	return grants.Store{Dir: filepath.Join(p.State, "grants"), Key: key}
}

// pick chooses the session; a fresh one is not in the catalogue yet.
func pick(ctx context.Context, o Process, s SessionOptions, st sessions.Store, key string, p Paths) (old store.Info, fresh bool, err error) {
	switch {
	case s.Resume != "":
		old, err = st.Find(ctx, key, s.Resume)
	case s.Continue:
		old, err = st.Find(ctx, key, "")
	default:
		old.ID, err = newID(st, s.ID)
		return old, true, err
	}
	var many *store.AmbiguousError
	switch {
	case errors.As(err, &many):
		return old, false, &hint.Mistake{Why: many.Error(), What: "give more of the id; adze sessions list shows them"}
	case errors.Is(err, store.ErrNone) && s.Resume != "":
		return old, false, &hint.Mistake{Why: fmt.Sprintf("there is no session %q", s.Resume), What: "adze sessions list --all shows them"}
	case errors.Is(err, store.ErrNone):
		return old, false, &hint.Mistake{Why: "there is no session in this folder to go on with", What: "leave --continue out to start one; adze sessions list --all shows those of other folders"}
	case err != nil:
		return old, false, err
	}
	at := event.Seq(0)
	if s.At != "" {
		if at, err = messageIn(ctx, st, old, s.At); err != nil {
			return old, false, err
		}
	}
	if s.Fork || at > 0 {
		copied, err := st.Fork(ctx, old, at, key, begin(o, p, ""))
		copied.Model, copied.Mode = old.Model, old.Mode
		return copied, false, err
	}
	return old, false, nil
}

// messageIn finds a message of a session by the name that print mode gave it.
func messageIn(ctx context.Context, st store.Catalogue, i store.Info, uuid string) (event.Seq, error) {
	for e, err := range st.Read(ctx, i, 0) {
		if err != nil {
			return 0, err
		}
		if e.UUID() == uuid {
			return e.Seq, nil
		}
	}
	return 0, &hint.Mistake{Why: fmt.Sprintf("session %s has no message %s", i.ID, uuid), What: "give the uuid of an assistant or user line of its stream-json output"}
}

// newID makes an id, or checks the one that was asked for.
func newID(st sessions.Store, want string) (string, error) {
	if want == "" {
		return st.NewID()
	}
	if !sessions.ValidID(want) {
		return "", &hint.Mistake{Why: fmt.Sprintf("--session-id: %q is not a UUID", want), What: "a UUID looks like 0199c5a2-7d3e-7b11-8f00-2a6c1d9e4b57"}
	}
	if st.Has(want) {
		return "", &hint.Mistake{Why: fmt.Sprintf("session %s exists already", want), What: "go on with it: --resume " + want}
	}
	return want, nil
}

func begin(o Process, p Paths, id string) event.SessionStarted {
	b := event.SessionStarted{ID: id, Schema: event.Schema, Version: o.Version, Dir: p.Dir, Root: p.Root}
	if i, ok := info.Find(p.Dir); ok {
		b.Branch = i.Branch
	}
	return b
}

// inMemory goes on without a disk when the home cannot be written to, and
// says so. Any other fault is an error.
func (l *openedLog) inMemory(o Process, err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) && !errors.Is(err, syscall.ENOTDIR) {
		return hint.With(err, "make room on the disk, or keep nothing: --no-session")
	}
	l.Session = &mem.Session{}
	o.note("this session is kept in memory only: %v", err)
	return nil
}

// spill keeps a whole result and returns the path of its file.
func (l *openedLog) spill(_, text string) (string, error) { return l.Spill(text) }
