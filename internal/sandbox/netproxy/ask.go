package netproxy

import (
	"bufio"
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/adze-agent/adze/internal/netaddr"
)

// An Answer settles a question about a host.
type Answer struct {
	Allow bool
	Why   string // of a refusal, for whoever made the connection
	Brief bool   // it holds for the connections that wait now, no longer
}

func (a Answer) refusal() string {
	switch {
	case a.Allow:
		return ""
	case a.Why == "":
		return "it was denied"
	}
	return a.Why
}

// Ask decides about a host that no rule names. It is called once for all
// connections that wait for the same host; its context ends when the last of
// them has gone away, and with the proxy.
type Ask func(ctx context.Context, host string, port int) Answer

// A question is open, or was answered since the last Forget.
type question struct {
	done    chan struct{} // closed with the answer
	answer  Answer        // once done is closed
	waiting int           // connections; guarded by Proxy.mu
	cancel  context.CancelFunc
}

// Forget drops what was answered, so that the next connection asks anew. An
// answer that is meant to last is a rule of whoever was asked.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for host, q := range p.asked {
		select {
		case <-q.done:
			delete(p.asked, host)
		default: // still open
		}
	}
}

// permitted is why a host is refused; "" when the rules, Reads or Ask allow it. reads:
// it is Reads that does.
func (p *Proxy) permitted(c client, host string, port int) (reads bool, why string) {
	switch p.config.Rules.judge(host, port) {
	case allowed:
		return false, ""
	case denied:
		return false, "the settings deny it"
	case unknown:
	}
	a, err := netip.ParseAddr(host)
	inside := err == nil && netaddr.Inside(a) != "" // no answer opens that, only a rule
	switch {
	case !inside && p.config.Reads != nil && p.config.Reads(host, port):
		return true, ""
	case p.config.Ask == nil:
		return false, "no rule allows it"
	case inside:
		return false, "it is " + netaddr.Inside(a)
	}
	return false, p.answer(c, host, port)
}

// answer is what Ask says of a host, or why nobody waits for that any more.
func (p *Proxy) answer(c client, host string, port int) (why string) {
	q := p.question(host, port)
	defer p.unwait(host, q)
	c.whileOpen(p.ctx, func(open context.Context) {
		select {
		case <-q.done:
			why = q.answer.refusal()
		case <-open.Done():
			why = "nobody waits for the answer any more"
		}
	})
	return why
}

// question is the one about this host, which is put if it is not open.
func (p *Proxy) question(host string, port int) *question {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.asked[host]; q != nil {
		q.waiting++
		return q
	}
	ctx, cancel := context.WithCancel(p.ctx)
	q := &question{done: make(chan struct{}), waiting: 1, cancel: cancel}
	p.asked[host] = q
	p.wg.Add(1) // a connection is being served, so Close still waits
	go func() { // ends with the answer, or with ctx
		defer p.wg.Done()
		defer cancel()
		q.answer = p.config.Ask(ctx, host, port)
		p.mu.Lock()
		defer p.mu.Unlock()
		if close(q.done); q.answer.Brief && p.asked[host] == q {
			delete(p.asked, host)
		}
	}()
	return q
}

// unwait takes one connection from a question, and withdraws the question
// with the last.
func (p *Proxy) unwait(host string, q *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q.waiting--; q.waiting > 0 {
		return
	}
	select {
	case <-q.done:
	default:
		q.cancel()
		if p.asked[host] == q {
			delete(p.asked, host)
		}
	}
}

// whileOpen runs f with a context that ends when the client closes its
// connection. Nothing else may read from it meanwhile; what arrives is kept.
func (c client) whileOpen(ctx context.Context, f func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	go func() { // ends with the connection, a full buffer, or the deadline below
		defer close(over)
		for {
			if _, err := c.r.Peek(c.r.Buffered() + 1); errors.Is(err, bufio.ErrBufferFull) {
				return
			} else if err != nil {
				cancel()
				return
			}
		}
	}()
	f(ctx)
	_ = c.SetReadDeadline(time.Now())
	<-over
	_ = c.SetReadDeadline(time.Time{})
}
