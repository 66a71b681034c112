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
		if c, ok := e.Body.(event.Compacted); ok && r.Format == Stream {
			r.compacted(e, c)
		}
		if done {
			r.did = nil
			r.see(event.Event{Seq: e.Seq, Time: e.Time, Body: event.TurnEnded{How: event.Done, Reason: "completed"}})
		}
	}
}

// compacted tells hosts of a compaction that was asked for as they know it: the summary,
// and what the command printed. The answer is empty then.
func (r *runner) compacted(e event.Event, c event.Compacted) {
	line := func(text string) messageLine {
		return messageLine{
			Type: "user", UUID: r.About.NewID(), SessionID: r.About.SessionID, Message: userMessage{Role: "user", Content: text},
			Timestamp: e.Time.UTC().Format("2006-01-02T15:04:05.000Z"),
		}
	}
	if c.Undo == 0 {
		summary := line(c.Text)
		summary.Synthetic = true
		r.write(summary)
	}
	printed := line("<local-command-stdout>" + c.String() + "</local-command-stdout>")
	printed.Replay = true
	r.write(printed)
	r.p.said = ""
}
