package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/transcript"
)

// A world is a fleet.Host whose sessions are logs that outlive a process. What a session does
// with a prompt is what a session of package session does, without a model: it takes what
// waits and ends its turn, when the test says so.
type world struct {
	mu   sync.Mutex // guards the rest
	logs map[string]*log
	// fuse is how many more records are made before the process dies, 0 for any number.
	// What is recorded last is on disk, and whoever wanted it is not told.
	fuse int
	dead bool
	dice *rand.Rand
}

// tarry lets others go before, or not.
func (w *world) tarry() {
	w.mu.Lock()
	d := time.Duration(w.dice.IntN(8)) * time.Millisecond
	w.mu.Unlock()
	time.Sleep(d) // of the bubble's clock
}

type log struct {
	events []event.Event
	st     transcript.State
	agent  event.Agent
	of     string
	open   bool
	news   chan struct{} // closed with the next event, or when it is closed
	tree   *fleet.Tree
	told   bool // Deliver was called since it was opened
}

var errDead = errors.New("the process is dead")

func newWorld(seed uint64) *world {
	return &world{logs: map[string]*log{"root": {news: make(chan struct{})}}, dice: rand.New(rand.NewPCG(seed, 0))}
}

// put records an event. It needs w.mu.
func (w *world) put(session string, b event.Body) error {
	if w.dead {
		return errDead
	}
	l := w.logs[session]
	e := event.Event{Seq: l.st.Seq + 1, Body: b}
	l.events, l.st = append(l.events, e), l.st.Apply(e)
	close(l.news)
	l.news = make(chan struct{})
	if w.fuse > 0 {
		if w.fuse--; w.fuse == 0 {
			w.dead = true
			return errDead
		}
	}
	return nil
}

func (w *world) Begin(_ context.Context, o fleet.Order) (fleet.Begun, error) {
	w.tarry()
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.logs[o.Of]
	switch {
	case w.dead:
		return fleet.Begun{}, errDead
	case of == nil || !of.open:
		return fleet.Begun{}, errors.New("the session that starts it is closed")
	}
	id := fmt.Sprintf("s%d", len(w.logs))
	if o.Resume != nil {
		id = o.Resume.Session
	} else {
		w.logs[id] = &log{agent: event.Agent{ID: "a" + id, Name: o.Name}, of: o.Of, news: make(chan struct{})}
	}
	l := w.logs[id]
	if l.open {
		return fleet.Begun{}, errors.New("it is open already: two of one session")
	}
	after := l.st.Seq
	l.open, l.told, l.tree = true, false, of.tree
	if after == 0 {
		_ = w.put(id, event.SessionStarted{ID: id})
	}
	w.restart(id)
	if w.dead {
		return fleet.Begun{}, errDead
	}
	return fleet.Begun{Session: id, Agent: l.agent, Model: "p/m", After: after}, nil
}

// restart records what session.Session does when it goes on with a log, and has the tree know
// its agents. It needs w.mu.
func (w *world) restart(id string) {
	l := w.logs[id]
	for task := range l.st.Background {
		_ = w.put(id, event.TaskEnded{ID: task, Status: event.TaskLost})
	}
	if l.st.Running != "" {
		_ = w.put(id, event.TurnEnded{ID: l.st.Running, How: event.Interrupted})
	}
	var list []fleet.Member
	for _, a := range l.st.Agents {
		m := fleet.Member{Agent: *a.Agent, Begun: fleet.Begun{Session: a.Session, Agent: *a.Agent}, Order: fleet.Order{Name: a.Agent.Name}, Status: event.TaskLost, Ends: a.N}
		if a.End != nil {
			m.Status = a.End.Status
		}
		list = append(list, m)
	}
	tree := l.tree
	w.mu.Unlock()
	tree.Restore(id, 1, list)
	w.mu.Lock()
}

func (w *world) Submit(_ context.Context, session string, o op.Op) error {
	w.tarry()
	defer w.tarry()
	w.mu.Lock()
	defer w.mu.Unlock()
	l, p := w.logs[session], o.(op.Prompt)
	switch {
	case w.dead:
		return errDead
	case l == nil || !l.open:
		return &op.Refusal{Code: op.NoSession, Text: "not open"}
	case p.From != nil && p.From.N > 0 && p.From.N <= l.st.Mail[p.From.ID]:
		return nil
	}
	if p.ID == "" {
		p.ID = fmt.Sprintf("p%d", l.st.Seq)
	}
	return w.put(session, event.InputQueued{ID: p.ID, Text: p.Text, From: p.From})
}

func (w *world) Follow(ctx context.Context, session string, after event.Seq, _ event.Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for {
			w.tarry()
			w.mu.Lock()
			l := w.logs[session]
			es, open, news := l.events[after:], l.open, l.news
			w.mu.Unlock()
			for _, e := range es {
				after = e.Seq
				if !yield(e, nil) {
					return
				}
			}
			if !open {
				return
			}
			select {
			case <-news:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (w *world) Report(session string, b event.Body) error {
	if _, live := b.(event.Live); live {
		return nil
	}
	w.tarry()
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.logs[session]; l == nil || !l.open {
		return &op.Refusal{Code: op.NoSession, Text: "not open"}
	}
	return w.put(session, b)
}

func (w *world) Look(session string) (fleet.Look, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.logs[session]
	if l == nil || !l.open {
		return fleet.Look{}, false
	}
	return fleet.Look{Seq: l.st.Seq, Turns: l.st.Running != "", Waits: len(l.st.Queue), Outbox: l.st.Outbox, Mail: l.st.Mail}, true
}

func (w *world) Review(context.Context, string, string, event.TaskEnded) string {
	w.tarry()
	return ""
}

func (w *world) ChangeList(context.Context, string, fleet.Change) (fleet.Outcome, error) {
	return fleet.Outcome{}, nil
}

func (w *world) End(session string) (*event.Worktree, error) {
	w.tarry()
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.logs[session]
	if !l.open {
		return nil, nil
	}
	if l.st.Running != "" && !w.dead {
		_ = w.put(session, event.TurnEnded{ID: l.st.Running, How: event.Interrupted})
	}
	l.open = false
	close(l.news)
	l.news = make(chan struct{})
	return nil, nil
}

// step has a session do one thing: begin a turn with what waits, take what waits, or end its
// turn. delivers says that it is the first turn since it was opened. moved is false when
// there was nothing to do.
func (w *world) step(session string) (moved, delivers bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.logs[session]
	if w.dead || !l.open {
		return false, false
	}
	switch {
	case len(l.st.Queue) > 0:
		q := l.st.Queue[0]
		begins := l.st.Running == ""
		if w.put(session, event.InputAccepted{ID: q.ID, Text: q.Text, From: q.From, Steer: !begins}) == nil && begins {
			_ = w.put(session, event.TurnStarted{ID: fmt.Sprintf("t%d", l.st.Turns+1)})
			delivers, l.told = !l.told && session == "root", true
		}
	case l.st.Running != "":
		_ = w.put(session, event.TurnEnded{ID: l.st.Running, How: event.Done})
	default:
		return false, false
	}
	return true, delivers
}

// start is a process that goes on with the root session.
func (w *world) start() *fleet.Tree {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead, w.fuse = false, 0
	t := fleet.New(w, nil, "root", func() fleet.Bounds { return fleet.Bounds{Depth: 3, Alive: 20, Spawned: 1000} }, time.Now)
	for _, l := range w.logs {
		l.open = false
	}
	root := w.logs["root"]
	root.open, root.told, root.tree = true, false, t
	if len(root.events) == 0 {
		_ = w.put("root", event.SessionStarted{ID: "root"})
	}
	w.restart("root")
	return t
}

// sessions are the IDs of all of them.
func (w *world) sessions() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.logs {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// cut counts the turns that were interrupted.
func (w *world) cut() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.logs {
		for _, e := range l.events {
			if b, ok := e.Body.(event.TurnEnded); ok && b.How == event.Interrupted {
				n++
			}
		}
	}
	return n
}

// wrong says what of all that was sent did not come, came twice, or came in another order.
func (w *world) wrong() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for from, l := range w.logs {
		if n := len(l.st.Queue); n > 0 {
			errs = append(errs, fmt.Errorf("%s has not read %d", from, n))
		}
		sent, returned := map[string][]string{}, map[event.Seq]bool{}
		for _, e := range l.events {
			if b, ok := e.Body.(event.MessageSettled); ok && b.How == event.MessageReturned {
				returned[b.N] = true
			}
		}
		for _, e := range l.events {
			if b, ok := e.Body.(event.MessageSent); ok && !returned[e.Seq] {
				sent[b.To] = append(sent[b.To], b.Text)
			}
		}
		for to, r := range w.logs {
			var read []string
			for _, e := range r.events {
				if b, ok := e.Body.(event.InputAccepted); ok && b.From != nil && b.From.ID == from && b.From.N > 1 {
					read = append(read, b.Text)
				}
			}
			if !slices.Equal(read, sent[to]) {
				errs = append(errs, fmt.Errorf("from %s to %s: sent %q, read %q", from, to, sent[to], read))
			}
		}
	}
	return errors.Join(errs...)
}

func (w *world) isDead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

// Summarize implements fleet.Host: nobody makes lines.
func (w *world) Summarize(_ context.Context, _, _, _ string, after event.Seq) (string, event.Seq) {
	return "", after
}
