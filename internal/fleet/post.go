package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/team"
)

// maxLine bounds what a model can say to the person with one message, in characters.
const maxLine = 1_000

// Outside implements team.Post.
func (c Crew) Outside(to string) bool { return c.Tree.Outside(to) }

// Tell implements team.Post.
func (c Crew) Tell(ctx context.Context, m team.Message, call string, outside bool) (tool.Result, error) {
	if bare(m.To) == User {
		if err := c.Tree.TellPerson(c.Of, m.Text); err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Text: "The person was shown it. An answer, if there is one, comes as a prompt."}, nil
	}
	got, err := c.Tree.Send(ctx, c.Of, Letter{To: m.To, Text: m.Text, Summary: m.Summary, Call: call, Idle: m.Idle, Inside: !outside})
	var no *Refused
	switch {
	case ctx.Err() != nil && err != nil:
		return tool.Result{}, ctx.Err()
	case errors.As(err, &no):
		return tool.Errorf("nothing was sent: %s", no.Why), nil
	case err != nil:
		return tool.Errorf("sending the message: %s", err), nil
	}
	var b strings.Builder
	lost := 0
	for _, r := range got {
		if r.How == event.MessageReturned {
			lost++
		}
		fmt.Fprintf(&b, "%s: %s\n", r.To, r.said())
	}
	return tool.Result{Text: strings.TrimSpace(b.String()), IsErr: lost == len(got)}, nil
}

// said is what became of a message, in words.
func (r Receipt) said() string {
	switch r.How {
	case event.MessageBegins:
		return "delivered; it reads it now"
	case event.MessageQueued:
		return "delivered; it works, and reads it after its current step"
	case event.MessageResumes:
		return "delivered; it had ended, and goes on with it now"
	case event.MessageReturned:
		return "not delivered: " + r.Err.Error()
	}
	return fmt.Sprintf("not delivered yet (%s). adze tries again before your next message to it and when this session is gone on with: do not send it again", r.Err)
}

// TellPerson shows a person what a session of the tree says.
func (t *Tree) TellPerson(from, text string) error {
	name := "this session's model"
	t.mu.Lock()
	if m := t.of(from); m != nil {
		name = "the agent " + m.Label()
	}
	t.mu.Unlock()
	return t.host.Report(t.root, event.Noted{Level: "info", Text: fmt.Sprintf("%s says: %s", name, clip.Middle(clip.Clean(text), maxLine, ""))})
}

// Reachable implements team.Post.
func (c Crew) Reachable(ctx context.Context) (tool.Result, error) {
	t := c.Tree
	t.mu.Lock()
	self := t.of(c.Of)
	var b strings.Builder
	if self == nil {
		b.WriteString("You are the main session.\n")
	} else {
		fmt.Fprintf(&b, "You are the agent %s; parent is %s.\n", self.Label(), t.addressOf(self.Order.Of).label)
	}
	t.mu.Unlock()
	list := t.List("")
	if len(list) == 0 {
		b.WriteString("There are no agents.\n")
	} else {
		b.WriteString("Agents:\n")
	}
	for _, m := range list {
		fmt.Fprintf(&b, "- %s, %s: %s: %s\n", m.Label(), cmp.Or(m.Type, "general-purpose"), clip.Line(clip.Clean(m.Title), 80), m.state())
	}
	if t.near != nil {
		peers, err := t.near.Open(ctx)
		if err != nil {
			fmt.Fprintf(&b, "Which other sessions are open could not be found out: %s\n", err)
		}
		for _, p := range peers {
			if p.ID != t.root {
				fmt.Fprintf(&b, "- session %s of the person, in %s: %s\n", p.Label(), p.Dir, p.Doing)
			}
		}
	}
	return tool.Result{Text: strings.TrimSpace(b.String())}, nil
}

// state is what an agent does, or how it ended.
func (m Member) state() string {
	if !m.Works() {
		return "ended: " + string(m.Status)
	}
	return "works: " + cmp.Or(m.Doing, "waiting for its model")
}
