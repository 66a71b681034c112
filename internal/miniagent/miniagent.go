package miniagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
)

// A Spec is what a helper is to be.
type Spec struct {
	For    string // what its requests are counted for: event.ForNotes
	Target agent.Target
	System []string
	Tools  tool.Set
	// DeferAbove is as in session.Config. nil takes the tools as they are, which is
	// right behind the History of another session.
	DeferAbove func(window int) int
	// History is a conversation that the prompt stands behind: another session's
	// messages, whose bytes a provider has in its cache. nil begins anew.
	History  []llm.Message
	CacheKey string // as in agent.Loop: that of the session whose History it is
	Prompt   string
	// Rules and Mode are the permissions; what they would ask about is refused,
	// unless Hooks answer it. Mode "" is dontAsk.
	Rules  policy.Rules
	Mode   policy.Mode
	Hooks  session.Hooks
	Still  func(q agent.Question, v agent.Verdict) (agent.Verdict, error) // as in session.Config
	Budget agent.Budget
	Env    tool.Env
	// Aliases, Redirects and Record are as in agent.Loop.
	Aliases, Redirects map[string]string
	Record             func(ctx context.Context, actions []policy.Action) (end func(context.Context) effect.Changed, note string)
	Mask               func([]policy.Action, tool.Result) tool.Result // as in agent.Loop
	// Began is given the session before its prompt; nil: nobody needs it.
	Began func(*session.Session)
	// Spent records what a request cost, for the account of Budget, as soon as that is
	// known. An error ends the helper.
	Spent func(event.Spent) error
}

// A Result is what a helper came to.
type Result struct {
	Text    string   // its last words
	Changed []string // files that it wrote, resolved
	// Disk is what its calls changed, as far as they were recorded.
	Disk effect.Changed
}

// Run drives a helper to its end. The error says why it did not come to one of
// its own: ctx ended, the model or the budget did. What it changed until then is
// in the result all the same.
func Run(ctx context.Context, s Spec) (out Result, err error) {
	log, err := s.log(ctx)
	if err != nil {
		return out, err
	}
	var untold error // why a request could not be recorded; it ended the turn
	ses, err := session.Start(ctx, session.Config{
		Record: session.Record{Log: log, Begin: s.begin(), Again: event.Resumed{Dir: s.Env.Dir}},
		Turns: session.Turns{Loop: &agent.Loop{
			System: s.System, Env: s.Env, Mask: s.Mask, CacheKey: s.CacheKey, Aliases: s.Aliases, Redirects: s.Redirects, Record: s.Record,
			Now: time.Now, Sleep: agent.Sleep, Jitter: func() float64 { return 2*rand.Float64() - 1 },
		}, Budget: s.budget(&untold), Target: s.Target},
		Hands:       session.Hands{Tools: s.Tools, DeferAbove: s.DeferAbove},
		Permissions: session.Permissions{Rules: s.Rules, Mode: cmp.Or(s.Mode, policy.DontAsk), Still: s.Still},
		Hooks:       s.Hooks,
		Now:         time.Now,
	})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, ses.Close()) }()
	if s.Began != nil {
		s.Began(ses)
	}
	events := ses.Follow(ctx, ses.State().Seq, event.Durable)
	if err := ses.Submit(ctx, op.Prompt{Text: s.Prompt}); err != nil {
		return out, err
	}
	for e, err := range events {
		if err != nil {
			return out, err
		}
		switch done, err := s.see(e.Body, &out); {
		case err != nil && ctx.Err() != nil: // its turn was interrupted for that
			return out, context.Cause(ctx)
		case done || err != nil:
			return out, errors.Join(untold, err)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return out, err
	}
	return out, session.ErrClosed
}

// see takes one event of the helper's session. The end of its turn is done.
func (s Spec) see(b event.Body, out *Result) (done bool, err error) {
	switch b := b.(type) {
	case event.Replied:
		for _, p := range b.Message.Parts {
			if t, ok := p.(llm.Text); ok {
				out.Text = t.S
			}
		}
	case event.ToolFinished:
		if c, ok := effect.Of[effect.Changed](b.Effects); ok {
			out.Disk = out.Disk.Then(c)
			for _, f := range c.Files {
				out.Changed = append(out.Changed, f.Path)
			}
		}
	case event.TurnEnded:
		if b.How != event.Done {
			return true, fmt.Errorf("%s: %s", b.Reason, b.Err)
		}
		return true, nil
	default: // nothing to take
	}
	return false, nil
}

// budget bounds the helper's turn. Its requests count in the account of the budget that it
// shares, and what they may cost is set aside there.
func (s Spec) budget(untold *error) agent.Budget {
	outer := s.Budget
	outer.Bill = func(e event.Spent) (err error) {
		if e.For = s.For; s.Spent != nil {
			err = s.Spent(e)
		}
		*untold = err
		return err
	}
	return agent.Budget{Turns: s.Budget.Turns, Tokens: s.Budget.Tokens, USD: s.Budget.USD, Unpriced: s.Budget.Unpriced, Account: s.Budget.Account, Outer: &outer}
}

func (s Spec) begin() event.SessionStarted {
	return event.SessionStarted{Schema: event.Schema, Dir: s.Env.Dir, Root: s.Env.Dir}
}

// log is one in memory, which has the history as a conversation that was taken
// over whole.
func (s Spec) log(ctx context.Context) (*mem.Log, error) {
	log := &mem.Log{}
	if len(s.History) == 0 {
		return log, nil
	}
	for i, b := range []event.Body{s.begin(), event.Compacted{Undo: 1, Messages: s.History}} {
		if err := log.Append(ctx, event.Event{Seq: event.Seq(i + 1), Time: time.Now(), Body: b}); err != nil {
			return nil, err
		}
	}
	return log, nil
}
