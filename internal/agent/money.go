package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/usage"
	"github.com/adze-agent/adze/internal/window"
)

// A Budget bounds a turn; zero values do not.
type Budget struct {
	Turns int // requests, those of agents that do skills included
	// Made is how many of these were made before the turn; nil: none that counts.
	Made     func() int
	USD      float64
	Unpriced bool // a model without a known price counts as free
	Tokens   int  // to use up, with nudges
	// Account is what counts against USD by now; nil is all that the session has cost.
	Account func() Account
	// Purse is what requests that are on their way may add to Account; nil: nothing is set
	// aside.
	Purse *Purse
	// Bill has whoever keeps Account record a request of something that works for it. It
	// returns when Account has it.
	Bill func(event.Spent) error
	// Outer bounds the money of the session that this one works for, what this one costs
	// included. Its Account is set. nil: this session works for a person.
	Outer *Budget
}

// An Account is what counts against a budget of money.
type Account struct {
	USD      float64
	Unpriced string // a model without a known price that was asked, "" for none
}

// Over says why no request may be made any more, and what helps; "" while one may.
func (b Budget) Over(a Account) (why, hint string) {
	if b.Outer != nil && b.Outer.Account != nil {
		if why, hint = b.Outer.Over(b.Outer.Account()); why != "" {
			return why, hint
		}
	}
	switch {
	case b.USD > 0 && a.Unpriced != "" && !b.Unpriced:
		return fmt.Sprintf("the price of %s is not known, so the budget of $%.2f cannot be kept", a.Unpriced, b.USD),
			"give its price under \"models\" in the settings, or run: adze config set cost.unknown_price_ok true"
	case b.USD > 0 && a.USD >= b.USD:
		return fmt.Sprintf("spent $%.4f of the budget of $%.2f", a.USD, b.USD), overHint
	}
	return "", ""
}

const overHint = "raise --max-budget-usd, or go on with: adze --continue -p \"…\""

// A Purse is the money that is set aside in one account for requests that are on their way.
// Its zero value is empty.
type Purse struct {
	mu    sync.Mutex // guards the rest
	held  float64    // USD
	open  int        // requests that have not ended
	freed chan struct{}
}

// change adds to what is set aside, and to the requests on their way.
func (p *Purse) change(usd float64, open int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held, p.open = p.held+usd, p.open+open
	if p.freed != nil && (usd < 0 || open < 0) {
		close(p.freed)
		p.freed = nil
	}
}

// wait is closed when something comes free. It needs p.mu.
func (p *Purse) wait() <-chan struct{} {
	if p.freed == nil {
		p.freed = make(chan struct{})
	}
	return p.freed
}

// A Hold is money that is set aside for one request, in each account that it counts
// against. A nil Hold is none.
type Hold struct {
	USD    float64
	purses []*Purse
	ended  bool
}

// Settle takes over what the request has cost, once it has ended. It stays set aside until
// Release, because no account has it yet.
func (h *Hold) Settle(usd float64) {
	if h == nil || h.ended {
		return
	}
	for _, p := range h.purses {
		p.change(usd-h.USD, -1)
	}
	h.USD, h.ended = usd, true
}

// Release gives up what is set aside: the accounts have what the request cost.
func (h *Hold) Release() {
	if h == nil {
		return
	}
	h.Settle(0)
	for _, p := range h.purses {
		p.change(-h.USD, 0)
	}
	h.purses = nil
}

// A Need is what is to be set aside for a request, in USD: as much as Most. While other
// requests are on their way, it is an eighth of what is left, but as much as Fair. Where
// that is not left, it waits for them. Alone it takes what is left, if that is Least.
type Need struct{ Least, Fair, Most float64 }

// Hold sets aside what a request needs, in this account and in every outer one. why says
// what is in the way, and hint what helps. The Hold is nil then, and when ctx has ended.
func (b Budget) Hold(ctx context.Context, n Need) (h *Hold, why, hint string) {
	for {
		h, wait, why, hint := b.hold(n)
		if wait == nil {
			return h, why, hint
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, "", ""
		}
	}
}

// hold is one try of Hold. wait is closed when another one makes sense.
func (b Budget) hold(n Need) (h *Hold, wait <-chan struct{}, why, hint string) {
	h = &Hold{USD: n.Most}
	for at := &b; at != nil; at = at.Outer { // all take the locks from the inside out
		open := 0
		if p := at.Purse; p != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			h.purses, open = append(h.purses, p), p.open
		}
		left, bounded := at.left()
		switch {
		case !bounded:
		case open == 0 && left < n.Least:
			return nil, nil, fmt.Sprintf("the next request may cost $%.4f, and $%.4f are left of the budget of $%.2f", n.Least, max(0, left), at.USD), overHint
		case open == 0:
			h.USD = min(h.USD, left)
		case left < n.Fair:
			wait = at.Purse.wait()
		default:
			h.USD = min(h.USD, max(n.Fair, left/8))
		}
	}
	if wait != nil {
		return nil, wait, "", ""
	}
	for _, p := range h.purses {
		p.held, p.open = p.held+h.USD, p.open+1
	}
	return h, nil, "", ""
}

// left is what nobody has spent or set aside. It needs the lock of the purse.
func (b Budget) left() (usd float64, bounded bool) {
	if b.USD <= 0 || b.Account == nil {
		return 0, false
	}
	usd = b.USD - b.Account().USD
	if b.Purse != nil {
		usd -= b.Purse.held
	}
	return usd, true
}

// Pass tells the outer accounts of a request that this one has recorded.
func (b Budget) Pass(q usage.Request) (err error) {
	for at := b.Outer; at != nil; at = at.Outer {
		if at.Bill != nil {
			err = errors.Join(err, at.Bill(event.Spent{For: q.For, Model: q.Model, Usage: q.Usage, Cost: q.Cost, Priced: q.Priced}))
		}
	}
	return err
}

// Bounds of what is set aside for a request.
const (
	// leastReply tokens must be affordable, or no request is made.
	leastReply = 2048
	// likelyReply tokens are enough for a reply while others are on their way, and stand for
	// the largest one of a model that has no known one.
	likelyReply = 8192
	// cacheWarm: so long after a reply, a provider still has the conversation in its cache.
	cacheWarm = 5 * time.Minute
)

// An agent for which nothing better is known makes so many requests, its window grows to so
// many tokens, and its replies have so many.
const (
	usualRequests = 10
	usualWindow   = 25_000
	usualReply    = 600
)

// Usual is what an agent costs for which nothing better is known than its model, in USD.
// begins are the tokens that its first request has from the cache.
func (t Target) Usual(begins int) (usd float64, known bool) {
	if t.Cost == nil {
		return 0, false
	}
	return t.Cost(llm.Usage{CacheWrite: usualWindow, CacheRead: usualRequests * (begins + usualWindow/2), Out: usualRequests * usualReply})
}

// setAside sets aside what the next request may cost, and returns how the turn ends when
// that is too much. A request that can be paid with a shorter reply is to have one.
func (r *run) setAside(ctx context.Context, target Target) *Outcome {
	r.hold.Release()
	r.hold, r.afford = nil, 0
	if target.Cost == nil || !r.Budget.bounds() {
		return nil
	}
	st := r.Host.State()
	n := r.used(st)
	u := r.expected(target, st, n)
	input, known := target.Cost(u)
	if !known { // usedUp has said what that means
		return nil
	}
	reply := window.Reply(max(target.Cap, r.cap), target.Window, n)
	if reply <= 0 {
		reply = likelyReply
	}
	u.Out = reply
	most, _ := target.Cost(u)
	token := (most - input) / float64(reply)
	with := func(tokens int) float64 { return input + token*float64(min(reply, tokens)) }
	h, why, hint := r.Budget.Hold(ctx, Need{Least: with(leastReply), Fair: with(likelyReply), Most: most})
	switch {
	case h == nil && ctx.Err() != nil:
		return &Outcome{Reason: InterruptedStreaming}
	case h == nil:
		return &Outcome{Reason: MaxBudget, Text: why, Hint: hint}
	}
	if r.hold = h; h.USD < most && token > 0 {
		r.afford = int((h.USD - input) / token)
	}
	return nil
}

// bounds reports whether anything bounds money.
func (b Budget) bounds() bool { return b.USD > 0 || b.Outer != nil && b.Outer.bounds() }

// expected is what the next request of n tokens is likely to use, without its reply.
func (r *run) expected(target Target, st transcript.State, n int) (u llm.Usage) {
	known := st.Gauge().Tokens
	if known == 0 && st.Answered.IsZero() { // r.used has them in any other case
		n += window.Overhead(r.Instructions(), r.specs())
	}
	n += n / 32 // it is an estimate
	if len(st.Cache.Since) == 0 && st.Cache.Any && !st.Answered.IsZero() && r.Now().Sub(st.Answered) < cacheWarm {
		u.CacheRead = min(known, n)
	}
	if st.Cache.Any {
		u.CacheWrite = n - u.CacheRead
	} else {
		u.In = n - u.CacheRead
	}
	if st.Total.Usage.CacheWriteLong > 0 {
		u.CacheWriteLong = u.CacheWrite
	}
	return u
}

// bill records an event of a request, tells the outer accounts what it cost, and gives up
// what was set aside for it.
func (r *run) bill(e event.Body, h *Hold) error {
	err := r.Host.Emit(e)
	if q, ok := event.Request(e); ok && err == nil {
		err = r.Budget.Pass(q)
	}
	h.Release()
	return err
}
