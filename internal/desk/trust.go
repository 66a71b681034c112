package desk

import (
	"context"
	"errors"
	"fmt"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/trust"
)

// claims are what this folder brings and nobody has decided about, nil for nothing.
func (d *Desk) claims(ctx context.Context) (*ask.Claims, error) {
	p, _, err := d.Loaded()
	if err != nil || d.c.Sources.Trusted || d.c.Sources.Bare {
		return nil, err
	}
	v, err := p.Trust().Check(p.TrustFolder())
	if err != nil || v.State == trust.Trusted {
		return nil, err
	}
	c := &ask.Claims{Folder: paths.Tilde(p.Root, p.Home), Sum: v.Sum()}
	switch {
	case v.State == trust.Nothing: // it matters where something of the person's waits for it
		if p.Trust().Declined(v) {
			return nil, nil
		}
		live, err := settings.Open(d.quiet().Environment, d.c.Sources)
		if err != nil {
			return nil, nil //nolint:nilerr // the session's own reading tells it
		}
		defer live.Close()
		x := d.c.Extensions
		if c.Waiting = live.ForTrust(settings.Servers{Given: x.Servers, Strict: x.Strict}); len(c.Waiting) == 0 {
			return nil, nil
		}
	case len(v.Files) == 0 && len(v.Refused) == 0: // all of it is gone, and nothing can be asked about
		return nil, p.Trust().Grant(ctx, v)
	case p.Trust().Declined(v):
		return nil, nil
	}
	d.claimed.Store(&v)
	if len(v.Refused) > 0 {
		c.Refused = v.Refused[0]
	}
	if v.State == trust.Changed {
		c.Changed = p.Trust().Diff(v)
	}
	for _, x := range v.Claims() {
		c.List = append(c.List, fmt.Sprintf("%s: %s: %s", x.File, x.What, x.Text))
	}
	return c, nil
}

// decide keeps a decision about what the newest claims told. What is on disk by now
// need not be the same: only what a person saw is trusted.
func (d *Desk) decide(ctx context.Context, q ask.Decide) error {
	p, _, err := d.Loaded()
	if err != nil {
		return err
	}
	v := d.claimed.Load()
	switch {
	case v == nil || v.Sum() != q.Sum:
		return hint.With(errors.New("what the folder brings is not what you were shown"), "adze trust shows it as it is now")
	case q.Trust:
		return p.Trust().Grant(ctx, *v)
	}
	if now, err := p.Trust().Check(p.TrustFolder()); err == nil && now.State == trust.Trusted {
		return hint.With(errors.New("somebody trusted the folder meanwhile, and what it brings counts"), "adze trust --revoke . takes that back")
	}
	return p.Trust().Decline(ctx, *v)
}
