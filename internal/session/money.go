package session

import (
	"context"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
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
func (s *Session) bounded(st *state) agent.Budget {
	b := st.budget
	if b.Account == nil {
		b.Account = s.Account
	}
	return b
}

// Buy has a request made to a model that is no reply of the conversation, and records
// what it cost. Where there is a budget of money, one is made after the other, because
// each has to know what those before it cost; one that the budget does not let be made is
// ErrBudget. Any other error means that nothing can be recorded, or that ctx ended.
func (s *Session) Buy(ctx context.Context, request func() event.Spent) error {
	var b agent.Budget
	if err := s.do(func(st *state) { b = s.bounded(st) }); err != nil {
		return err
	}
	if b.USD > 0 {
		select {
		case s.purse <- struct{}{}:
			defer func() { <-s.purse }()
		case <-ctx.Done():
			return ctx.Err()
		}
		if why, _ := b.Over(b.Account()); why != "" {
			return &ErrBudget{why}
		}
	}
	spent := request()
	if spent == (event.Spent{}) {
		return nil
	}
	return s.Report(spent)
}

// Requests are how many of those that agent.Budget.Turns counts the running turn, or the
// last one, has made: replies, and requests of agents that do its skills.
func (s *Session) Requests() (n int) {
	_ = s.do(func(st *state) { n = st.Turn.Spent.Replies + st.Helpers[event.ForSkill].Helped - st.helped })
	return n
}
