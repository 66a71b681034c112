package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// A Tree is a person's session, its root, and the agents that work for it or for each
// other. All of its methods may be called by several goroutines.
type Tree struct {
	host   Host
	near   Neighbours // nil: there are none
	root   string
	bounds func() Bounds
	now    func() time.Time
	life   context.Context // of what hopes for the end of somebody's work
	end    context.CancelFunc

	following sync.WaitGroup // of agents that work, and of what hopes
	mu        sync.Mutex     // guards the rest
	members   map[string]*member
	posting   map[string]chan struct{} // has a place for the one who delivers what a session says, by its ID
	starting  int                      // reserved, and not members yet
	spawned   int
	closed    bool
	watching  bool
	team      string        // what its agents are called together, "" for nothing
	cards     []*card       // the newest
	asked     bool          // a person let many start
	room      chan struct{} // closed when an agent has ended
}

type member struct {
	Member
	prompt string
	stop   context.CancelCauseFunc // ends it, nil when it has ended
	rest   context.CancelFunc      // ends its following, because it has nothing more to do
	over   chan struct{}           // closed when it has ended
	moved  chan struct{}           // closed when nobody waits for it any more
	ready  chan struct{}           // closed when it is in the log that it works, or was not begun; nil when either is so
	going  bool                    // it has nothing more to do, and is being closed
	tasks  map[string]bool         // agents of its own that work
	queued map[string]bool         // prompts that wait, and whether each is a notice of a task
	coming map[string]bool         // prompts, and agents of its own, that are on their way
	posts  bool                    // what it said in an earlier life is being delivered
	hopes  int                     // it is to be told that somebody has nothing more to do
	turns  bool                    // a turn runs
	block  string                  // what nobody was there to answer
	asks   map[string]string       // open questions, by call
	said   bool                    // it was said that nothing is heard of it
	last   outcome
	deeds  event.Deeds
	tells  *time.Timer        // until it is put into a line again, nil when it has ended
	hush   context.CancelFunc // ends the line that is being made, nil without
	told   event.Seq          // up to which the last one tells
}

// outcome is how the newest turn of an agent ended.
type outcome struct {
	end  event.TurnEnded
	text string
}

// New is the tree of a root session. bounds is asked before each start. near may be nil.
// Close it.
func New(host Host, near Neighbours, root string, bounds func() Bounds, now func() time.Time) *Tree {
	t := &Tree{host: host, near: near, root: root, bounds: bounds, now: now, members: map[string]*member{}, posting: map[string]chan struct{}{}, room: make(chan struct{})}
	t.life, t.end = context.WithCancel(context.Background())
	return t
}

// Restore has the tree know agents of earlier processes, which have ended, and returns those
// that it did not know.
func (t *Tree) Restore(of string, depth int, list []Member) (fresh []Member) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range list {
		if t.members[m.ID] != nil {
			continue
		}
		m.Order.Of, m.Order.Depth = of, depth
		t.members[m.ID] = &member{Member: m}
		if m.Order.Run == "" {
			t.spawned++
		}
		fresh = append(fresh, m)
	}
	order.By(fresh, func(a, b Member) int { return cmp.Compare(a.Begun.Session, b.Begun.Session) }) // their IDs sort by time
	return fresh
}

// depth is how deep a session is in the tree: 0 is the root. It needs t.mu.
func (t *Tree) depth(session string) int {
	if m := t.of(session); m != nil {
		return m.Order.Depth
	}
	return 0
}

// forks reports whether a session is a fork. It needs t.mu.
func (t *Tree) forks(session string) bool {
	m := t.of(session)
	return m != nil && m.Order.Fork
}

// of is the agent whose session it is, nil for the root. It needs t.mu.
func (t *Tree) of(session string) *member {
	for _, m := range t.members {
		if m.Begun.Session == session {
			return m
		}
	}
	return nil
}

// reserve takes the place of an agent that is to be started.
func (t *Tree) reserve(o *Order, prompt string) error {
	b := t.bounds()
	t.mu.Lock()
	defer t.mu.Unlock()
	o.Depth = t.depth(o.Of) + 1
	switch {
	case t.closed:
		return errOver
	case o.Fork && t.forks(o.Of):
		return refused("you are a fork yourself, and forks do not fork: do this work yourself, or start another agent with a prompt that stands alone")
	case !usable(o.Name):
		return refused("an agent cannot be called %q: a name is one word, not longer than %d bytes, and none that means somebody else (%s)", clip.Visible(o.Name), maxName, strings.Join(reserved, ", "))
	case o.Depth > b.Depth:
		return refused("agents may start agents %d deep, and no deeper: do this work yourself", b.Depth)
	case t.working() >= b.Alive:
		return tooMany(b.Alive)
	case t.spawned >= b.Spawned && o.Run == "":
		return refused("%d agents were started in this session, and no more may be: do this work yourself", t.spawned)
	}
	for _, m := range t.members {
		switch {
		case m.Works() && o.Run == "" && m.Order.Of == o.Of && m.prompt == prompt && m.Order.Type == o.Type:
			return refused("the agent %s works on exactly this already: wait for it", m.Label())
		case o.Name != "" && m.Works() && m.Name == o.Name:
			return refused("an agent with the name %s is there already (%s): give another name", o.Name, m.ID)
		}
	}
	t.starting++
	if o.Run == "" {
		t.spawned++
	}
	return nil
}

// working is how many agents work or are about to. It needs t.mu.
func (t *Tree) working() int {
	n := t.starting
	for _, m := range t.members {
		if m.Works() {
			n++
		}
	}
	return n
}

// errOver says that nothing is begun any more.
var errOver = refused("the session is over")

// roomy has what waits for room look for it. It needs t.mu.
func (t *Tree) roomy() {
	close(t.room)
	t.room = make(chan struct{})
}

func tooMany(alive int) error {
	return &Refused{Why: fmt.Sprintf("%d agents work, and no more may at once (agents.max_alive): wait for one to end", alive), full: true}
}

// Label is how an agent is called: its name with its ID, or its ID.
func (m Member) Label() string {
	if m.Name == "" {
		return m.ID
	}
	return m.Name + " (" + m.ID + ")"
}

// Start begins an agent and gives it its task. waits says that the caller will Wait for
// it. The error is a *Refused where a bound is in the way.
func (t *Tree) Start(ctx context.Context, o Order, title, prompt string, waits bool) (Member, error) {
	for {
		t.mu.Lock()
		room := t.room
		t.mu.Unlock()
		err := t.reserve(&o, prompt)
		if err == nil {
			break
		}
		var no *Refused
		if o.Run == "" || !errors.As(err, &no) || !no.full {
			return Member{}, err
		}
		select {
		case <-room:
		case <-ctx.Done():
			return Member{}, ctx.Err()
		}
	}
	begun, err := t.host.Begin(ctx, o)
	if err != nil {
		t.mu.Lock()
		t.starting-- // an agent that was not started does not count
		if o.Run == "" {
			t.spawned--
		}
		t.roomy()
		t.mu.Unlock()
		return Member{}, err
	}
	m := &member{Member: Member{Agent: begun.Agent, Order: o, Begun: begun, Title: title}, prompt: prompt, ready: make(chan struct{})}
	t.mu.Lock()
	t.members[m.ID] = m // which counts as working from here on
	t.starting--
	t.mu.Unlock()
	first := op.Prompt{Text: prompt, Verbatim: true, From: &op.Sender{ID: cmp.Or(o.Of, t.root), N: 1}}
	if o.Typed {
		first.Typed = op.All(prompt)
	}
	return t.run(m, waits, &first)
}

// run has an agent whose session is open work on a prompt; nil: it waits for what comes.
func (t *Tree) run(m *member, waits bool, prompt *op.Prompt) (Member, error) {
	life, stop := context.WithCancelCause(context.Background())
	watched, rest := context.WithCancel(life)
	t.mu.Lock()
	m.Status, m.Text, m.Doubt, m.Said, m.Doing, m.Asks, m.Tally, m.Waits, m.deeds = "", "", "", "", "", "", event.Tally{}, waits, event.Deeds{}
	m.Began, m.Active, m.prompt = t.now(), t.now(), ""
	if prompt != nil {
		m.prompt = prompt.Text
	}
	m.stop, m.rest, m.over, m.moved = stop, rest, make(chan struct{}), make(chan struct{})
	m.tasks, m.queued, m.coming, m.asks, m.block, m.said, m.last = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]string{}, "", false, outcome{}
	m.turns, m.going, m.posts, m.hopes = false, false, false, 0
	begun, closed := m.Begun, t.closed
	if !closed {
		t.following.Add(1)
	}
	t.mu.Unlock()
	if closed {
		stop(nil)
		t.begun(m)
		_, err := t.host.End(begun.Session)
		return m.Member, errors.Join(errOver, err)
	}
	events := t.host.Follow(watched, begun.Session, begun.After, event.Durable)
	err := t.host.Report(m.Order.Of, t.snapshot(m).started())
	if err == nil {
		t.catchUp(life, m)
	}
	t.begun(m)
	if err == nil && prompt != nil {
		err = t.host.Submit(life, begun.Session, *prompt)
	}
	if err != nil {
		stop(err)
	}
	t.summarizes(life, m)
	go t.follow(life, m, events, err) // ends with the agent; Close waits for it
	t.watch()
	return t.snapshot(m), err
}

// begun says that an agent is in the log of the session that started it, or was not begun.
func (t *Tree) begun(m *member) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(m.ready)
	m.ready = nil
}

func (t *Tree) snapshot(m *member) Member {
	t.mu.Lock()
	defer t.mu.Unlock()
	return m.Member
}

// Find is an agent by its ID, its name, or its session.
func (t *Tree) Find(who string) (Member, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := t.find(who); m != nil {
		return m.Member, true
	}
	return Member{}, false
}

func (t *Tree) find(who string) *member {
	if m := t.members[who]; m != nil {
		return m
	}
	var newest *member // of those that had the name
	for _, m := range t.members {
		if who != "" && (m.Name == who || m.Begun.Session == who) && (newest == nil || m.Works() || !newest.Works() && m.Began.After(newest.Began)) {
			newest = m
		}
	}
	return newest
}

// List are the agents of the tree, in the order in which they began. of, when not "", is
// the session whose own are wanted.
func (t *Tree) List(of string) (out []Member) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.members {
		if of == "" || m.Order.Of == of {
			out = append(out, m.Member)
		}
	}
	order.By(out, func(a, b Member) int { return cmp.Or(a.Began.Compare(b.Began), strings.Compare(a.ID, b.ID)) })
	return out
}

// Wait waits for the end of an agent. moved says that it went to the background meanwhile
// (Background). When ctx ends, so does the agent.
func (t *Tree) Wait(ctx context.Context, id string) (m Member, moved bool, err error) {
	t.mu.Lock()
	w := t.members[id]
	t.mu.Unlock()
	if w == nil || w.over == nil {
		return m, false, fmt.Errorf("there is no agent %q that works", id)
	}
	select {
	case <-w.over:
	case <-w.moved:
		return t.snapshot(w), true, nil
	case <-ctx.Done():
		t.Stop(id, "interrupted")
		return t.snapshot(w), false, ctx.Err()
	}
	return t.snapshot(w), false, nil
}

// Look waits until an agent has ended, or ctx has, and says how it is. It does not end
// the agent.
func (t *Tree) Look(ctx context.Context, who string) (m Member, ok bool) {
	t.mu.Lock()
	w := t.find(who)
	var over chan struct{}
	if w != nil && w.Works() {
		over = w.over
	}
	t.mu.Unlock()
	if w == nil {
		return m, false
	}
	if over != nil {
		select {
		case <-over:
		case <-ctx.Done():
		}
	}
	return t.snapshot(w), true
}

// Background has the call that waits for an agent go on without it.
func (t *Tree) Background(call string) (id string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock() // it is held while this is reported, so that its end is not reported before
	for _, m := range t.members {
		if m.Waits && m.Works() && m.Order.Call == call {
			m.Waits = false
			close(m.moved)
			_ = t.host.Report(m.Order.Of, m.started()) // it says itself when it cannot record
			return m.ID, true
		}
	}
	return "", false
}

// started says that an agent works, and whether a call waits for it.
func (m Member) started() event.TaskStarted {
	return event.TaskStarted{
		ID: m.ID, Call: m.Order.Call, Kind: event.TaskAgent, Text: m.Title, Agent: &m.Agent, Session: m.Begun.Session, After: m.Begun.After, Model: m.Begun.Model, Effort: m.Begun.Effort, Waits: m.Waits, N: m.Ends + 1, Run: m.Order.Run, Phase: m.Order.Phase, Worktree: m.Begun.Worktree,
	}
}

// Stop ends an agent and those that work for it, and returns when they have ended. why is
// for people.
func (t *Tree) Stop(who, why string) (ok bool) {
	t.mu.Lock()
	m := t.find(who)
	if m == nil || !m.Works() || m.stop == nil {
		t.mu.Unlock()
		return false
	}
	stop, over := m.stop, m.over
	t.mu.Unlock()
	stop(errStopped{why})
	<-over
	return true
}

// errStopped is why an agent was stopped.
type errStopped struct{ why string }

func (e errStopped) Error() string { return cmp.Or(e.why, "stopped") }

// Close stops every agent, and waits until they have ended.
func (t *Tree) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.StopAll("the session ended")
	t.following.Wait()
}

// StopAll ends every agent that works, and does not wait until they have ended.
func (t *Tree) StopAll(why string) {
	t.mu.Lock()
	var stops []context.CancelCauseFunc
	for _, m := range t.members {
		if m.Works() && m.stop != nil {
			stops = append(stops, m.stop)
		}
	}
	t.mu.Unlock()
	t.end()
	for _, stop := range stops {
		stop(errStopped{why})
	}
}

// names lists the agents for the model. It needs t.mu.
func (t *Tree) names() string {
	var out []string
	for _, m := range t.members {
		out = append(out, m.Label())
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
