package app

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Look implements fleet.Host.
func (h hosting) Look(session string) (l fleet.Look, ok bool) {
	r, err := h.session(session)
	if err != nil {
		return l, false
	}
	st := r.State()
	return fleet.Look{Seq: st.Seq, Title: clip.Line(clip.Clean(cmp.Or(st.Title, st.First)), 200), Asks: len(st.Pending) > 0, Turns: st.Running != "", Waits: len(st.Queue), Mode: r.Session.Mode(), Outbox: st.Outbox, Mail: st.Mail}, true
}

// neighbours are the sessions of people, in this process and in others. It implements
// fleet.Neighbours for the one at the root of a tree.
type neighbours struct {
	hosting
	fleet.Neighbours // those of other processes
}

// near are the sessions beside this one, nil where there can be none.
func (r *Running) near() fleet.Neighbours {
	p := r.place.process
	if p.Near == nil {
		return nil
	}
	return neighbours{hosting{p}, p.Near(r.place.Paths.State)}
}

// Open implements fleet.Neighbours.
func (n neighbours) Open(ctx context.Context) (out []fleet.Peer, err error) {
	for _, r := range n.p.sessions(nil) {
		if look, open := n.Look(r.ID); open && r.spec.Child == nil && !r.spec.dry {
			out = append(out, look.Peer(r.ID, r.place.Paths.Dir))
		}
	}
	others, err := n.Neighbours.Open(ctx)
	return append(out, others...), err
}

// Submit implements fleet.Neighbours.
func (n neighbours) Submit(ctx context.Context, session string, o op.Op) error {
	if _, err := n.session(session); err == nil {
		return n.hosting.Submit(ctx, session, o)
	}
	return n.Neighbours.Submit(ctx, session, o)
}

// Follow implements fleet.Neighbours.
func (n neighbours) Follow(ctx context.Context, session string, after event.Seq, d event.Detail) iter.Seq2[event.Event, error] {
	if _, err := n.session(session); err == nil {
		return n.hosting.Follow(ctx, session, after, d)
	}
	return n.Neighbours.Follow(ctx, session, after, d)
}

// post sends what a prompt says to somebody whom it names first: see session.Hands. A file of
// that name makes it a prompt for this session.
func (r *Running) post(ctx context.Context, p op.Prompt) (told string, err error) {
	return r.tree.Post(ctx, r.ID, p, func(name string) bool { return r.kit.Leads(r.State().Dir, name) })
}

// Receivers are all whom a prompt can be sent to from this session.
func (r *Running) Receivers(ctx context.Context) []fleet.Receiver {
	return r.tree.Receivers(ctx, r.ID)
}

// submits sends the plan of an agent that was started to plan to the session that started it;
// nil for any other session.
func (r *Running) submits() func(ctx context.Context, call, plan string) (string, error) {
	if c := r.spec.Child; c == nil || !c.agent.Plans {
		return nil
	}
	return func(ctx context.Context, call, plan string) (string, error) {
		return r.tree.Submit(ctx, r.ID, call, plan)
	}
}

// undelivered delivers what the session said in an earlier process, and nobody got, before the
// first turn goes to the model: so what begins with it is there when the turn ends. What an
// agent said, its tree delivers when it goes on.
func (r *Running) undelivered() {
	if r.spec.Child != nil || r.State().Outbox == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), undeliveredTime)
	defer cancel()
	if err := r.tree.Deliver(ctx, r.ID); err != nil {
		r.place.process.Notef("messages of this session were not delivered: %v", err)
	}
}

// undeliveredTime bounds how long a turn waits for that.
const undeliveredTime = 10 * time.Second

// resumedWith tells the model what there is of earlier processes: its agents, and the
// messages that did not arrive or that nobody has read.
func (r *Running) resumedWith(list []fleet.Member) {
	var b strings.Builder
	st := r.State()
	if len(list) > 0 {
		b.WriteString("Agents that worked for you before adze was started again; SendMessage has one go on with all that it knows:\n")
		for _, m := range list[max(0, len(list)-maxRecalled):] {
			fmt.Fprintf(&b, "- %s: %s: %s", m.Label(), clip.Line(clip.Clean(m.Title), 80), m.Status)
			if n := r.unread(m); n > 0 {
				fmt.Fprintf(&b, "; %s to it that it has not read", clip.Count(n, "message"))
			}
			b.WriteByte('\n')
		}
	}
	if len(st.Outbox) > 0 {
		b.WriteString("Messages of yours that had not arrived when adze ended. They are delivered now; do not send them again:\n")
		for _, l := range st.Outbox {
			fmt.Fprintf(&b, "- to %s: %s\n", l.Name, clip.Line(clip.Clean(cmp.Or(l.Summary, l.Text)), 120))
		}
	}
	if b.Len() > 0 {
		_ = r.Note(strings.TrimSpace(b.String())) // a session that has ended needs none
	}
}

// maxRecalled bounds the agents that a session is told of when it is gone on with.
const maxRecalled = 20

// unread is how many prompts wait in the log of an agent that was cut off.
func (r *Running) unread(m fleet.Member) (n int) {
	if m.Status != event.TaskLost || !r.Kept {
		return 0
	}
	st := sessions.In(r.place.Paths.State)
	i, err := st.Child(r.log.Info(), m.Begun.Session)
	if err != nil {
		return 0
	}
	waits := map[string]bool{}
	for e, err := range st.Read(context.Background(), i, 0) {
		if err != nil {
			return len(waits)
		}
		switch b := e.Body.(type) {
		case event.InputQueued:
			waits[b.ID] = true
		case event.InputAccepted:
			delete(waits, b.ID)
		case event.InputRemoved:
			delete(waits, b.ID)
		default: // changes nothing of what waits
		}
	}
	return len(waits)
}
