package agent

import (
	"context"
	"fmt"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

// maxFailed compactions in a row that failed or brought nothing are the last
// that are tried without being asked for.
const maxFailed = 3

// room keeps the window from filling up, the cheapest way first: clear what is
// old, compact, and end the turn rather than send what cannot be answered. It returns
// nil when there is room, and after an interrupt.
func (r *run) room(ctx context.Context, target Target) (*Outcome, error) {
	if c, ok := r.Host.Wanted(); ok {
		if _, err := r.compact(ctx, c); err != nil || ctx.Err() != nil {
			return nil, err
		}
	}
	effective := window.Effective(target.Window, target.Cap)
	if err := r.bound(effective); err != nil {
		return nil, err
	}
	var err error
	st := r.Host.State()
	used := window.Estimate(st)
	if !target.Edits {
		used += st.Gauge().Cleared // another provider was not asked to leave that out
	}
	switch {
	case target.Edits: // its provider does it
	case window.Full(used, effective):
		var calls []string
		calls, r.look = r.look.ToClear(st, effective, r.again)
		used, err = r.clear(calls, used)
	case !st.Answered.IsZero() && r.Now().Sub(st.Answered) > window.ColdAfter:
		used, err = r.clear(window.ToClearCold(st, r.again), used)
	}
	if err != nil || target.Window == 0 {
		return nil, err
	}
	if err := r.warn(st, used, effective); err != nil {
		return nil, err
	}
	if st = r.Host.State(); window.Nearly(used, effective) && compactable(st) {
		if _, err := r.compact(ctx, Compaction{Trigger: event.CauseFull}); err != nil || ctx.Err() != nil {
			return nil, err
		}
		used = window.Estimate(r.Host.State())
	}
	if window.Blocking(used, effective) {
		if used, err = r.clear(window.Drain(r.Host.State(), r.again), used); err != nil {
			return nil, err
		}
	}
	if !window.Blocking(used, effective) {
		return nil, nil
	}
	return &Outcome{Reason: BlockingLimit,
		Text: fmt.Sprintf("the conversation fills the model's window: about %d of %d tokens", used, effective),
		Hint: "give it less at once, start a new session, or use a model with a larger window: --model …"}, nil
}

// bound holds the results of each message to what they may have together: the
// largest are cut, and all of them goes to files.
func (r *run) bound(effective int) error {
	bound := window.MessageBound(effective)
	var cuts []event.Cut
	st, after := r.Host.State(), event.Seq(0)
	if r.held.bound <= bound { // when nothing was looked at, through is 0
		after = r.held.through
	}
	r.held = held{bound, st.Seq}
	for _, l := range window.Over(st, bound, after) {
		how := fmt.Sprintf("the results of one reply may have %s together", clip.Count(bound, "character"))
		path := ""
		if r.Spill != nil {
			path, _ = r.Spill(l.Call, l.Text) // the log has it all the same
		}
		if path != "" {
			how += "; all of it is in " + path + ", to be searched or read in parts"
		} else {
			how += "; ask for a smaller part to see it"
		}
		if text := l.Cut(how); text != l.Text {
			cuts = append(cuts, event.Cut{Call: l.Call, Text: text, Spill: path})
		}
	}
	if len(cuts) == 0 {
		return nil
	}
	return r.Host.Emit(event.Bounded{Results: cuts})
}

// warn says once that compaction is near.
func (r *run) warn(st transcript.State, used, effective int) error {
	if st.Warned || used < window.Warning(effective) || window.Nearly(used, effective) {
		return nil
	}
	return r.Host.Emit(event.Noted{Level: "info", About: event.AboutWindow, Text: fmt.Sprintf(
		"The conversation takes about %s of the %s tokens that the model's window has for it. At %s it is compacted by itself; /compact does it now.",
		clip.Thousands(used), clip.Thousands(effective), clip.Thousands(window.Threshold(effective)))})
}

// compactable reports whether a summary may be asked for without anybody's wish:
// there is something to sum up, and it did not fail too often.
func compactable(st transcript.State) bool { return st.Failed < maxFailed && len(st.Messages()) > 1 }

// clearing is what a provider that clears old results is to do: the same as the
// loop would.
func (r *run) clearing(target Target) *llm.Clearing {
	if !target.Edits || target.Window == 0 {
		return nil
	}
	effective := window.Effective(target.Window, target.Cap)
	c := &llm.Clearing{Trigger: window.FullAt(effective), Keep: window.KeepResults, AtLeast: window.Least(effective)}
	for _, s := range r.tools.Specs() {
		if !r.again(s.Name) {
			c.Except = append(c.Except, s.Name)
		}
	}
	return c
}

// again reports whether what a tool returned can be had again.
func (r *run) again(name string) bool {
	t, ok := r.find(name)
	return ok && t.Spec().Again
}

// clear takes the results of these calls out of the window, and returns what
// is used then.
func (r *run) clear(calls []string, used int) (int, error) {
	if len(calls) == 0 {
		return used, nil
	}
	if err := r.Host.Emit(event.Cleared{Calls: calls}); err != nil {
		return used, err
	}
	return window.Estimate(r.Host.State()), nil
}
