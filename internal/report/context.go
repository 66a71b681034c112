// Package report finds out what the commands tell that only look: what fills the window of a
// session's model, what sessions cost, what confines commands. It draws nothing for a
// terminal and changes nothing.
package report

import (
	"context"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/environment"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

// A Kept is a session on disk; the zero value is one without any event.
type Kept struct{ transcript.State }

// Read is what the log of a session says.
func Read(ctx context.Context, all sessions.Store, i store.Info) (k Kept, err error) {
	for e, err := range all.Read(ctx, i, 0) {
		if err != nil {
			return k, err
		}
		k.State = k.Apply(e)
	}
	return k, nil
}

// Window is what fills the window of a model when r, in which nothing was said yet, goes on
// with this session.
func (k Kept) Window(r *app.Running, model string) window.Map {
	parts := r.Instructions()
	if began := environment.Parts(k.Situation); len(began) > 0 {
		parts = prompt.Keep(parts, began)
	}
	size, limit := r.Facts(model)
	_, tools := r.Sizes()
	instructions, offered := app.Pieces(parts, tools)
	return window.MapOf(k.State, model, size, limit, instructions, offered)
}

// Instructions are the texts that a model is told.
func Instructions(r *app.Running) []string {
	parts := r.Instructions()
	out := make([]string, 0, len(parts))
	for _, p := range parts {
		out = append(out, p.Text)
	}
	return out
}
