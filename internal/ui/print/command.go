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
	if g, ok := o.(op.Goal); ok && (g.Do == "" || g.Do == op.ResumeGoal) {
		return r.c.Submit(ctx, o) // what it comes to, pursued says
	}
	r.did = func(b event.Body) (text string, done bool) {
		switch b := b.(type) {
		case event.Compacted:
			return b.String(), b.Undo > 0 // a turn that compacts ends by itself
		case event.CompactFailed:
			return b.String(), false
		case event.GoalChanged:
			return b.String(), true
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

// pursued takes note of how the goal is. Where it is over, that is the end of the run, and
// the newest answer is the answer.
func (r *runner) pursued(e event.Event, b event.GoalChanged) {
	was := r.goal && (r.turned || r.asked[waiting])
	r.goal = b.Status == event.GoalActive
	if r.goal || !was || b.By == event.GoalByTurn { // how the turn ended was told
		return
	}
	end := event.TurnEnded{How: event.Done, Reason: "completed"}
	switch b.Status {
	case event.GoalBlocked:
		end = event.TurnEnded{How: event.Failed, Reason: "goal_blocked", Err: b.String()}
	case event.GoalBudget:
		end = event.TurnEnded{How: event.Stopped, Reason: "goal_budget", Err: b.String()}
	case event.GoalPaused:
		end = event.TurnEnded{How: event.Interrupted, Reason: "goal_paused", Err: b.String()}
	case event.GoalActive, event.GoalComplete, event.GoalCleared:
	}
	if r.did == nil { // else became says it
		r.see(event.Event{Seq: e.Seq, Time: e.Time, Body: end})
	}
}
