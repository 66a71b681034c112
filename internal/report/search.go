package report

import (
	"context"
	"errors"
	"fmt"

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
	Seq     uint64 `json:"at"` // the event with the words
	Snippet string `json:"snippet"`
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
		i, err := s.of.At(h.Project, h.ID)
		if errors.Is(err, store.ErrNone) { // removed by hand
			_ = s.index.Mark(h.ID)
			continue
		}
		if err == nil {
			out = append(out, Found{i, uint64(h.Seq), h.Snippet})
		}
	}
	return out, stale, nil
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
