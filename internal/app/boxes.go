package app

import (
	"errors"
	"sync"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

// boxes are the sandboxes of a session: the one that counts now, and those of
// earlier settings, which commands in the background may still run in.
type boxes struct {
	mu  sync.Mutex   // guards the rest
	now *confinement // nil: the settings want none
	all []*confinement
}

func (b *boxes) swap(c *confinement) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now = c; c != nil {
		b.all = append(b.all, c)
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
