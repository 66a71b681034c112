package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

// maxFailed compactions in a row that failed or brought nothing are the last
// that are tried without being asked for, until failedFor went by or another process
// goes on with the session.
const (
	maxFailed = 3
	failedFor = time.Hour
)

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
	used := r.used(st)
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
	if st = r.Host.State(); window.Nearly(used, effective) && r.compactable(st) {
		if _, err := r.compact(ctx, Compaction{Trigger: event.CauseFull}); err != nil || ctx.Err() != nil {
			return nil, err
		}
		used = r.used(r.Host.State())
	}
	if window.Blocking(used, effective) {
		if used, err = r.clear(window.Drain(r.Host.State(), r.again), used); err != nil {
			return nil, err
		}
	}
	if window.Blocking(used, effective) {
		if _, err := r.squeeze(used-restAt(effective), window.Ratio(r.Host.State())); err != nil {
			return nil, err
		}
		used = r.used(r.Host.State())
	}
	if !window.Blocking(used, effective) {
		return nil, nil
	}
	text, again := unsummed(r.Host.State())
	return &Outcome{Reason: BlockingLimit,
		Text: fmt.Sprintf("the conversation fills the model's window: about %d of %d tokens", used, effective) + text,
		Hint: again + "give it less at once, start a new session, or use a model with a larger window: --model …"}, nil
}

// used is about how many tokens the next request has. Where a server does not say what
// its requests had, instructions and tools are estimated as well.
func (r *run) used(st transcript.State) int {
	n := window.Estimate(st)
	if st.Gauge().Tokens == 0 && !st.Answered.IsZero() {
		n += window.Overhead(r.Instructions(), r.specs())
	}
	return n
}

// restAt is how many tokens a conversation is to have that was too long: there is
// room for some steps before it is compacted.
func restAt(effective int) int { return window.Threshold(effective) * 3 / 4 }

// unsummed says why a conversation could not be compacted, and what tries it again;
// nothing when no summary failed.
func unsummed(st transcript.State) (why, hint string) {
	if st.Failed == 0 || st.FailedBy == "" {
		return "", ""
	}
	return ", and it could not be compacted: " + st.FailedBy, "try it again with /compact (in print mode: adze --continue -p /compact), "
}

// squeeze shortens results so that the conversation has so many tokens less, those
// that the model has not seen yet first where they are most of it. ratio is how many
// tokens four bytes are. ok is false when nothing can be shortened.
func (r *run) squeeze(tokens int, ratio float64) (ok bool, err error) {
	st := r.Host.State()
	bytes := int(float64(tokens) * 4 / ratio)
	var list []window.Large
	if window.Lopsided(st) {
		list = window.Squeeze(st, bytes, true)
	}
	if len(list) == 0 {
		list = window.Squeeze(st, bytes, false)
	}
	return r.cutAll(list, func(l window.Large) (how, path string) {
		return fmt.Sprintf("it did not fit the model's window; Read %s%s has all of it, also in parts", transcript.ResultPath, l.Call), ""
	})
}

// squeezed shortens results after a provider refused a request as too long, by what
// it said of it. Each time it is asked to, it shortens them more.
func (r *run) squeezed(failed *llm.Error) (ok bool, err error) {
	target, st := r.Host.Model(), r.Host.State()
	effective := window.Effective(target.Window, target.Cap)
	bytes := st.Gauge().Bytes + 4*window.Overhead(r.Instructions(), r.specs())
	used, limit := max(r.used(st), bytes/4, target.Window), 0
	if failed != nil {
		if n, l := window.Counted(failed.Err.Error(), r.asked); n > 0 {
			used, limit = n, window.Effective(l, target.Cap)
		}
	}
	if limit > 0 && (effective == 0 || limit < effective) {
		effective = limit
	}
	goal := restAt(effective) >> max(0, r.mem.squeezed-1)
	if effective == 0 { // nobody knows how much fits
		goal = used / 2
	}
	return r.squeeze(max(used-goal, used/8), float64(used)*4/float64(max(1, bytes)))
}

// lessOutput lowers the output cap of a request that was refused to what the
// provider's numbers leave for it. It reports whether the request may fit now.
func (r *run) lessOutput(failed *llm.Error, req *llm.Request) bool {
	if failed.Kind != llm.TooLong || failed.Begun {
		return false
	}
	n := window.Fewer(failed.Err.Error(), req.MaxTokens)
	if n > 0 {
		req.MaxTokens, r.asked = n, n
	}
	return n > 0
}

// bound holds the results of each message to what they may have together: the
// largest are cut, and all of them goes to files. What the model has not seen yet
// must fit by the measured ratio of bytes to tokens, too.
func (r *run) bound(effective int) error {
	bound := window.MessageBound(effective)
	st, after := r.Host.State(), event.Seq(0)
	if r.held.bound <= bound { // when nothing was looked at, through is 0
		after = r.held.through
	}
	r.held = held{bound, st.Seq}
	if _, err := r.cutAll(window.Over(st, bound, after), func(l window.Large) (how, path string) {
		how = fmt.Sprintf("the results of one reply may have %s together", clip.Count(bound, "character"))
		if r.Spill != nil {
			path, _ = r.Spill(l.Call, l.Text) // the log has it all the same
		}
		if path == "" {
			return how + "; ask for a smaller part to see it", ""
		}
		return how + "; all of it is in " + path + ", to be searched or read in parts", path
	}); err != nil {
		return err
	}
	st = r.Host.State()
	most := window.FreshBytes(effective, window.Ratio(st))
	if most == 0 {
		return nil
	}
	_, err := r.cutAll(window.FreshOver(st, most), func(l window.Large) (how, path string) {
		return fmt.Sprintf("the results of one reply may fill half of the model's window; Read %s%s has all of it, also in parts", transcript.ResultPath, l.Call), ""
	})
	return err
}

// cutAll shortens results, and records it; how says in the middle of each how the
// rest of it can be had, and which file holds it. ok is false when none got shorter.
func (r *run) cutAll(list []window.Large, how func(window.Large) (how, path string)) (ok bool, err error) {
	var cuts []event.Cut
	for _, l := range list {
		words, path := how(l)
		if text := l.Cut(words); text != l.Text {
			cuts = append(cuts, event.Cut{Call: l.Call, Text: text, Spill: path})
		}
	}
	if len(cuts) == 0 {
		return false, nil
	}
	return true, r.Host.Emit(event.Bounded{Results: cuts})
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
func (r *run) compactable(st transcript.State) bool {
	return (st.Failed < maxFailed || r.Now().Sub(st.FailedAt) > failedFor) && len(st.Messages()) > 1
}

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
	return r.used(r.Host.State()), nil
}
