package app

import (
	"context"
	"errors"
	"sync"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

// boxes are the sandboxes of a session: the one that counts now, the one that
// counts from the next turn, and those of earlier settings, which commands in
// the background may still run in.
type boxes struct {
	note   func(string) // tells a person, nil: nobody
	bypass bool         // the session began in the mode bypassPermissions

	mu      sync.Mutex // guards the rest
	session attended   // nil: there is none yet, and nothing ran
	now     *confinement
	next    *confinement // nil: the settings want none
	all     []*confinement
}

// attended is what sandboxes need of the session that they are for.
type attended interface {
	Permit(ctx context.Context, q agent.Question) (policy.Verdict, error)
	Mode() policy.Mode
}

// attend hands over the session, before it runs anything.
func (b *boxes) attend(s attended) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.session = s
}

func (b *boxes) permit(ctx context.Context, q agent.Question) (policy.Verdict, error) {
	b.mu.Lock()
	s := b.session
	b.mu.Unlock()
	if s == nil {
		return policy.Verdict{Effect: policy.Deny, Reason: "the session has not begun"}, errors.New("the session has not begun")
	}
	return s.Permit(ctx, q)
}

// lenient says that what commands leave is not judged: in the mode that lets
// everything pass, which a session can only be in when it began in it.
func (b *boxes) lenient(string) bool {
	if !b.bypass {
		return false
	}
	b.mu.Lock()
	s := b.session
	b.mu.Unlock()
	if s == nil {
		return true
	}
	now := s.Mode()
	return now == policy.Bypass || now == "" // or the session is over
}

// prepare has c count from the next advance on.
func (b *boxes) prepare(c *confinement) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = c
}

// advance makes the prepared sandbox count.
func (b *boxes) advance() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now == b.next {
		return
	}
	if b.now = b.next; b.now != nil {
		b.all = append(b.all, b.now)
	}
}
func (b *boxes) get() *confinement {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *boxes) wrap(cmd *proc.Command, needs policy.Needs) error {
	if c := b.get(); c != nil {
		return c.wrap(cmd, needs)
	}
	return nil
}

func (b *boxes) active() bool {
	c := b.get()
	return c != nil && c.active()
}

func (b *boxes) passes() bool {
	c := b.get()
	return c != nil && c.passes()
}

func (b *boxes) explain(exit int, output string) string {
	if c := b.get(); c != nil {
		return c.explain(exit, output)
	}
	return ""
}

// found are the things that commands left and nobody was asked about.
func (b *boxes) found() []left {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []left
	for _, c := range b.all {
		out = append(out, c.found()...)
	}
	return out
}

// outside has adze itself write protected paths while commands may run.
func (b *boxes) outside(paths []string, f func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.all {
		if box := c.made.Load(); box != nil {
			inner := f
			f = func() error { return box.Outside(paths, inner) }
		}
	}
	return f()
}

func (b *boxes) stays() bool {
	c := b.get()
	return c != nil && !c.settings.AllowUnsandboxed
}

func (b *boxes) excluded(actions []policy.Action) bool {
	c := b.get()
	return c != nil && c.excluded != nil && c.excluded(actions)
}

func (b *boxes) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var err error
	for _, c := range b.all {
		err = errors.Join(err, c.close())
	}
	return err
}
