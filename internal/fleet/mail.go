package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/transcript"
)

// What a session says to others is in its log before it is delivered, and so is its
// delivery, once the receiver has it in its own log. What a crash leaves between the two is
// delivered again, and its number tells the receiver that it came. One message after the
// other is delivered of each sender: so they come in order.

// A Letter is a message to be sent.
type Letter struct {
	To      string // whom it is for: see Tree.Send
	Text    string
	Summary string      // for people
	Typed   op.Span     // what of Text a person typed
	Call    string      // that sends it, "" for none
	Input   string      // the prompt that it came in, "" for none
	Mode    policy.Mode // that begins with it at the receiver, "" for none
	Idle    bool        // the sender is told when the receiver has nothing more to do
	Inside  bool        // it is for nobody outside of the tree
}

// A Receipt says what became of a letter, for one receiver.
type Receipt struct {
	To  string // the receiver, for people and models
	How event.Delivery
	// Err is why it was returned or, where there is no How, why it waits: it is delivered
	// before the next one to this receiver, or when the sender is gone on with.
	Err error
}

// deliverTime bounds the delivery of what a session says at once. It includes what it takes
// to open the sessions of agents that go on.
const deliverTime = 30 * time.Second

// Send delivers what a session of the tree says to others: an agent by its ID or name,
// parent, main, all agents that work (*), or another session of the same person by its ID or
// title. An agent that has ended goes on with all that it knows. The error says that nothing
// was sent; it is a *Refused where nobody is meant.
func (t *Tree) Send(ctx context.Context, from string, l Letter) ([]Receipt, error) {
	to, peers, err := t.address(ctx, from, l.To)
	if err == nil {
		l, err = t.rules(from, l, to)
	}
	if err == nil && l.Inside && slices.ContainsFunc(to, func(a address) bool { return !t.here(a.session) }) {
		err = refused("%s is no part of this session, which nobody has allowed yet: call again", to[0].label)
	}
	if err != nil {
		return nil, err
	}
	release, err := t.hold(ctx, from)
	if err != nil {
		return nil, err
	}
	defer release()
	look, ok := t.host.Look(from)
	if !ok {
		return nil, errOver
	}
	old := event.Seq(0)
	if n := len(look.Outbox); n > 0 {
		old = look.Outbox[n-1].N
	}
	if err := t.known(ctx, to); err != nil { // what is in the log is for somebody who is, too
		return nil, err
	}
	for _, a := range to {
		err := t.host.Report(from, event.MessageSent{To: a.session, Name: a.label, Text: l.Text, Summary: l.Summary, Typed: l.Typed, Call: l.Call, Input: l.Input, Mode: l.Mode, Idle: l.Idle})
		if err != nil {
			return nil, err
		}
	}
	// An interrupt of the call does not take back what is recorded.
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), deliverTime)
	defer cancel()
	return t.deliver(within, from, old, peers, func(session string) bool {
		return slices.ContainsFunc(to, func(a address) bool { return a.session == session })
	})
}

// Deliver delivers what a session had said in an earlier process and nobody got, as far as
// that can be done now.
func (t *Tree) Deliver(ctx context.Context, from string) error {
	release, err := t.hold(ctx, from)
	if err != nil {
		return err
	}
	defer release()
	look, ok := t.host.Look(from)
	if !ok || len(look.Outbox) == 0 {
		return nil
	}
	var peers []Peer
	if t.near != nil && slices.ContainsFunc(look.Outbox, func(l transcript.Letter) bool { return !t.here(l.To) }) {
		peers, _ = t.near.Open(ctx) // those that do not answer are as good as closed
	}
	_, err = t.deliver(ctx, from, look.Outbox[len(look.Outbox)-1].N, peers, func(string) bool { return true })
	return err
}

// catchUp delivers what an agent said before it went on and nobody got. It does not end
// before.
func (t *Tree) catchUp(ctx context.Context, m *member) {
	look, open := t.host.Look(m.Begun.Session)
	if !open || len(look.Outbox) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m.posts = true
	t.following.Add(1)
	go func() { // ends with the agent, or with what bounds a delivery
		defer t.following.Done()
		within, cancel := context.WithTimeout(ctx, deliverTime)
		defer cancel()
		_ = t.Deliver(within, m.Begun.Session) // what stays is delivered when it goes on once more
		t.mu.Lock()
		defer t.mu.Unlock()
		m.posts = false
		t.settle(m)
	}()
}

// hold waits for the turn to deliver what a session says.
func (t *Tree) hold(ctx context.Context, from string) (release func(), err error) {
	t.mu.Lock()
	turn := t.posting[from]
	if turn == nil {
		turn = make(chan struct{}, 1)
		t.posting[from] = turn
	}
	t.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// known waits until no receiver is just being begun.
func (t *Tree) known(ctx context.Context, to []address) error {
	for _, a := range to {
		t.mu.Lock()
		var ready chan struct{}
		if m := t.of(a.session); m != nil {
			ready = m.ready
		}
		t.mu.Unlock()
		if ready == nil {
			continue
		}
		select {
		case <-ready:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// here reports whether a session is one of the tree.
func (t *Tree) here(session string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return session == t.root || t.of(session) != nil
}

// deliver delivers in order what a session has said and that was not settled. The receipts
// are of what has a number above old; of that, what cannot be delivered is returned. What is
// older waits, and all that is for the same receiver with it.
func (t *Tree) deliver(ctx context.Context, from string, old event.Seq, peers []Peer, wanted func(session string) bool) (out []Receipt, err error) {
	look, ok := t.host.Look(from)
	if !ok {
		return nil, errOver
	}
	stuck := map[string]error{}
	for _, l := range look.Outbox {
		if !wanted(l.To) {
			continue
		}
		how, why := event.Delivery(""), stuck[l.To]
		if why == nil {
			how, why = t.bring(ctx, from, l, peers, l.N > old)
		}
		var no *Refused
		switch {
		case why == nil:
		case l.N > old && stuck[l.To] == nil && errors.As(why, &no):
			how = event.MessageReturned
		default:
			stuck[l.To] = why
		}
		if how != "" {
			s := event.MessageSettled{N: l.N, How: how}
			if why != nil {
				s.Why = why.Error()
			}
			err = errors.Join(err, t.host.Report(from, s))
		}
		if l.N > old {
			out = append(out, Receipt{To: cmp.Or(l.Name, l.To), How: how, Err: why})
		}
	}
	return out, err
}

// bring hands one message to its receiver. first: no earlier process has tried it.
func (t *Tree) bring(ctx context.Context, from string, l transcript.Letter, peers []Peer, first bool) (event.Delivery, error) {
	sender := t.sender(from, l.To)
	sender.N, sender.Mode = int(l.N), l.Mode
	p := op.Prompt{ID: fmt.Sprintf("m-%s-%d", from, l.N), Text: l.Text, Typed: l.Typed, Verbatim: l.Typed == (op.Span{}), From: &sender}
	t.mu.Lock()
	m := t.of(l.To)
	told := m != nil && m.Order.Of == from // of its end, anyway
	t.mu.Unlock()
	var how event.Delivery
	var after event.Seq
	var err error
	follow := t.host.Follow
	switch i := slices.IndexFunc(peers, func(p Peer) bool { return p.ID == l.To }); {
	case m != nil:
		how, after, err = t.give(ctx, m, p)
	case l.To == t.root:
		look, ok := t.host.Look(t.root)
		if !ok {
			return "", errOver
		}
		how, after, err = begins(look.Turns || look.Waits > 0), look.Seq, t.host.Submit(ctx, t.root, p)
	case i >= 0:
		how, after, err = begins(peers[i].Turns), peers[i].Last, t.near.Submit(ctx, l.To, p)
		follow = t.near.Follow
	default:
		return "", t.shut(ctx, l.To)
	}
	if err != nil {
		return "", final(err)
	}
	if l.Idle && first && !told {
		t.hope(from, l, follow, after, p.ID)
	}
	return how, nil
}

func begins(busy bool) event.Delivery {
	if busy {
		return event.MessageQueued
	}
	return event.MessageBegins
}

// final makes of an error which says that a session took nothing one that is for the model.
func final(err error) error {
	if over(err) || errors.Is(err, &op.Refusal{Code: op.MailboxFull}) {
		return refused("%s", err)
	}
	return err
}

// over reports whether an error says that a session is closed.
func over(err error) bool {
	no, ok := errors.AsType[*op.Refusal](err)
	return ok && (no.Code == op.Closed || no.Code == op.NoSession)
}

// give hands a prompt to an agent, which goes on with it where it has ended. after is its
// newest event before that.
func (t *Tree) give(ctx context.Context, m *member, p op.Prompt) (how event.Delivery, after event.Seq, err error) {
	for {
		bounds := t.bounds()
		var wait chan struct{}
		t.mu.Lock()
		switch {
		case t.closed:
			err = errOver
		case m.ready != nil: // it is being begun
			wait = m.ready
		case m.going:
			wait = m.over
		case m.Works():
			how, after, wait, err = t.hand(ctx, m, p) // which gives t.mu back
			if wait == nil {
				return how, after, err
			}
			t.mu.Lock()
		case t.working() >= bounds.Alive:
			err = tooMany(bounds.Alive)
		default:
			after, err = t.resume(ctx, m, &p) // likewise
			return event.MessageResumes, after, err
		}
		t.mu.Unlock()
		if err != nil {
			return "", 0, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return "", 0, ctx.Err()
		}
	}
}

// hand submits a prompt to an agent that works. wait, when not nil, is closed when it has
// ended, because it was ending already. It is called with t.mu, and gives it back.
func (t *Tree) hand(ctx context.Context, m *member, p op.Prompt) (how event.Delivery, after event.Seq, wait chan struct{}, err error) {
	session, ends := m.Begun.Session, m.over
	how = begins(m.turns || m.last.end.ID == "" || len(m.queued)+len(m.coming) > 0)
	m.coming[p.ID] = true // it does not end before it has read this
	t.mu.Unlock()
	look, open := t.host.Look(session)
	has := look.Mail[p.From.ID] >= p.From.N // it was delivered, and that was not recorded
	switch {
	case !open:
		wait = ends
	case !has:
		err = t.host.Submit(ctx, session, p)
		if over(err) {
			wait, err = ends, nil
		}
	}
	if has || wait != nil || err != nil {
		t.mu.Lock()
		delete(m.coming, p.ID)
		t.settle(m)
		t.mu.Unlock()
	}
	return how, look.Seq, wait, err
}

// settle ends an agent that has nothing more to do where no event will say so. It needs t.mu.
func (t *Tree) settle(m *member) {
	if m.stop != nil && !m.going && m.done() {
		m.going = true
		m.rest()
	}
}

// resume has an agent that has ended go on, with a prompt or waiting for what comes. after is
// the last event before. It is called with t.mu, and gives it back.
func (t *Tree) resume(ctx context.Context, m *member, p *op.Prompt) (after event.Seq, err error) {
	was := m.Status
	m.Status, m.ready = "", make(chan struct{}) // nobody else takes it up
	o, before := m.Order, m.Begun
	o.Resume = &before
	t.mu.Unlock()
	none, err := t.reopen(ctx, o.Of, m.ID)
	var begun Begun
	if err == nil {
		begun, err = t.host.Begin(ctx, o)
	}
	if err == nil && p != nil {
		// What it has and has read is no reason to go on.
		if look, ok := t.host.Look(begun.Session); ok && look.Waits == 0 && look.Mail[p.From.ID] >= p.From.N {
			t.asBefore(m, was, none)
			_, err := t.host.End(begun.Session)
			return begun.After, err
		}
	}
	if err != nil {
		t.asBefore(m, was, none)
		return 0, refused("the agent %s cannot go on: %s", m.Label(), err)
	}
	t.mu.Lock()
	m.Begun.After, m.Begun.Model, m.Begun.Effort = begun.After, begun.Model, begun.Effort
	t.mu.Unlock()
	_, err = t.run(m, false, p)
	return begun.After, err
}

// asBefore has an agent that was to go on be one that has ended. none undoes what was done
// for it.
func (t *Tree) asBefore(m *member, was event.TaskStatus, none func()) {
	t.mu.Lock()
	m.Status = was
	t.roomy()
	t.mu.Unlock()
	t.begun(m)
	none()
}

// reopen has the session be open that an agent, by its ID, works for, and stay so until that
// agent is known to work. none says that it will not.
func (t *Tree) reopen(ctx context.Context, session, id string) (none func(), err error) {
	for {
		var wait chan struct{}
		t.mu.Lock()
		m := t.of(session)
		switch {
		case m == nil: // the root
			t.mu.Unlock()
			return func() {}, nil
		case m.ready != nil:
			wait = m.ready
		case m.going:
			wait = m.over
		case m.Works():
			m.coming[id] = true
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(m.coming, id)
				t.settle(m)
			}, nil
		default:
			if _, err := t.resume(ctx, m, nil); err != nil {
				return func() {}, err
			}
			return func() { t.Stop(m.ID, "the agent that it was opened for could not go on") }, nil
		}
		t.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return func() {}, ctx.Err()
		}
	}
}

// hope tells a session when the receiver of its message has read it and has nothing more to
// do. after is the receiver's newest event before it came.
func (t *Tree) hope(from string, l transcript.Letter, follow func(context.Context, string, event.Seq, event.Detail) iter.Seq2[event.Event, error], after event.Seq, prompt string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	if m := t.of(from); m != nil && m.stop != nil {
		m.hopes++
	}
	t.following.Add(1)
	go func() { // ends with the tree, or when the receiver is idle
		defer t.following.Done()
		idle(follow(t.life, l.To, after, event.Durable), prompt)
		if t.life.Err() == nil {
			t.tell(from, op.Prompt{
				ID: prompt + "-idle", Text: fmt.Sprintf("%s has read your message, and has nothing more to do.", l.Name), Verbatim: true, From: &op.Sender{ID: l.To, Name: l.Name, End: true},
			})
		}
	}()
}

// idle returns when a session has taken a prompt and its turn is over, with nothing behind
// it; or when the session is over.
func idle(events iter.Seq2[event.Event, error], prompt string) {
	taken, waits := false, map[string]bool{}
	for e, err := range events {
		if err != nil {
			return
		}
		switch b := e.Body.(type) {
		case event.InputQueued:
			waits[b.ID] = true
		case event.InputAccepted:
			delete(waits, b.ID)
			taken = taken || b.ID == prompt
		case event.InputRemoved:
			delete(waits, b.ID)
			taken = taken || b.ID == prompt
		case event.TurnEnded:
			if taken && len(waits) == 0 {
				return
			}
		default: // changes nothing of what waits
		}
	}
}

// tell gives a prompt to a session of the tree that hopes for it. One that has ended hopes
// for nothing.
func (t *Tree) tell(session string, p op.Prompt) {
	t.mu.Lock()
	m := t.of(session)
	works := m != nil && m.stop != nil && !m.going
	if works {
		m.hopes--
		m.coming[p.ID] = true
	}
	t.mu.Unlock()
	if m != nil && !works {
		return
	}
	if err := t.host.Submit(t.life, session, p); err != nil && m != nil {
		t.mu.Lock()
		delete(m.coming, p.ID)
		t.settle(m)
		t.mu.Unlock()
	}
}
