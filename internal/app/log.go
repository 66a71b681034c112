package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/git/info"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/grants"
	"github.com/adze-agent/adze/internal/store/jsonl"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/store/seal"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Sessions is the store of all sessions of these folders.
func Sessions(p Paths) sessions.Store {
	return sessions.Store{Dir: filepath.Join(p.State, "projects"), Now: time.Now, Rand: rand.Reader}
}

// An openedLog is a session's log, ready for its session.
type openedLog struct {
	store.Log
	id    string
	dir   string // "" when nothing is kept
	begin event.SessionStarted
	torn  int64
	model string // of a session that is resumed
	mode  policy.Mode
	key   []byte // seals what is kept; nil when nothing is
}

// openLog finds or makes the log that the options ask for.
func openLog(ctx context.Context, o Options, p Paths) (*openedLog, error) {
	st := Sessions(p)
	if o.Session.Fork || o.Session.At != "" {
		st.Key = sealKey(o, p) // the copy is sealed, too
	}
	key := sessions.Key(p.Root)
	info, err := pick(ctx, o, st, key, p)
	if err != nil {
		return nil, err
	}
	id, old := info.ID, info.Dir
	l := &openedLog{id: id, begin: begin(o, p, id), model: info.Model, mode: info.Mode}
	if o.Note != nil && info.Start != "" && info.Start != p.Dir {
		o.Note(fmt.Sprintf("this session was in %s; it goes on in %s", info.Start, p.Dir))
	}
	if o.Session.None {
		l.Log = &mem.Log{}
		return l, nil
	}
	if old == "" {
		l.grants(p).Forget(id) // of an earlier session that was given the same ID
		if err := makePrivate(filepath.Join(st.Dir, key)); err != nil {
			return l, l.inMemory(o, err)
		}
		old = st.Folder(key, id)
	}
	l.key = sealKey(o, p)
	log, err := jsonl.Open(jsonl.Options{Dir: old, Key: l.key})
	var locked *store.LockedError
	switch {
	case errors.As(err, &locked):
		return nil, &Mistake{fmt.Sprintf("session %s is open in another process (%d on %s)", id, locked.PID, locked.Host), "close it there, or go on in a copy: --resume " + id + " --fork-session"}
	case err != nil:
		return nil, err
	}
	l.Log, l.dir = log, old
	l.torn = log.Report().Torn
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
func (l *openedLog) tell(o Options) {
	log, ok := l.Log.(*jsonl.Log)
	if !ok || o.Note == nil {
		return
	}
	r := log.Report()
	if r.Torn > 0 {
		o.Note(fmt.Sprintf("the end of the session (%s) was torn by a crash; it is kept in %s", clip.Size(r.Torn), filepath.Join(l.dir, jsonl.TornName)))
	}
	if len(r.Bad) > 0 {
		o.Note(fmt.Sprintf("lines of the session that could not be read were skipped: %s", numbers(r.Bad)))
	}
	switch {
	case r.Foreign > 0 && r.Sealed:
		o.Note(fmt.Sprintf("this session's file was changed by another program since adze wrote it (%s); what it says was approved does not count", clip.Count(r.Foreign, "line")))
	case r.Foreign > 0:
		o.Note(fmt.Sprintf("%s of this session, written by an older adze, on another machine or by another program: what is said there to be approved does not count", clip.Count(r.Foreign, "line")))
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

// sealKey is the key that sessions are sealed with, nil when it cannot be had.
func sealKey(o Options, p Paths) []byte {
	key, err := seal.Key(p.State)
	if err != nil {
		if o.Note != nil {
			o.Note(fmt.Sprintf("this session is kept without seals, and rules granted for it end with it: %v", err))
		}
		return nil
	}
	return key
}

// granted are the rules that were granted for the session before, in this
// folder. They come from a place of their own, never from the log.
func (l *openedLog) granted(o Options, p Paths) []policy.Rule {
	if l.key == nil || l.dir == "" {
		return nil
	}
	texts, err := l.grants(p).Get(l.id, p.Dir)
	if err != nil && o.Note != nil {
		o.Note(fmt.Sprintf("rules granted for this session are asked again: %v", err))
	}
	var out []policy.Rule
	for _, text := range texts {
		if r, err := policy.ParseRule(text, policy.Allow, policy.Session, "this session", p.Dir); err == nil {
			out = append(out, r)
		}
	}
	return out
}

func (l *openedLog) grants(p Paths) grants.Store { return Grants(p, l.key) }

// Grants is where rules granted for a session are kept.
func Grants(p Paths, key []byte) grants.Store {
	return grants.Store{Dir: filepath.Join(p.State, "grants"), Key: key}
}

// pick chooses the session; a new one has no folder yet.
func pick(ctx context.Context, o Options, st sessions.Store, key string, p Paths) (old sessions.Info, err error) {
	s := o.Session
	switch {
	case s.Resume != "":
		old, err = st.Find(key, s.Resume)
	case s.Continue:
		old, err = st.Newest(key)
	default:
		old.ID, err = newID(st, key, s.ID)
		return old, err
	}
	var many *sessions.AmbiguousError
	switch {
	case errors.As(err, &many):
		return old, &Mistake{many.Error(), "give more of the id; adze sessions list shows them"}
	case errors.Is(err, sessions.ErrNone) && s.Resume != "":
		return old, &Mistake{fmt.Sprintf("there is no session %q", s.Resume), "adze sessions list --all shows them"}
	case errors.Is(err, sessions.ErrNone):
		return old, &Mistake{"there is no session in this folder to go on with", "leave --continue out to start one; adze sessions list --all shows those of other folders"}
	case err != nil:
		return old, err
	}
	at := event.Seq(0)
	if s.At != "" {
		if at, err = messageIn(ctx, old, s.At); err != nil {
			return old, err
		}
	}
	if s.Fork || at > 0 {
		copied, err := st.Fork(ctx, old, at, key, begin(o, p, ""))
		copied.Model, copied.Mode = old.Model, old.Mode
		return copied, err
	}
	return old, nil
}

// messageIn finds a message of a session by the name that print mode gave it.
func messageIn(ctx context.Context, i sessions.Info, uuid string) (event.Seq, error) {
	log, err := jsonl.OpenReader(jsonl.Options{Dir: i.Dir})
	if err != nil {
		return 0, err
	}
	defer log.Close()
	for e, err := range log.After(ctx, 0) {
		if err != nil {
			return 0, err
		}
		if e.UUID() == uuid {
			return e.Seq, nil
		}
	}
	return 0, &Mistake{fmt.Sprintf("session %s has no message %s", i.ID, uuid), "give the uuid of an assistant or user line of its stream-json output"}
}

// newID makes an id, or checks the one that was asked for.
func newID(st sessions.Store, key, want string) (string, error) {
	if want == "" {
		return st.NewID()
	}
	if !sessions.ValidID(want) {
		return "", &Mistake{fmt.Sprintf("--session-id: %q is not a UUID", want), "a UUID looks like 0199c5a2-7d3e-7b11-8f00-2a6c1d9e4b57"}
	}
	if exists(st.Folder(key, want)) {
		return "", &Mistake{fmt.Sprintf("session %s exists already", want), "go on with it: --resume " + want}
	}
	return want, nil
}

func begin(o Options, p Paths, id string) event.SessionStarted {
	b := event.SessionStarted{ID: id, Schema: event.Schema, Version: o.Version, Dir: p.Dir, Root: p.Root}
	if i, ok := info.Find(p.Dir); ok {
		b.Branch = i.Branch
	}
	return b
}

// inMemory goes on without a disk when the home cannot be written to, and
// says so. Any other fault is an error.
func (l *openedLog) inMemory(o Options, err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) && !errors.Is(err, syscall.ENOTDIR) {
		return &Refusable{err, "make room on the disk, or keep nothing: --no-session"}
	}
	l.Log = &mem.Log{}
	if o.Note != nil {
		o.Note(fmt.Sprintf("this session is kept in memory only: %v", err))
	}
	return nil
}

// A Refusable is a fault with a way around it.
type Refusable struct {
	Err  error
	What string
}

func (r *Refusable) Error() string { return r.Err.Error() }
func (r *Refusable) Unwrap() error { return r.Err }

// Hint is the next command.
func (r *Refusable) Hint() string { return r.What }

// spill writes a whole result once and returns its path. It creates the file
// through the folder's descriptor, so that a planted link leads nowhere.
func (l *openedLog) spill(call, text string) (string, error) {
	if l.dir == "" {
		return "", errors.New("nothing is kept on disk")
	}
	dir := filepath.Join(l.dir, "tool-results")
	if err := makePrivate(dir); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	name := fileName(call) + ".txt"
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		_ = root.Remove(name)
		return "", err
	}
	return filepath.Join(dir, name), nil
}

// fileName makes a call's id safe as a name: a provider chose it.
func fileName(id string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, id)
	return "call-" + safe[:min(len(safe), 80)]
}

// makePrivate makes a folder that only its owner can look into.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder %s: %w", dir, err)
	}
	return nil
}
