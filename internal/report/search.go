package report

import (
	"context"
	"errors"
	"fmt"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A Found is a session that has the words that were looked for.
type Found struct {
	store.Info
	// Agent says whose words they are, where an agent of the session said or did it.
	Agent   *FoundAgent `json:"agent,omitempty"`
	Seq     uint64      `json:"at"` // the event with the words, in the log of the session or the agent
	Snippet string      `json:"snippet"`
}

// A FoundAgent is an agent that said or did what was looked for.
type FoundAgent struct {
	event.Agent
	Session string `json:"session"` // the ID of its own session
}

// A Search is the index of what all sessions say, without secrets.
type Search struct {
	of    sessions.Store
	index fulltext.Folder
	key   string // of this folder's sessions
}

// SearchIn is the index of a person's sessions.
func SearchIn(p settings.Paths, environ []string) Search {
	return Search{sessions.In(p.State), fulltext.In(p.State, secret.New(secret.Environ(environ)...).String), sessions.Key(p.Root)}
}

// Sessions reads what is new into the index, and searches the sessions of this folder or
// all. When the index cannot be written to now, it is searched as it is, and stale says why.
func (s Search) Sessions(ctx context.Context, words string, all bool, limit int, tell func(done, of int)) (out []Found, stale, err error) {
	stale = s.index.Update(ctx, s.of, tell)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	q := fulltext.Query{Words: words, Project: s.key, Limit: limit}
	if all {
		q.Project = ""
	}
	hits, err := s.index.Search(ctx, q)
	switch {
	case errors.Is(err, fulltext.ErrBusy):
		return nil, nil, hint.With(fulltext.ErrBusy, "try again in a moment")
	case errors.Is(err, fulltext.ErrNewer):
		return nil, nil, hint.With(fulltext.ErrNewer, "use that version, or make it anew with this one: adze sessions reindex")
	case errors.Is(err, fulltext.ErrNone) && stale != nil:
		return nil, nil, hint.With(fmt.Errorf("the sessions cannot be searched: %w", stale), "adze sessions list shows them")
	case err != nil:
		return nil, nil, hint.With(fmt.Errorf("search the sessions: %w", err), "adze sessions reindex makes the index anew")
	}
	out = []Found{}
	for _, h := range hits {
		i, agent, err := s.at(ctx, h)
		if errors.Is(err, store.ErrNone) { // removed by hand
			_ = s.index.Mark(session(h))
			continue
		}
		if err == nil {
			out = append(out, Found{i, agent, uint64(h.Seq), h.Snippet})
		}
	}
	return out, stale, nil
}

// session is the ID of the person's session that a hit is of.
func session(h fulltext.Hit) string {
	_, path := sessions.Line(h.Project)
	return append(path, h.ID)[0]
}

// at is the person's session that a hit is of, and the agent of it, nil for none.
func (s Search) at(ctx context.Context, h fulltext.Hit) (store.Info, *FoundAgent, error) {
	project, path := sessions.Line(h.Project)
	i, err := s.of.At(project, session(h))
	if err != nil || len(path) == 0 {
		return i, nil, err
	}
	agent := FoundAgent{Session: h.ID}
	for e, err := range s.of.ReadChild(ctx, i, append(path, h.ID)[1:], 0) {
		if err != nil {
			return i, nil, err
		}
		if b, ok := e.Body.(event.SessionStarted); ok && b.Child != nil {
			agent.Agent = b.Child.Agent
			break
		}
	}
	return i, &agent, nil
}

// Rebuild makes the index anew from all sessions.
func (s Search) Rebuild(ctx context.Context, tell func(done, of int)) error {
	return s.index.Rebuild(ctx, s.of, tell)
}

// Forget takes sessions that were removed out of the index, where there is one. What cannot
// be done now, the next search does.
func (s Search) Forget(ctx context.Context) {
	if s.index.Built(ctx) {
		_ = s.index.Update(ctx, s.of, nil)
	}
}
