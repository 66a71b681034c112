package print

import (
	"context"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// waiting is the name, among the prompts without an answer, of a command that
// stands in the place of one.
const waiting = "/"

// command carries out an op that was given in the place of a prompt. Its answer
// is what became of it.
func (r *runner) command(ctx context.Context, o op.Op) error {
	r.any, r.asked[waiting] = true, true
	r.did = func(b event.Body) (text string, done bool) {
		switch b := b.(type) {
		case event.Compacted:
			return b.String(), b.Undo > 0 // a turn that compacts ends by itself
		case event.CompactFailed:
			return b.String(), false
		case event.Titled:
			return "The session is now “" + b.Title + "”.", true
		default:
			return "", false
		}
	}
	return r.c.Submit(ctx, o)
}

// became looks for what the command came to.
func (r *runner) became(e event.Event) {
	if r.did == nil || e.Body == nil {
		return
	}
	if text, done := r.did(e.Body); text != "" {
		r.p.said = text
		if done {
			r.did = nil
			r.see(event.Event{Seq: e.Seq, Time: e.Time, Body: event.TurnEnded{How: event.Done, Reason: "completed"}})
		}
	}
}
