package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

// Bounds of running calls.
const (
	maxParallel = 10
	// stopGrace is how long an interrupted call may take to return; a turn is
	// over 200 ms after an interrupt, whatever runs.
	stopGrace = 120 * time.Millisecond
)

var errSibling = errors.New("another command of the same reply failed")

// calls are the tool calls of one reply. Each call has a goroutine, which ends
// with its result; wait, stop or abandon waits for all of them.
type calls struct {
	r      *run
	reply  int             // which one of the turn
	ctx    context.Context // of the reply
	cancel context.CancelFunc

	mu      sync.Mutex // guards everything below, and the phases of the calls
	list    []*call
	changed chan struct{} // closed and replaced when a phase changes
	halted  bool          // nothing may start any more
	failed  bool          // a command failed: what comes after it does not start
	whole   bool          // the reply has ended: no more calls come
	stopped string        // why the turn ends behind this reply, "" when it does not
	put     bool          // its call was put off
	err     error         // the first that means the turn cannot be recorded
}

// A phase is how far a call has come.
type phase int

const (
	waiting phase = iota
	planned       // its plan is known; it is checked, or waits for its turn
	asking        // somebody has to rule on it
	running
	done
)

// A call is one tool call on its way.
type call struct {
	use      llm.ToolUse
	tool     tool.Tool
	phase    phase
	parallel bool
	actions  []policy.Action // that were ruled on
	response json.RawMessage // the result, for hooks that look at all of them
	started  bool
	claimed  bool // its result is being recorded, by itself or in its stead
	isErr    bool
	answer   json.RawMessage
	final    string // the answer of the turn, when the call ends it
	fresh    string // what a new context begins with, when the call wants one
	ended    chan struct{}
	ctx      context.Context
	cancel   context.CancelCauseFunc
}

func newCalls(r *run, ctx context.Context, cancel context.CancelFunc) *calls {
	r.replies++
	return &calls{r: r, reply: r.replies, ctx: ctx, cancel: cancel, changed: make(chan struct{})}
}

func (c *calls) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.list)
}

// futile are the calls with their arguments, when all of them failed; "" otherwise.
func (c *calls) futile() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, k := range c.list {
		if !k.isErr {
			return ""
		}
		b.WriteString(k.use.Name + "\x00" + string(k.use.Input) + "\x00")
	}
	return b.String()
}

// add takes a finished call; it starts as soon as the gate and its
// neighbours let it.
func (c *calls) add(use llm.ToolUse) {
	k := &call{use: use, ended: make(chan struct{})}
	k.ctx, k.cancel = context.WithCancelCause(c.ctx)
	c.mu.Lock()
	c.list = append(c.list, k)
	if c.failed {
		k.cancel(errSibling)
	}
	c.mu.Unlock()
	go func() { // ends with the call; see wait
		defer close(k.ended)
		defer k.cancel(nil)
		c.exec(k)
	}()
}

// ahead tells a tool that a call of it begins to arrive.
func (c *calls) ahead(name string) {
	if t, ok := c.r.tools.Get(name); ok {
		if f := t.Spec().Ahead; f != nil {
			f()
		}
	}
}

// shift changes something that others may be waiting for.
func (c *calls) shift(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// until waits for a condition, which it evaluates under the lock. It returns
// false when the call is cancelled, or nothing may start any more, first: then the
// condition is not looked at any more.
func (c *calls) until(k *call, holds func() bool) bool {
	for {
		c.mu.Lock()
		over, changed := c.halted || c.ctx.Err() != nil || k.ctx.Err() != nil, c.changed // the reply's ends before those of its calls, one by one
		ok := !over && holds()
		c.mu.Unlock()
		if over || ok {
			return ok
		}
		select {
		case <-changed:
		case <-k.ctx.Done():
		}
	}
}

// mayPlan holds when every call before k has its plan, and those that run
// alone are done: a plan looks at the files that they change.
func (c *calls) mayPlan(k *call) bool {
	for _, o := range c.list {
		if o == k {
			return true
		}
		if !o.parallel && o.phase != done { // one without a plan is not parallel yet
			return false
		}
	}
	return true
}

// mayRun holds when nothing runs, or when k and everything that runs are
// parallel and there is room. A call that runs alone lets those before it go
// first, but for those that somebody still has to rule on.
func (c *calls) mayRun(k *call) bool {
	n, alone, before := 0, false, true
	for _, o := range c.list {
		before = before && o != k
		if o.phase == running {
			n, alone = n+1, !o.parallel // whoever runs alone is the only one
		}
		if before && !k.parallel && o.phase == planned {
			return false
		}
	}
	most := c.r.MaxCalls
	if most <= 0 {
		most = maxParallel
	}
	return n == 0 || k.parallel && !alone && n < most
}

// wait returns when every call has a result. After an interrupt it gives them
// stopGrace and then answers in their stead.
func (c *calls) wait() error {
	c.mu.Lock()
	list := c.list
	c.mu.Unlock()
	var grace <-chan time.Time
	for _, k := range list {
		select {
		case <-k.ended:
			continue
		case <-c.ctx.Done():
		}
		if grace == nil {
			timer := time.NewTimer(stopGrace)
			defer timer.Stop()
			grace = timer.C
		}
		select {
		case <-k.ended:
		case <-grace:
			closed := make(chan time.Time)
			close(closed)
			grace = closed // it is up for the others too
			c.close(k)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// close answers a call that does not stop.
func (c *calls) close(k *call) {
	if !c.claim(k) {
		<-k.ended // it is recording its own result right now
		return
	}
	c.r.Host.Leave(k.ended)
	text := interruptedText
	c.shift(func() {
		if !k.started {
			text = unstarted(k).Text
		}
	})
	c.emit(event.ToolFinished{Call: k.use.ID, Name: k.use.Name, IsErr: true, Text: text})
}

// claim gives the right to record a call's result to the first who asks.
func (c *calls) claim(k *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !k.claimed
	k.claimed = true
	return first
}

// stop cancels what runs and waits for it.
func (c *calls) stop() error {
	c.cancel()
	return c.wait()
}

// abandon lets what runs finish, starts nothing more, and names the calls
// that had started.
func (c *calls) abandon() ([]string, error) {
	c.shift(func() { c.halted = true })
	err := c.wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	for _, k := range c.list {
		if k.started {
			ids = append(ids, k.use.ID)
		}
	}
	return ids, err
}

// structured counts the structured answers that did not fit and returns the
// one that did.
func (c *calls) structured() (rejected int, answer json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.list {
		if k.answer != nil {
			answer = k.answer
		}
		if k.use.Name == c.r.Structured && k.isErr {
			rejected++
		}
	}
	return rejected, answer
}

// final is the answer of a call that ends the turn, "" when there is none.
func (c *calls) final() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.list {
		if k.final != "" {
			return k.final
		}
	}
	return ""
}

// fresh is what a new context begins with, "" when no call wants one.
func (c *calls) fresh() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.list {
		if k.fresh != "" {
			return k.fresh
		}
	}
	return ""
}

// emit records a body and keeps the first failure.
func (c *calls) emit(b event.Body) bool {
	if err := c.r.Host.Emit(b); err != nil {
		c.fail(err)
		return false
	}
	return true
}

// fail keeps why the turn cannot be recorded, and ends its calls.
func (c *calls) fail(err error) {
	c.mu.Lock()
	c.err = errors.Join(c.err, err)
	c.mu.Unlock()
	c.cancel()
}

// cancelSiblings stops the calls of a reply of which a command failed: those
// that run, those that wait, and those that are still to come. c.mu is held.
func (c *calls) cancelSiblings() {
	c.failed = true
	for _, k := range c.list {
		k.cancel(errSibling) // to one that is done it means nothing
	}
}
