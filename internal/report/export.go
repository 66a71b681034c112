package report

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/ui/export"
)

// Export writes a session as md, html, json or jsonl, without the secrets of environ and known
// keys. most bounds the result of a call, in bytes; 0 is all of it. With agents, what the
// session's agents did follows, but in jsonl.
func Export(ctx context.Context, w io.Writer, st sessions.Store, i store.Info, format string, environ []string, most int, agents bool) error {
	o := export.Options{Title: i.Title, Secrets: secret.Environ(environ), MaxResult: most}
	if agents {
		o.Agent = func(path []string) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				for e, err := range st.ReadChild(ctx, i, path, 0) {
					if errors.Is(err, store.ErrNone) || !yield(e, err) {
						return
					}
				}
			}
		}
	}
	events := st.Read(ctx, i, 0)
	switch format {
	case "json":
		return export.JSON(w, events, o)
	case "jsonl":
		return export.JSONL(w, events, o)
	case "html":
		return export.HTML(w, events, o)
	}
	return export.Markdown(w, events, o)
}
