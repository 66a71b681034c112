package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/toolsearch"
	"github.com/adze-agent/adze/internal/transcript"
)

// host is the session as its turn sees it. It runs on the turn's goroutines.
type host struct{ s *Session }

// Emit implements agent.Host.
func (h host) Emit(b event.Body) error {
	if _, live := b.(event.Live); live {
		h.s.fan.send(event.Event{Time: h.s.cfg.Now(), Body: b})
		return nil
	}
	var lent []lending
	if f, ok := b.(event.ToolFinished); ok {
		if k, used := effect.Of[effect.Skill](f.Effects); used {
			lent = append(lent, h.s.lends(context.Background(), k))
		}
	}
	var res error
	err := h.s.do(func(st *state) {
		b = h.s.listed(st, b)
		if res = h.s.record(context.Background(), st, b); res == nil {
			st.lent = append(st.lent, lent...)
		}
		m, changed := b.(event.ModeChanged)
		if changed && res == nil {
			st.mode = m.Mode
		}
		if (changed || len(lent) > 0) && res == nil {
			res = h.s.sayAside(context.Background(), st)
		}
	})
	return errors.Join(err, res)
}

// State implements agent.Host.
func (h host) State() transcript.State { return h.s.State() }

// Model implements agent.Host.
func (h host) Model() agent.Target { return h.s.Target() }

// Tools implements agent.Host.
func (h host) Tools() (set tool.Set, err error) {
	derr := h.s.do(func(st *state) { set, err = h.s.offer(st) })
	return set, errors.Join(derr, err)
}

// offer makes the tools that are wanted those of the next request.
func (s *Session) offer(st *state) (tool.Set, error) {
	now, e := s.next(st)
	if len(e.Added)+len(e.Removed) > 0 || e.Text != "" {
		if err := s.record(context.Background(), st, e); err != nil {
			return st.tools, err
		}
	}
	st.tools, st.wanted, st.offered = now, nil, true
	return st.tools, nil
}

// next are the tools of the next request, and what differs from those of the one
// before. A session that defers none takes a set as it comes: a helper's is as
// the model of another session was told of it.
func (s *Session) next(st *state) (now tool.Set, e event.ToolsChanged) {
	now = st.tools
	limit, defers := s.DeferAbove(st.target.Window), s.defers()
	if !st.offered && st.wanted != nil { // nobody has read another list in this run
		now = *st.wanted
	}
	switch {
	case !st.offered && defers && len(st.Listed) > 0: // but in an earlier one
		known := st.Told()
		for _, l := range st.Loaded {
			known = append(known, l.Name)
		}
		if slices.ContainsFunc(st.Listed, func(l llm.Spec) bool { return l.Loads }) {
			known = append(known, now.Defer(limit, false).Seldom()...)
		}
		// Servers may still be on their way, so nobody is told that something is gone.
		now, e.Added, _ = tool.Earlier(st.Listed, known, st.Gone).Then(now, limit)
	case !st.offered && defers:
		now = now.Defer(limit, s.cfg.MoreTools || len(st.Loaded) > 0 || len(st.Told()) > 0)
	case !st.offered:
	case st.wanted != nil:
		now, e.Added, e.Removed = now.Then(*st.wanted, limit)
	}
	if defers {
		now = now.Loaded(st.Loaded)
		news := toolsearch.News(now, st.Told(), st.Reworded(), e.Removed)
		e.Named, e.Reworded, e.Text = news.Named, news.Reworded, news.Text
	}
	return now, e
}

// listed adds to a reply what its request listed, when that is news. A later run
// goes on from it.
func (s *Session) listed(st *state, b event.Body) event.Body {
	if r, ok := b.(event.Replied); ok && s.defers() {
		if told := st.tools.Told(); !slices.EqualFunc(told, st.Listed, llm.Spec.Equal) {
			r.Tools = told
			return r
		}
	}
	return b
}

// defers: the model may be told of tools by name, and to load them.
func (s *Session) defers() bool { return s.cfg.MoreTools || s.cfg.DeferAbove != nil }

// Switch implements agent.Host.
func (h host) Switch(to agent.Target, why event.Cause) error {
	var res error
	err := h.s.do(func(st *state) {
		if res = h.s.record(context.Background(), st, event.ModelChanged{Model: to.ID(), Wish: to.Wish, Cause: why}); res == nil {
			st.target = to
			st.lent = slices.Clone(st.lent)
			for i := range st.lent { // whom a skill had answer has failed
				st.lent[i].target = nil
			}
		}
	})
	return errors.Join(err, res)
}

// Proceed implements agent.Host.
func (h host) Proceed(ctx context.Context) error {
	var wait chan op.Answer
	var call string
	var res error
	err := h.s.do(func(st *state) {
		text := st.dear
		st.dear = ""
		if text == "" || len(st.people) == 0 || ctx.Err() != nil {
			return
		}
		st.names++
		call, wait = fmt.Sprintf("x%d.%d", st.Seq+1, st.names), make(chan op.Answer, 1)
		st.asks[call] = wait
		res = h.s.record(ctx, st, event.Asked{Call: call, Title: text, Verdict: policy.Verdict{Effect: policy.Ask, Reason: text}, About: event.AboutCost})
	})
	if err := errors.Join(err, res); err != nil || wait == nil {
		return err
	}
	select {
	case a := <-wait:
		if a.Allow {
			return nil
		}
		return h.s.do(func(st *state) {
			if st.cancel != nil {
				st.cancel()
			}
		})
	case <-ctx.Done():
		return h.s.do(func(st *state) { delete(st.asks, call) })
	}
}

// Leave implements agent.Host.
func (h host) Leave(done <-chan struct{}) {
	_ = h.s.do(func(st *state) { st.left = append(st.left, done) })
}

// Note implements agent.Host.
func (h host) Note(text string) {
	_ = h.s.do(func(st *state) { st.notes = append(st.notes, text) })
}

// Hooked implements agent.Host.
func (h host) Hooked(e hook.Event) bool { return h.s.cfg.Hooks != nil && h.s.cfg.Hooks.Hooked(e) }

// Hook implements agent.Host. It is called of events that are Hooked.
func (h host) Hook(ctx context.Context, in hook.Input, actions []policy.Action) hook.Answer {
	return h.s.cfg.Hooks.Hook(ctx, in, actions)
}
