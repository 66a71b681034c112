package app

import (
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/text/clip"
)

// verifies has an agent check what was done, where the setting wants that and a turn that comes
// to its end says that something is done. The agent works in the background, and its report
// wakes the session. It is called by the goroutine of the turn.
func (r *Running) verifies(ctx context.Context) {
	if !r.place.Config().Agents.Verify || r.spec.Child != nil {
		return
	}
	st := r.State()
	for e, err := range r.Past(ctx, r.done.Seq, st.Seq) {
		if err != nil {
			return // the turn's end, which cannot be recorded either, says so
		}
		r.done.Add(e)
	}
	if !r.done.Due(st) {
		return
	}
	why, ok := r.plan(r.place.Config()).Starts(fleet.Verifier)
	switch known := func(a ext.Agent) bool { return a.Name == fleet.Verifier }; {
	case !slices.ContainsFunc(r.startable(), known):
		why = "a rule denies the agent verify"
	case ok:
		m, err := r.tree.Start(ctx, fleet.Order{Of: r.ID, Type: fleet.Verifier}, "checks what was done", r.done.Prompt(), false)
		if err == nil {
			_ = r.Note(fleet.Verified)
			_ = r.Report(event.Noted{Level: "info", Text: "the agent " + m.Label() + " checks what was done (agents.verify)"}) // a session that cannot record says so itself
			return
		}
		why = err.Error()
	}
	_ = r.Report(event.Noted{Level: "warning", Text: "what was done is not checked (agents.verify): " + clip.Line(clip.Clean(why), 300)})
}
