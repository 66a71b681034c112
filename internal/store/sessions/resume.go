package sessions

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/git/info"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/store/grants"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/store/seal"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// In is the store of all sessions below a state folder.
func In(state string) Store {
	return Store{Dir: filepath.Join(state, "projects"), Now: time.Now, Rand: rand.Reader}
}

// A Run is who opens a session.
type Run struct {
	Version string // of adze
	State   string // the state folder
	Dir     string // that is worked in
	Root    string // the repository's, or Dir
	// Note is told what a person should know of the session.
	Note func(format string, args ...any)
	// CopyOf says of which session another program made a copy with an ID that is in no
	// catalogue, and up to which event. nil: nobody makes such copies.
	CopyOf func(id string) (of string, upTo event.Seq, ok bool)
}

// A Choice says which session to open. The zero value is a new one.
type Choice struct {
	Continue bool
	Resume   string
	Fork     bool
	At       string // with Resume: the message to go on from, in a copy; "" is the last
	ID       string // of a new session
	None     bool   // keep nothing on disk
	// Child: it works for another session, beside whose log its own is kept. Of this
	// Choice, only Resume (with the whole ID of a child) and None count beside it.
	Child *Parent
}

// A Parent is the session that a child works for.
type Parent struct {
	Log   *Opened     // of that session
	Child event.Child // what the child's first event says
	At    event.Seq   // of a new fork: the last event of the parent's log that it goes on behind; else 0
}

// An Opened is a session's log, ready for its session.
type Opened struct {
	store.Session
	ID        string
	Resumable bool
	Begin     event.SessionStarted // its first event, when it is new
	Torn      int64                // bytes of its end that a crash tore
	Model     string               // of a session that is resumed
	Mode      policy.Mode          // of a session that is resumed

	// Kin are folders of earlier sessions that this one is a copy of, in which
	// files are that the model was told of.
	Kin []string

	run Run
	key []byte // seals what is kept; nil when nothing is
	old bool   // it was there before
	// child: it is no session of a list, and no search finds it.
	child bool
	made  *store.Info // what this run put into the catalogue: a copy, nil for none
}

// Choose finds or makes the session that was chosen, and opens its log. What
// a person can mend is a hint.Mistake.
func Choose(ctx context.Context, r Run, c Choice) (*Opened, error) {
	if c.Child != nil {
		return r.child(ctx, c)
	}
	st := In(r.State)
	st.Unread = func(note string) { r.Note("%s", note) }
	if c.Fork || c.At != "" {
		st.Key, _ = seal.Key(r.State) // the copy is sealed, too
	}
	project := Key(r.Root)
	old, fresh, err := r.pick(ctx, c, st, project)
	if err != nil {
		return nil, err
	}
	l := &Opened{ID: old.ID, Begin: r.begin(old.ID), Model: cmp.Or(old.Wish, old.Model), Mode: old.Mode, run: r}
	if old.Start != "" && old.Start != r.Dir && !info.Siblings(old.Start, r.Dir) {
		if _, err := os.Stat(old.Start); errors.Is(err, fs.ErrNotExist) {
			r.Note("this session was in %s, which is gone; it goes on in %s", old.Start, r.Dir)
		} else {
			r.Note("this session was in %s; it goes on in %s (to go on there: cd %s && adze --resume %s)", old.Start, r.Dir, hint.Shell(old.Start), old.ID)
		}
	}
	if old.Parent != "" {
		l.Kin = st.kin(old.Parent)
	}
	if c.None {
		l.Session = &mem.Session{}
		return l, nil
	}
	if !fresh && (c.Fork || c.At != "") {
		l.made = &old
	}
	if fresh {
		if err := st.Ready(project); err != nil {
			return l, l.inMemory(err)
		}
	}
	var unsealed error
	st.Key, unsealed = seal.Key(r.State)
	l.key = st.Key
	if err := l.open(ctx, st, project, old, fresh); err != nil {
		return nil, err
	}
	l.Resumable, l.Torn, l.old = true, l.Report().Torn, !fresh
	_ = fulltext.In(r.State, nil).Mark(l.ID) // without it the session is found after the next whole reading
	if unsealed != nil {
		r.Note("this session is kept without seals, and rules granted for it end with it: %v", unsealed)
	}
	return l, nil
}

// open opens the log of a session, which is made when it is fresh.
func (l *Opened) open(ctx context.Context, st Store, project string, info store.Info, fresh bool) (err error) {
	if fresh {
		l.grants().Forget(l.ID) // of an earlier session that was given the same ID
		l.Session, err = st.Create(ctx, project, l.ID)
	} else {
		l.Session, err = st.Open(ctx, info)
	}
	var locked *store.LockedError
	if errors.As(err, &locked) {
		what := "close it there, or go on in a copy: --resume " + l.ID + " --fork-session"
		if locked.Host == lease.ThisProcess().Host {
			what = "adze attach " + hint.Shell(l.ID) + " shows it here; or " + what
		}
		return &hint.Mistake{Why: fmt.Sprintf("session %s is open in another process (%d on %s)", l.ID, locked.PID, locked.Host), What: what, Of: err}
	}
	return err
}

// Close closes the log. A new session that nothing was written of leaves nothing.
func (l *Opened) Close() error {
	err := l.Session.Close()
	l.tidy()
	return err
}

// Abandon closes the log of a session that could not be started. A copy that was
// made for it goes.
func (l *Opened) Abandon(ctx context.Context) error {
	err := l.Session.Close()
	if l.made != nil {
		err = errors.Join(err, In(l.run.State).Remove(context.WithoutCancel(ctx), *l.made))
	}
	l.tidy()
	return err
}

// tidy takes back the mark of a session that is not there, and the folder of a project
// that has nothing. What stays costs a look at the next search.
func (l *Opened) tidy() {
	if !l.Resumable || l.child {
		return
	}
	if _, err := os.Lstat(l.File()); errors.Is(err, fs.ErrNotExist) {
		fulltext.In(l.run.State, nil).Unmark(l.ID)
		_ = os.Remove(filepath.Dir(filepath.Dir(l.File()))) // only an empty one goes; who begins a session makes it
	}
}

// Began is the first event of a session that was there before.
func (l *Opened) Began(ctx context.Context) (event.SessionStarted, error) {
	for e, err := range l.After(ctx, 0) {
		if b, ok := e.Body.(event.SessionStarted); ok || err != nil {
			return b, err
		}
		break
	}
	return event.SessionStarted{}, fmt.Errorf("session %s does not say how it began", l.ID)
}

// Situation is what the model was told of where it is when the session began:
// among the first events, nothing when the log is of an older adze or new.
func (l *Opened) Situation(ctx context.Context) (event.Situated, error) {
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

// Tell notes what was wrong with the file, once it has been read.
func (l *Opened) Tell(ctx context.Context) {
	if l.old {
		if why := l.lacks(ctx); why != "" {
			l.run.Note("%s", why)
		}
	}
	r := l.Report()
	if r.Torn > 0 {
		l.run.Note("the end of the session (%s) was torn by a crash; it is kept in %s", clip.Size(r.Torn), r.TornAt)
	}
	if r.Cut > 0 {
		l.run.Note("the end of this session's file is gone (%s that adze had written); it goes on from what is left", clip.Size(r.Cut))
	}
	if len(r.Bad) > 0 {
		l.run.Note("%s", unread(r.Bad))
	}
	switch {
	case r.Foreign > 0 && r.Sealed:
		l.run.Note("this session's file was changed by another program since adze wrote it (%s); what it says was approved does not count", clip.Count(r.Foreign, "line"))
	case r.Foreign > 0:
		l.run.Note("%s of this session, written by an older adze, on another machine or by another program: what is said there to be approved does not count", clip.Count(r.Foreign, "line"))
	}
}

// lacks says that nothing, or not its beginning, is there of a session that goes on; ""
// when it begins as sessions do.
func (l *Opened) lacks(ctx context.Context) string {
	const goesOn = "; what is said now begins it anew (adze sessions list shows the others)"
	first := true
	for e, err := range l.After(ctx, 0) {
		if err != nil {
			return "" // who starts the session says it
		}
		switch e.Body.(type) {
		case event.SessionStarted:
		case event.InputQueued, event.InputAccepted:
			return ""
		default:
			if first {
				return "the beginning of this session's file is gone: it goes on from what is left"
			}
		}
		first = false
	}
	if first {
		return "the file of this session is empty: nothing of what was said in it is there" + goesOn
	}
	return "nothing was said in this session yet" + goesOn
}

func unread(bad []int) string {
	return "lines of the session that could not be read were skipped: " + numbers(bad)
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

// Granted are the rules that were granted for the session before, in this
// folder. They come from a place of their own, never from the log.
func (l *Opened) Granted() []policy.Rule {
	if l.key == nil || !l.Resumable {
		return nil
	}
	texts, err := l.grants().Get(l.ID, l.run.Dir)
	if err != nil {
		l.run.Note("rules granted for this session are asked again: %v", err)
	}
	var out []policy.Rule
	for _, text := range texts {
		if r, err := policy.ParseRule(text, policy.Allow, policy.Session, "this session", l.run.Dir); err == nil {
			out = append(out, r)
		}
	}
	return out
}

// Grant keeps rules for the session, where Granted finds them when it is
// resumed. One that cannot be resumed keeps none, which is no error.
func (l *Opened) Grant(ctx context.Context, rules []string) error {
	if l.key == nil || !l.Resumable {
		return nil
	}
	return l.grants().Add(ctx, l.ID, l.run.Dir, rules)
}

// Revoke takes back what Grant kept.
func (l *Opened) Revoke(ctx context.Context, rules []string) error {
	if l.key == nil || !l.Resumable {
		return nil
	}
	texts, err := l.grants().Get(l.ID, l.run.Dir)
	if err != nil {
		return err
	}
	var gone []string // as they were written
	for _, text := range texts {
		if r, err := policy.ParseRule(text, policy.Allow, policy.Session, "", l.run.Dir); err == nil && slices.Contains(rules, r.Text()) {
			gone = append(gone, text)
		}
	}
	return l.grants().Remove(ctx, l.ID, l.run.Dir, gone)
}

func (l *Opened) grants() grants.Store { return grantsIn(l.run.State, l.key) }

// grantsIn is where rules granted for a session are kept.
func grantsIn(state string, key []byte) grants.Store {
	return grants.Store{Dir: filepath.Join(state, "grants"), Key: key}
}

// Scratch is the session's own folder for files, "" when nothing is kept.
func (l *Opened) Scratch() string {
	if !l.Resumable {
		return ""
	}
	return l.Session.Scratch()
}

// pick chooses the session; a fresh one is not in the catalogue yet.
func (r Run) pick(ctx context.Context, c Choice, st Store, project string) (old store.Info, fresh bool, err error) {
	switch {
	case c.Resume != "":
		old, err = st.Find(ctx, project, c.Resume)
		if errors.Is(err, store.ErrNone) && r.CopyOf != nil && ValidID(c.Resume) && c.ID == "" {
			if of, upTo, ok := r.CopyOf(c.Resume); ok && ValidID(of) {
				return r.copied(ctx, c, st, project, of, upTo)
			}
		}
	case c.Continue:
		old, err = st.Find(ctx, project, "")
	default:
		old.ID, err = newID(st, c.ID)
		return old, true, err
	}
	var many *store.AmbiguousError
	switch {
	case errors.As(err, &many):
		return old, false, &hint.Mistake{Why: many.Error(), What: "give more of the id; adze sessions list shows them"}
	case errors.Is(err, store.ErrNone) && c.Resume != "":
		return old, false, &hint.Mistake{Why: fmt.Sprintf("there is no session %q", c.Resume), What: "adze sessions list --all shows them"}
	case errors.Is(err, store.ErrNone):
		return old, false, &hint.Mistake{Why: "there is no session in this folder to go on with", What: "leave --continue out to start one; adze sessions list --all shows those of other folders"}
	case err != nil:
		return old, false, err
	}
	at := event.Seq(0)
	if c.At != "" {
		if at, err = messageIn(ctx, st, old, c.At); err != nil {
			return old, false, err
		}
	}
	if c.Fork || at > 0 {
		id := ""
		if c.ID != "" {
			if id, err = newID(st, c.ID); err != nil {
				return old, false, err
			}
		}
		copied, err := st.Fork(ctx, old, at, project, r.begin(id))
		copied.Model, copied.Wish, copied.Mode = old.Model, old.Wish, old.Mode
		return copied, false, err
	}
	return old, false, nil
}

// copied makes the session that another program made a copy of under the ID which c resumes.
func (r Run) copied(ctx context.Context, c Choice, st Store, project, of string, upTo event.Seq) (store.Info, bool, error) {
	st.Key, _ = seal.Key(r.State)
	old, err := st.Find(ctx, project, of)
	if err != nil {
		return old, false, &hint.Mistake{Why: fmt.Sprintf("session %s is a copy of session %s, which is not there any more", c.Resume, of), What: "adze sessions list --all shows those that are"}
	}
	if upTo, err = withTurn(ctx, st, old, upTo); err != nil {
		return old, false, err
	}
	now, err := st.Fork(ctx, old, upTo, project, r.begin(c.Resume))
	now.Model, now.Wish, now.Mode = old.Model, old.Wish, old.Mode
	if err != nil || !c.Fork && c.At == "" {
		return now, false, err
	}
	return r.pick(ctx, c, st, project)
}

// messageIn finds a message of a session by the name that print mode gave it.
func messageIn(ctx context.Context, st store.Catalogue, i store.Info, uuid string) (event.Seq, error) {
	for e, err := range st.Read(ctx, i, 0) {
		if err != nil {
			return 0, err
		}
		if e.UUID() == uuid {
			return withTurn(ctx, st, i, e.Seq)
		}
	}
	return 0, &hint.Mistake{Why: fmt.Sprintf("session %s has no message %s", i.ID, uuid), What: "give the uuid of an assistant or user line of its stream-json output"}
}

// withTurn is the end of the turn whose last message is that of an event, so that a copy up to there
// is of a turn that was not interrupted; of another message it is the event.
func withTurn(ctx context.Context, st store.Catalogue, i store.Info, message event.Seq) (event.Seq, error) {
	for e, err := range st.Read(ctx, i, message) {
		if err != nil {
			return 0, err
		}
		switch e.Body.(type) {
		case event.TurnEnded:
			return e.Seq, nil
		case event.InputAccepted, event.InputQueued, event.TurnStarted, event.Replied, event.ToolStarted, event.ToolFinished, event.Ran, event.Compacted, event.Rewound:
			return message, nil
		default: // no part of the conversation
		}
	}
	return message, nil
}

// newID makes an id, or checks the one that was asked for.
func newID(st Store, want string) (string, error) {
	if want == "" {
		return st.NewID()
	}
	if want = strings.ToLower(want); !ValidID(want) { // RFC 9562, section 4: case does not matter
		return "", &hint.Mistake{Why: fmt.Sprintf("--session-id: %q is not a UUID", want), What: "a UUID looks like 0199c5a2-7d3e-7b11-8f00-2a6c1d9e4b57"}
	}
	if st.Has(want) {
		return "", &hint.Mistake{Why: fmt.Sprintf("session %s exists already", want), What: "go on with it: --resume " + want}
	}
	return want, nil
}

func (r Run) begin(id string) event.SessionStarted {
	b := event.SessionStarted{ID: id, Schema: event.Schema, Version: r.Version, Dir: r.Dir, Root: r.Root}
	if i, ok := info.Find(r.Dir); ok {
		b.Branch = i.Branch
	}
	return b
}

// inMemory goes on without a disk when the home cannot be written to, and
// says so. Any other fault is an error.
func (l *Opened) inMemory(err error) error {
	cannot := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, fs.ErrNotExist) // as /proc says where nothing can be made
	switch {
	case full(err):
		return hint.With(err, "make room on the disk, or keep nothing: --no-session")
	case !cannot:
		return hint.With(err, "keep nothing: --no-session")
	}
	l.Session = &mem.Session{}
	l.run.Note("nothing of this session is kept on disk, and it cannot be gone on with later: %v", err)
	return nil
}

// Sweep removes what was not used for some days, at most once a day, and
// the rules granted for sessions that are gone, except those of keep.
func Sweep(ctx context.Context, state string, days int, keep []string) (removed int, err error) {
	mark := filepath.Join(state, "last-cleanup")
	if i, err := os.Stat(mark); days <= 0 || err == nil && time.Since(i.ModTime()) < 24*time.Hour {
		return 0, nil
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return 0, err
	}
	st := In(state)
	removed, err = st.Cleanup(ctx, days)
	grantsIn(state, nil).Sweep(func(id string) bool { return slices.Contains(keep, id) || st.Has(id) })
	return removed, err
}
