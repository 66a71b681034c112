package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// Near are the sessions of other processes, as trees of agents see them. state is the state
// folder.
func Near(state string) fleet.Neighbours { return others{state} }

type others struct{ state string }

// Open implements fleet.Neighbours.
func (o others) Open(ctx context.Context) (out []fleet.Peer, err error) {
	list, err := o.find(ctx)
	defer func() { list.Close() }() // also of an error: some may have answered
	for _, s := range list {
		out = append(out, fleet.Peer{ID: s.ID, Title: s.Title, Dir: s.Dir, Doing: string(s.Doing), Turns: s.Doing != ask.Idle, Last: event.Seq(s.Last)})
	}
	return out, err
}

// find are those sessions, without those of this process. Close them.
func (o others) find(ctx context.Context) (List, error) {
	all, _, err := Find(ctx, o.state, "adze", ask.Prompt) // who does not answer cannot be sent anything
	return slices.DeleteFunc(all, func(s Session) bool {
		if s.PID == os.Getpid() {
			_ = s.Client.Close()
		}
		return s.PID == os.Getpid()
	}), err
}

// one is a session by its ID. Close list.
func (o others) one(ctx context.Context, id string) (s Session, list List, err error) {
	list, err = o.find(ctx)
	if found := list.Named(id); err == nil && len(found) == 1 {
		return found[0], list, nil
	}
	list.Close()
	return s, nil, cmp.Or(err, error(&op.Refusal{Code: op.NoSession, Text: fmt.Sprintf("the session %s is not open any more", id)}))
}

// Submit implements fleet.Neighbours.
func (o others) Submit(ctx context.Context, session string, what op.Op) error {
	s, list, err := o.one(ctx, session)
	if err != nil {
		return err
	}
	defer list.Close()
	err = s.Client.Submit(ctx, s.ID, what)
	if _, refused := errors.AsType[*op.Refusal](err); err != nil && !refused {
		err = fmt.Errorf("%w (%w)", fleet.ErrUnsure, err)
	}
	return err
}

// Follow implements fleet.Neighbours.
func (o others) Follow(ctx context.Context, session string, after event.Seq, d event.Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		s, list, err := o.one(ctx, session)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		defer list.Close()
		for e, err := range s.Client.Follow(ctx, session, after, d) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// Closed implements fleet.Neighbours. Of several it is the one that was used last.
func (o others) Closed(ctx context.Context, word string) (p fleet.Peer, ok bool) {
	list, _ := sessions.In(o.state).List(ctx, "") // those that cannot be read, nobody can open
	for _, i := range list {
		if i.Name() == word || len(word) >= leastID && strings.HasPrefix(i.ID, word) {
			return fleet.Peer{ID: i.ID, Title: i.Name(), Dir: i.Start, Turns: i.Running}, true
		}
	}
	return p, false
}
