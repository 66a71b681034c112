package print

import (
	"context"

	"github.com/adze-agent/adze/internal/event"
)

// suggest tells a host what may be said next, when a turn has come to its end and more may
// be said. The line is that of SDKPromptSuggestionMessage of the published SDK (0.3.332).
func (r *runner) suggest(ctx context.Context, b event.Body) {
	e, ended := b.(event.TurnEnded)
	if !ended || e.How != event.Done || !r.Suggests || r.Suggest == nil || r.Format != Stream || !r.open || len(r.asked) > 0 || r.waits() {
		return
	}
	r.pending++
	go func() { // ends with what it asks; loop waits for it
		var line any
		if text := r.Suggest(ctx); text != "" {
			line = object{"type": "prompt_suggestion", "suggestion": text, "uuid": r.About.NewID(), "session_id": r.About.SessionID}
		}
		select {
		case r.answers <- line:
		case <-ctx.Done():
		}
	}()
}
