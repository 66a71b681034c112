package print

import (
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/event"
)

// children are the agents of the session, and theirs, whose messages are shown beside
// those of the session. Nothing of what they say is kept.
type children struct {
	of    map[string]*child // by the ID of the task
	heard chan childEvent
	texts bool // what they say and are told is shown, and not only what they do
}

// A child is an agent whose session is followed.
type child struct {
	task event.TaskStarted
	p    *projection
}

// A childEvent is what happens in the session of an agent; over says that nothing more
// does.
type childEvent struct {
	id   string
	e    event.Event
	over bool
}

// adopt follows the session of an agent that begins or goes on, unless it is followed.
func (r *runner) adopt(ctx context.Context, b event.TaskStarted) {
	if r.Agents == nil || r.Format != Stream || b.Kind != event.TaskAgent || b.Session == "" || r.kids.of[b.ID] != nil {
		return
	}
	r.kids.of[b.ID] = &child{task: b, p: newProjection(r.About, false, false)}
	events := r.Agents(ctx, b.Session, b.After, event.Notices) // before anything is missed
	go func() {                                                // ends with the agent's session, or ctx
		tell := func(in childEvent) bool {
			select {
			case r.kids.heard <- in:
				return true
			case <-ctx.Done():
				return false
			}
		}
		for e, err := range events {
			if err != nil || !tell(childEvent{id: b.ID, e: e}) {
				break
			}
		}
		tell(childEvent{id: b.ID, over: true})
	}()
}

// settle waits until all is shown that an agent did, whose session has ended.
func (r *runner) settle(ctx context.Context, id string) {
	for r.kids.of[id] != nil {
		select {
		case in := <-r.kids.heard:
			r.overhear(ctx, in)
		case <-ctx.Done():
			return
		}
	}
}

// overhear shows what happens in the session of an agent.
func (r *runner) overhear(ctx context.Context, in childEvent) {
	c := r.kids.of[in.id]
	switch {
	case c == nil:
		return
	case in.over:
		delete(r.kids.of, in.id)
		return
	}
	for _, l := range r.linesOf(ctx, c, in.e) {
		r.write(l)
	}
}

// linesOf are the lines for an event in the session of an agent.
func (r *runner) linesOf(ctx context.Context, c *child, e event.Event) (out []any) {
	switch b := e.Body.(type) {
	case event.InputAccepted:
		if r.kids.texts && !b.Hidden {
			out = append(out, messageLine{Type: "user", UUID: e.UUID(), Message: userMessage{Role: "user", Content: b.Text}})
		}
	case event.Replied:
		out = c.p.replied(e.UUID(), b)
		c.p.said, c.p.last = "", event.Replied{}
	case event.ToolFinished:
		c.p.ids[b.Call] = e.UUID()
		out = c.p.finished(b)
	case event.Dropped:
		clear(c.p.results)
	case event.TaskStarted:
		out = r.p.taskStarted(e.Time, b, c.task.ID)
		r.adopt(ctx, b)
	case event.TaskProgress:
		out = r.p.taskProgress(b)
	case event.TaskEnded:
		r.settle(ctx, b.ID)
		out = r.p.taskEnded(e.Time, b)
	default: // what else happens there is not told
	}
	return r.marked(c, out)
}

// marked are lines of an agent that say so. Of what it says nothing is left where that is not
// wanted; which of its calls were refused, their results say.
func (r *runner) marked(c *child, lines []any) (out []any) {
	for _, l := range lines {
		switch l := l.(type) {
		case deniedLine:
		case messageLine:
			if l.SessionID = r.About.SessionID; c.task.Call != "" {
				l.Parent = &c.task.Call
			}
			l.ofAgent = ofAgent{c.task.ID, liveTask{TaskStarted: c.task}.kind(), c.task.Text}
			m, said := l.Message.(apiMessage)
			if said && !r.kids.texts {
				m.Content = slices.DeleteFunc(m.Content, func(block any) bool { return block.(map[string]any)["type"] != "tool_use" })
				l.Message = m
			}
			if !said || len(m.Content) > 0 {
				out = append(out, l)
			}
		default:
			out = append(out, l)
		}
	}
	return out
}
