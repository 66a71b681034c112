package desk

import (
	"context"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// WriteOwn sets a key of the person's own settings file.
func (d *Desk) WriteOwn(ctx context.Context, key string, value any) error {
	p, _, err := d.Loaded()
	if err != nil {
		return err
	}
	raw, err := fastjson.Append(nil, value)
	if err != nil {
		return err
	}
	t, _ := p.File("user")
	return d.Write(ctx, p, t, confedit.Edit{Op: confedit.Set, Key: key, Value: raw})
}

// Write changes a settings file, and the change counts when it returns.
func (d *Desk) Write(ctx context.Context, p settings.Paths, t confedit.Target, e confedit.Edit) error {
	write := func() error {
		notes, err := settings.Write(ctx, p, t, e)
		for _, n := range notes {
			d.c.Notef("%s", n)
		}
		return err
	}
	if at := d.place.Load(); at != nil {
		return at.Write(t.Path, write)
	}
	return write()
}

// forget removes a permission rule from the settings file that it stands in.
func (d *Desk) forget(ctx context.Context, r ask.Rule) error {
	p, cfg, err := d.Loaded()
	if err != nil {
		return err
	}
	t, ok := p.File(string(r.Scope))
	if !ok {
		return fmt.Errorf("the rule %s comes from %s, which is no settings file of yours", r.Text, r.Source)
	}
	list := map[policy.Effect][]config.Rule{policy.Allow: cfg.Permissions.Allow, policy.Ask: cfg.Permissions.Ask, policy.Deny: cfg.Permissions.Deny}[r.Effect]
	i := slices.IndexFunc(list, func(x config.Rule) bool { return x.Origin.String() == r.Source })
	switch {
	case i < 0:
		return fmt.Errorf("the rule %s does not stand at %s any more", r.Text, r.Source)
	case list[i].Origin.File != t.Path:
		return fmt.Errorf("the rule %s stands in %s, which adze reads and does not write: take it out there", r.Text, list[i].Origin.File)
	}
	raw, err := fastjson.Append(nil, list[i].Text) // as it is written
	if err != nil {
		return err
	}
	return d.Write(ctx, p, t, confedit.Edit{Op: confedit.Drop, Key: "permissions." + r.Effect.String(), Value: raw})
}
