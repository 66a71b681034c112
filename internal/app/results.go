package app

import (
	"context"
	"math"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

// mask hides secrets in the result of a call, those of the workspace among them.
func (r *Running) mask(as []policy.Action, res tool.Result) tool.Result {
	return r.place.process.hide.With(r.sandboxes.Secrets(as)).Result(res)
}

// result looks in the log for what a call returned.
func (r *Running) result(ctx context.Context, call string) (text string, ok bool, err error) {
	all, err := r.results(ctx, 0, []string{call}, math.MaxInt)
	text, ok = all[call]
	return text, ok, err
}

// results looks in the log after an event for what calls returned, until there are
// so many bytes of it.
func (r *Running) results(ctx context.Context, after event.Seq, calls []string, most int) (map[string]string, error) {
	out, wanted := map[string]string{}, make(map[string]bool, len(calls))
	for _, id := range calls {
		wanted[id] = true
	}
	for e, err := range r.log.After(ctx, after) {
		if err != nil {
			return nil, err
		}
		if f, ok := e.Body.(event.ToolFinished); ok && wanted[f.Call] {
			if most -= len(f.Text); most < 0 {
				break
			}
			out[f.Call] = f.Text
		}
	}
	return out, nil
}
