package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// writeOwn sets a key of the person's own settings file.
func (d *Desk) writeOwn(ctx context.Context, key string, value any) error {
	raw, err := fastjson.Append(nil, value)
	if err != nil {
		return err
	}
	return d.save(ctx, ask.Save{Key: key, Value: raw})
}

// save sets a key of a settings file.
func (d *Desk) save(ctx context.Context, q ask.Save) error {
	p, _, err := d.Loaded()
	if err != nil {
		return err
	}
	t, ok := p.File(cmp.Or(string(q.Scope), "user"))
	if !ok {
		return fmt.Errorf("there is no settings file of the scope %q", q.Scope)
	}
	return d.Write(ctx, p, t, confedit.Edit{Op: confedit.Set, Key: q.Key, Value: q.Value})
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

// ShownSettings are all settings as people may see them: without the secrets that
// their names tell, and without keys of a known kind.
func ShownSettings(cfg *config.Config) []config.Setting {
	all, hide := cfg.Settings(), secret.New()
	for i := range all {
		all[i].Value = WithoutKeys(all[i].Value, hide)
	}
	return all
}

// WithoutKeys is a value in JSON without keys of a known kind; as a whole, where one
// reaches over several texts of it.
func WithoutKeys(raw json.RawMessage, hide *secret.Redactor) json.RawMessage {
	out := hide.Bytes(raw)
	if !json.Valid(out) {
		return json.RawMessage(`"` + secret.Masked + `"`)
	}
	return out
}

// settings are those in force that say something.
func (s seat) settings() ask.SettingsNow {
	t := s.Target()
	out := ask.SettingsNow{List: []ask.Setting{}, Model: t.ID()}
	if t.Thinking == 0 {
		out.Effort = string(t.Effort)
	}
	for _, x := range ShownSettings(s.Place().Config()) {
		if string(x.Value) != "null" {
			out.List = append(out.List, ask.Setting{Key: x.Key, Value: x.Value, Scope: string(x.Origin.Scope), Origin: x.Origin.String()})
		}
	}
	return out
}
