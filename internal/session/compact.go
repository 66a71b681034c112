package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/mention"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

// compact notes a wish for a summary. The running turn carries it out before its
// next request; without one, or when it makes none, a turn of its own does.
func (s *Session) compact(st *state, o op.Compact) error {
	if st.rewinding {
		return &op.Refusal{Code: op.Busy, Text: "something is running; interrupt it first"}
	}
	c := agent.Compaction{Trigger: event.CauseAsked, Focus: strings.TrimSpace(o.Focus)}
	if o.From != "" && o.UpTo != "" {
		return &op.Refusal{Code: op.Unsupported, Text: "a compaction is from a message or up to one, not both"}
	}
	if id := o.From + o.UpTo; id != "" {
		p, ok := prompted(st.State, id)
		if !ok {
			return &op.Refusal{Code: op.NoPrompt, Text: fmt.Sprintf("there is no prompt %q in the conversation", id)}
		}
		begins := fmt.Sprintf("the message of the person that begins with %q", clip.Line(p.Text, 100))
		if o.From != "" {
			c.Before, c.Part = p.Seq, "from "+begins+" on"
		} else {
			c.From, c.Part = p.Seq, "what came before "+begins
		}
	}
	if len(st.Messages()) < 2 {
		return &op.Refusal{Code: op.Idle, Text: "there is nothing to compact yet"}
	}
	st.wish = &c
	if st.cancel == nil {
		s.begin(st)
	}
	return nil
}

// prompted finds a prompt that stands in the conversation, by its ID or by its
// number from the newest.
func prompted(st transcript.State, name string) (transcript.Said, bool) {
	n, _ := strconv.Atoi(name)
	for _, p := range slices.Backward(st.Prompts()) {
		if n--; p.ID == name || n == 0 {
			return p, true
		}
	}
	return transcript.Said{}, false
}

// Wanted implements agent.Host.
func (h host) Wanted() (c agent.Compaction, ok bool) {
	_ = h.s.do(func(st *state) { c, ok = st.wished() })
	return c, ok
}

// wished is the compaction that was asked for, once.
func (st *state) wished() (agent.Compaction, bool) {
	if st.wish == nil {
		return agent.Compaction{}, false
	}
	c := *st.wish
	st.wish = nil
	return c, true
}

// compacting begins a turn that only compacts, when nothing else runs and that
// was asked for.
func (s *Session) compacting() (c agent.Compaction, loop *agent.Loop, t agent.Turn, ok bool, err error) {
	derr := s.do(func(st *state) {
		if st.ending {
			return
		}
		if c, ok = st.wished(); ok {
			loop, t = st.loop, agent.Turn{Host: host{s}, Budget: s.bounded(st)}
			t.ID, err = s.started(st)
		}
	})
	return c, loop, t, ok, errors.Join(err, derr)
}

// Look implements agent.Host.
func (h host) Look(ctx context.Context, paths []string) []event.Attached {
	var names []string
	for _, p := range paths {
		names = append(names, mention.Mention{Path: p}.String())
	}
	out, _ := h.s.attached(ctx, strings.Join(names, "\n"), nil) // an error is the session's end
	return out
}

// uncompact takes the newest compaction back. It runs on the goroutine that
// submits: the log is read meanwhile, and prompts wait.
func (s *Session) uncompact(ctx context.Context) error {
	var target agent.Target
	var waiting int // prompts
	var err error
	if werr := s.within(ctx, func(st *state) {
		if st.cancel != nil || st.rewinding || len(st.shells) > 0 {
			err = &op.Refusal{Code: op.Busy, Text: "something is running; interrupt it first"}
			return
		}
		st.rewinding, target, waiting = true, st.target, len(st.Queue)
	}); werr != nil || err != nil {
		return errors.Join(werr, err)
	}
	e, err := s.whole(ctx, target)
	derr := s.do(func(st *state) {
		st.rewinding = false
		if err == nil {
			err = s.record(context.WithoutCancel(ctx), st, e)
		}
		if len(st.Queue) > waiting && !st.ending { // what an earlier process left there waits for a person's word
			s.begin(st)
		}
	})
	return errors.Join(derr, err)
}

// whole is the conversation as it would be without its newest compaction.
func (s *Session) whole(ctx context.Context, target agent.Target) (e event.Compacted, err error) {
	in, err := s.boundaries(ctx)
	if err != nil {
		return e, err
	}
	if len(in.force) == 0 {
		return e, &op.Refusal{Code: op.NoPrompt, Text: "there is no compaction to take back"}
	}
	at := in.force[len(in.force)-1]
	was, err := s.without(ctx, append(in.undone, at))
	if err != nil {
		return e, err
	}
	overhead := window.Overhead(s.system(), s.Tools().Specs())
	e = event.Compacted{Trigger: event.CauseAsked, Undo: at, Messages: was.Messages(), Origin: was.Origin(), Earlier: len(in.force) - 1, Tokens: window.Estimate(s.State())}
	e.Left = overhead + int(float64(was.Gauge().Bytes)/4*window.Ratio(was))
	if effective := window.Effective(target.Window, target.Cap); window.Nearly(e.Left, effective) {
		return e, &op.Refusal{Code: op.TooLarge, Text: fmt.Sprintf("without the compaction the conversation has about %s tokens, and the model's window takes %s before it is compacted again",
			clip.Thousands(e.Left), clip.Thousands(window.Threshold(effective)))}
	}
	return e, nil
}

// system is the instructions of the turns.
func (s *Session) system() (out []string) {
	_ = s.do(func(st *state) { out = st.loop.Instructions() })
	return out
}

// without is what the log comes to without some of its boundaries.
func (s *Session) without(ctx context.Context, boundaries []event.Seq) (was transcript.State, err error) {
	before := map[event.Seq]transcript.State{} // of what a person can go back to
	for e, err := range s.cfg.Log.After(ctx, 0) {
		if err != nil {
			return was, fmt.Errorf("read the session: %w", err)
		}
		switch b := e.Body.(type) {
		case event.InputAccepted:
			before[e.Seq] = was
		case event.Compacted:
			if slices.Contains(boundaries, e.Seq) || b.Undo > 0 && slices.Contains(boundaries, b.Undo) {
				e.Body = event.Noted{} // as if it had not been
			}
		case event.Rewound:
			before[e.Seq] = was
			if then, ok := before[b.To]; ok && b.Messages != nil { // those that it notes have the boundaries
				b.Messages, b.Origin = then.Messages(), then.Origin()
				e.Body = b
			}
		default: // as it is
		}
		was = was.Apply(e)
	}
	return was, nil
}

// A bounds is what became of the boundaries that stand for a summary, in order.
type bounds struct{ force, undone []event.Seq }

// boundaries finds those that are in force, and those that were taken back.
func (s *Session) boundaries(ctx context.Context) (in bounds, err error) {
	var open, undone []event.Seq
	before := map[event.Seq][]event.Seq{}
	for e, err := range s.cfg.Log.After(ctx, 0) {
		if err != nil {
			return in, fmt.Errorf("read the session: %w", err)
		}
		switch b := e.Body.(type) {
		case event.InputAccepted:
			before[e.Seq] = slices.Clone(open)
		case event.Compacted:
			switch {
			case b.Undo > 0:
				open, undone = open[:max(0, len(open)-1)], append(undone, b.Undo)
			case b.From == 0: // a plan in a fresh context: nothing was summed up
				open = nil
			default:
				open = append(open, e.Seq)
			}
		case event.Rewound:
			before[e.Seq] = slices.Clone(open)
			if b.Conversation && b.Messages != nil {
				open = slices.Clone(before[b.To])
			}
			for b.Conversation && len(open) > 0 && open[len(open)-1] > b.To {
				open = open[:len(open)-1]
			}
		default: // no boundary
		}
	}
	undone = slices.DeleteFunc(undone, func(at event.Seq) bool { return slices.Contains(open, at) })
	return bounds{open, undone}, nil
}
