package sessions

import (
	"context"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/usage"
)

// Owed is what a child of a session, and all that worked for it, cost by their logs and the
// session has not recorded, because its process ended before. It is nothing for a child
// without a log.
func (s Store) Owed(ctx context.Context, of store.Info, a transcript.Agent) (out []event.Spent) {
	bill, err := s.bill(ctx, of, a.Session)
	if err != nil {
		return nil
	}
	for model, b := range bill {
		if b = b.Minus(a.Counted[model]); b.Helped > 0 {
			out = append(out, event.Spent{For: event.ForAgent, Agent: a.ID, Model: model, Usage: b.Usage, Cost: b.Cost, Priced: b.Unpriced == 0})
		}
	}
	return out
}

// bill is what a child of a session and all that worked for it cost, by model.
func (s Store) bill(ctx context.Context, of store.Info, child string) (map[string]usage.Spent, error) {
	i, err := s.Child(of, child)
	if err != nil {
		return nil, err
	}
	own, below, at := map[string]usage.Spent{}, map[string]map[string]usage.Spent{}, map[string]string{}
	for e, err := range s.Read(ctx, i, 0) {
		if err != nil {
			return nil, err
		}
		if b, ok := e.Body.(event.TaskStarted); ok && b.Kind == event.TaskAgent {
			at[b.ID] = b.Session
		}
		q, ok := event.Request(e.Body)
		if !ok {
			continue
		}
		into := own
		if b, ok := e.Body.(event.Spent); ok && b.Agent != "" {
			if into = below[b.Agent]; into == nil {
				into = map[string]usage.Spent{}
				below[b.Agent] = into
			}
		}
		into[q.Model] = into[q.Model].Plus(q)
	}
	for agent, session := range at {
		if bill, err := s.bill(ctx, i, session); err == nil { // its own log knows best
			below[agent] = bill
		}
	}
	for _, bill := range below {
		for model, b := range bill {
			own[model] = own[model].Add(b)
		}
	}
	return own, nil
}
