package session

import (
	"context"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
)

// A Naming is a prompt, which may name files, and what counts for reading them.
type Naming struct {
	Text      string
	Dir       string // where the session works now
	Window    int    // of the model in tokens, 0 when unknown
	Images    bool   // the model takes them
	ImageEdge int    // the longest edge of an image that it reads in full, 0 for the usual
	Mode      policy.Mode
	// Judge rules on a call, by the rules and the mode as they are now. What is
	// still a question is put to a person when the prompt's turn comes: then Judge
	// does that, and says no more that something is to be asked.
	Judge func(ctx context.Context, q agent.Question) policy.Verdict
}

// Names reads what a text names with "@", as of a prompt.
func (s *Session) Names(ctx context.Context, text string) ([]event.Attached, error) {
	return s.attached(ctx, text, nil)
}

// attachedAtTurn is what a prompt has attached when its turn comes: what rules ask
// about is put to a person, for as long as that takes, and what they have come to
// refuse while it waited is left out. It runs on the turn's goroutine.
func (s *Session) attachedAtTurn(ctx context.Context, q event.InputQueued) (out []event.Attached, err error) {
	if q.Attached, err = s.stillAttached(ctx, q); err != nil {
		return nil, err
	}
	asks := func(a event.Attached) bool { return a.Asks }
	if !slices.ContainsFunc(q.Attached, asks) {
		return q.Attached, nil
	}
	alone := false
	err = s.do(func(st *state) { alone = len(st.people) == 0 })
	if err != nil || alone {
		out = slices.Clone(q.Attached)
		for i := range out {
			out[i].Asks = false
		}
		return out, err
	}
	return s.attached(ctx, q.Text, func(ctx context.Context, q agent.Question) policy.Verdict {
		v, err := s.Permit(ctx, q)
		if err != nil || v.Effect == policy.Ask {
			v.Effect = policy.Deny
		}
		return v
	})
}

// stillAttached is what was read for a prompt, without what the rules do not allow
// any more. Nothing is read again.
func (s *Session) stillAttached(ctx context.Context, q event.InputQueued) ([]event.Attached, error) {
	if !slices.ContainsFunc(q.Attached, func(a event.Attached) bool { return !a.Refused }) {
		return q.Attached, nil
	}
	no := map[string]bool{} // reasons against reading something
	now, err := s.attached(ctx, q.Text, func(_ context.Context, q agent.Question) policy.Verdict {
		v := s.atOnce(q)
		no[v.Reason] = no[v.Reason] || v.Effect != policy.Allow
		if v.Effect == policy.Allow {
			v.Effect, v.Reason = policy.Deny, "it was read when the prompt came"
		}
		return v
	})
	out := slices.Clone(q.Attached)
	for i, a := range out {
		j := slices.IndexFunc(now, func(n event.Attached) bool { return n.Name == a.Name })
		if !a.Refused && j >= 0 && no[now[j].About] {
			out[i] = now[j]
		}
	}
	return out, err
}

// attached reads what a prompt names. judge rules on it in the place of the
// rules alone, when it is set.
func (s *Session) attached(ctx context.Context, text string, judge func(context.Context, agent.Question) policy.Verdict) (out []event.Attached, err error) {
	if s.cfg.Attach == nil || !strings.Contains(text, "@") {
		return nil, nil
	}
	var n Naming
	var applies func(event.Seq, []string) []string
	var boundary event.Seq
	if err := s.within(ctx, func(st *state) {
		t := st.target
		boundary = st.Boundary()
		if st.loop != nil {
			applies = st.loop.Touched
		}
		n = Naming{Text: text, Dir: st.Dir, Window: t.Window, Images: t.Images, ImageEdge: t.ImageEdge, Mode: st.mode}
		if n.Judge = judge; judge == nil {
			n.Judge = func(_ context.Context, q agent.Question) policy.Verdict { return s.atOnce(q) }
		}
	}); err != nil {
		return nil, err
	}
	out = s.cfg.Attach(ctx, n)
	if applies == nil {
		return out, nil
	}
	for i, a := range out {
		var paths []string
		for _, f := range a.Saw {
			paths = append(paths, f.Path)
		}
		for _, text := range applies(boundary, paths) { // what begins to apply with the file
			out[i].Text += "\n" + text
		}
	}
	return out, nil
}

// atOnce is what the rules and the mode say at this moment, without those that a
// command lends the turn.
func (s *Session) atOnce(q agent.Question) policy.Verdict {
	v := policy.Verdict{Effect: policy.Deny, Reason: "the session is over"}
	_ = s.do(func(st *state) {
		v = policy.Decide(st.rules, st.mode, policy.Request{Tool: q.Tool, Actions: q.Plan.Actions})
	})
	return v
}
