package session

import (
	"context"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// ErrBudget is why a request was not made.
type ErrBudget struct{ Why string }

func (e *ErrBudget) Error() string { return e.Why }

// Account is what counts against the budget of money: what the session has cost since
// this process began it or took it up, with all that works for it.
func (s *Session) Account() (a agent.Account) {
	_ = s.do(func(st *state) { a = s.account(st) })
	return a
}

func (s *Session) account(st *state) agent.Account {
	return agent.Account{USD: st.Total.Cost - s.before, Unpriced: st.Turn.Unpriced}
}

// bounded is the budget of a turn.
func (s *Session) bounded(st *state) agent.Budget { return s.Bounded(st.budget) }

// Bounded is a budget that is kept with what this session costs, and with what is set aside
// in it.
func (s *Session) Bounded(b agent.Budget) agent.Budget {
	if b.Account == nil {
		b.Account = s.Account
	}
	if b.Purse == nil {
		b.Purse = &s.purse
	}
	return b
}

// A request that Buy makes is taken for one of so many tokens, at the price of the
// session's model. Those that are made are shorter, and to smaller models.
const (
	boughtPrompt = 12_000
	boughtReply  = 1_000
)

// Buy has a request made to a model that is no reply of the conversation, and records
// what it cost. One that the budget does not let be made is ErrBudget. Any other error means
// that nothing can be recorded, or that ctx ended.
func (s *Session) Buy(ctx context.Context, request func() event.Spent) error {
	var b agent.Budget
	usd := 0.0
	if err := s.do(func(st *state) {
		b = s.bounded(st)
		if cost := st.target.Cost; cost != nil {
			usd, _ = cost(llm.Usage{In: boughtPrompt, Out: boughtReply})
		}
	}); err != nil {
		return err
	}
	if why, _ := b.Over(b.Account()); why != "" {
		return &ErrBudget{why}
	}
	hold, why, _ := b.Hold(ctx, agent.Need{Least: usd, Fair: usd, Most: usd})
	defer hold.Release()
	switch {
	case why != "":
		return &ErrBudget{why}
	case hold == nil:
		return ctx.Err()
	}
	spent := request()
	if spent == (event.Spent{}) {
		return nil
	}
	err := s.Report(spent)
	if q, ok := event.Request(spent); ok && err == nil {
		err = b.Pass(q)
	}
	return err
}

// Tokens are those that the newest turn with a prompt may write, 0 for any number, and how many
// it has written.
func (s *Session) Tokens() (most, written int) {
	_ = s.do(func(st *state) { most, written = st.tokens, st.Turn.Spent.Usage.Out }) // a session that is over wrote none
	return most, written
}

// Made are how many requests the session has made that agent.Budget.Turns counts, in all turns.
func (s *Session) Made() (n int) {
	_ = s.do(func(st *state) { n = st.Total.Replies + st.Helpers[event.ForSkill].Helped })
	return n
}

// Requests are how many of those that agent.Budget.Turns counts the running turn, or the
// last one, has made: replies, and requests of agents that do its skills.
func (s *Session) Requests() (n int) {
	_ = s.do(func(st *state) { n = st.Turn.Spent.Replies + st.Helpers[event.ForSkill].Helped - st.helped })
	return n
}
