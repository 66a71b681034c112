package background

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/title"
	"github.com/adze-agent/adze/internal/tool"
)

// A Completer is a small model that is asked one thing.
type Completer interface {
	Complete(ctx context.Context, system string, msgs []llm.Message) (text string, spent event.Spent, err error)
}

// A Config is what Start needs. Its functions are asked each time, because
// settings change; they may be called from several goroutines.
type Config struct {
	Session *session.Session
	After   event.Seq // the last event before this run
	// Titler is who names a session, false when nobody is to.
	Titler func(ctx context.Context) (Completer, bool)
	State  string // the folder of what the search knows, "" to leave it alone
	// Models are what helpers may use, Rules the permissions in force, Budget what
	// bounds the session.
	Models func(ctx context.Context) Models
	Rules  func() policy.Rules
	Budget func() agent.Budget
	// Suggests reports whether the next prompt is to be suggested; nil: it is not.
	Suggests func() bool
	// Notes is the file of the session's notes, Memory the folder of what is
	// remembered of the project, both resolved; "" keeps none.
	Notes, Memory func() string
	Loop          agent.Loop // of the session: what requests have in common
	Home          string
	Hide          func(string) string
	Mask          func([]policy.Action, tool.Result) tool.Result
}

// Start begins. stop ends everything and waits for it; the session is still
// open then.
func Start(c Config) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	events := c.Session.Follow(ctx, c.After, event.Durable)
	done := make(chan struct{})
	go func() { // ends with the session, or with ctx
		defer close(done)
		w := New(c)
		defer w.jobs.Wait()
		for e, err := range events {
			if err != nil {
				return
			}
			w.See(ctx, e.Body)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// A Watch is what is known of a session. One goroutine calls it.
type Watch struct {
	Config
	prompt, reply string
	tries         int // titles that were asked for

	purse         purse
	notes, memory meter
	writer        job       // of notes
	rememberer    job       // of the memory
	looked        event.Seq // up to which event the memory has been
	suggester     job       // of the next prompt
	unsuggest     func()    // ends it, nil before the first
	jobs          sync.WaitGroup
}

// New begins to watch, without events of its own.
func New(c Config) *Watch {
	w := &Watch{Config: c}
	st := c.Session.State()
	if es := since(st.Entries(), st.Noted); st.Noted > 0 { // of an earlier run
		w.notes.bytes = 4 * tokens(es)
	}
	return w
}

// A job is a helper that runs at most once at a time.
type job struct {
	mu     sync.Mutex // guards what follows
	runs   bool
	failed int // in a row
	tried  bool
}

// begin reports whether the job may run now.
func (j *job) begin() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.runs || j.failed >= maxFailures {
		return false
	}
	j.runs, j.tried = true, true
	return true
}

// end counts how it went. It reports whether that was the last time.
func (j *job) end(ctx context.Context, err error) (over bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs = false
	switch {
	case err == nil:
		j.failed = 0
	case ctx.Err() == nil && !errors.Is(err, errNobody):
		j.failed++
	}
	return j.failed >= maxFailures
}

func (j *job) wasTried() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.tried
}

// maxTitleTries bounds how often a title is asked for.
const maxTitleTries = 2

// See takes one event. A title and the search are done when it returns; helpers
// go on, until ctx ends.
func (w *Watch) See(ctx context.Context, b event.Body) {
	w.notes.add(b)
	w.memory.add(b)
	if _, ok := event.Request(b); ok {
		w.purse.add(b, clip.Tokens(w.Session.State().Gauge().Bytes))
	} else {
		w.purse.add(b, 0)
	}
	switch b := b.(type) {
	case event.InputQueued, event.TurnStarted:
		if w.unsuggest != nil {
			w.unsuggest()
		}
	case event.InputAccepted:
		if w.prompt == "" && !b.Hidden && !b.From.Notice() {
			w.prompt = b.Text
		}
	case event.Replied:
		for _, p := range b.Message.Parts {
			if t, ok := p.(llm.Text); ok && strings.TrimSpace(t.S) != "" {
				w.reply = t.S
			}
		}
	case event.ToolFinished:
		if w.remembered(b) {
			w.memory = meter{}
		}
		w.note(ctx, false)
	case event.TurnEnded:
		w.note(ctx, true)
		if b.How == event.Done {
			w.remember(ctx)
			w.suggest(ctx)
		}
		w.entitle(ctx)
		if w.State != "" {
			_ = fulltext.In(w.State, w.Hide).Update(ctx, sessions.In(w.State), nil) // else the next search does it
		}
	default: // nothing to do
	}
}

// entitle has the session named, unless it has a name.
func (w *Watch) entitle(ctx context.Context) {
	if w.Titler == nil || w.prompt == "" || w.tries == maxTitleTries || w.Session.State().Title != "" {
		return
	}
	m, ok := w.Titler(ctx)
	if !ok {
		return
	}
	w.tries++
	name := ""
	err := w.Session.Buy(ctx, func() event.Spent {
		made, spent, err := title.Make(ctx, m, w.prompt, w.reply)
		if err == nil {
			name = made
		}
		return spent
	})
	if err != nil { // there is no money for it, or the session has ended
		return
	}
	_ = w.Session.Entitle(context.WithoutCancel(ctx), w.Hide(name), event.Spent{}) // it fails when the session has ended, or cannot write and says so itself
}

// Title makes a title of what a session is to be about, with the model that makes
// titles; without one it is the first words of it.
func Title(ctx context.Context, c Config, about string) (name string, err error) {
	m, ok := c.Titler(ctx)
	if !ok {
		return title.Plain(about), nil
	}
	bought := c.Session.Buy(ctx, func() (spent event.Spent) {
		name, spent, err = title.Make(ctx, m, about, "")
		return spent
	})
	return name, errors.Join(bought, err)
}
