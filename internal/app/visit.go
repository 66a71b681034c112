package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/toolkit"
)

// FollowAgent yields what happens in the session of an agent that works in the tree of this
// session, behind an event. Of one that has ended it yields what the log says.
func (r *Running) FollowAgent(ctx context.Context, id string, after event.Seq, d event.Detail) iter.Seq2[event.Event, error] {
	if of, err := (hosting{r.place.process}).session(id); err == nil && of.tree == r.tree {
		return of.Follow(ctx, after, d)
	}
	var path []string // from the root down
	for at := id; at != r.ID; {
		m, ok := r.tree.Find(at)
		if !ok || m.Begun.Session != at {
			err := &op.Refusal{Code: op.NoSession, Text: fmt.Sprintf("no agent of this session has the session %s", id)}
			return func(yield func(event.Event, error) bool) { yield(event.Event{}, err) }
		}
		path, at = append([]string{at}, path...), m.Order.Of
	}
	return sessions.In(r.place.Paths.State).ReadChild(ctx, r.log.Info(), path, after)
}

// Agent is an agent of the session's tree, by its ID, and its session where that is open.
func (r *Running) Agent(id string) (m fleet.Member, child *Running, ok bool) {
	if m, ok = r.tree.Find(id); ok {
		child, _ = (hosting{r.place.process}).session(m.Begun.Session) // nil of one that has ended
	}
	return m, child, ok
}

// besideOf are the tasks of a session of this process, none where it is not open.
func (r *Running) besideOf(session string) toolkit.Sources {
	if of, err := (hosting{r.place.process}).session(session); err == nil {
		return of.kit.Beside
	}
	return nil
}

// StartAgent starts an agent of the session that works in the background on what a person
// typed.
func (r *Running) StartAgent(ctx context.Context, prompt string) (fleet.Member, error) {
	switch prompt = strings.TrimSpace(prompt); {
	case prompt == "":
		return fleet.Member{}, errors.New("an agent needs a prompt")
	case r.State().Seq == 0:
		return fleet.Member{}, errors.New("an agent works beside a conversation, and none has begun: say something to the session first")
	}
	return r.tree.Start(ctx, fleet.Order{Of: r.ID, Typed: true}, clip.Line(clip.Clean(prompt), 60), prompt, false)
}
