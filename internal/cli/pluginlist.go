package cli

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/trust"
)

// A pluginRow is a plugin in a list.
type pluginRow struct {
	ID      string `json:"id"`
	Version string `json:"version,omitempty"`
	Enabled bool   `json:"enabled"`
	From    string `json:"from,omitempty"` // the setting that says so
	Active  bool   `json:"active"`
	Why     string `json:"why,omitempty"` // it is not active
	Hint    string `json:"hint,omitempty"`
	Source  string `json:"source,omitempty"`
	Pin     string `json:"pin,omitempty"`
	Path    string `json:"path,omitempty"`
	About   string `json:"about,omitempty"`
}

func pluginList(sys System, f *runFlags) *cobra.Command {
	available := false
	c := answering(sys, &cobra.Command{
		Use: "list", Short: "List installed plugins, and those that settings want", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		s, err := f.shop(sys, cmd)
		if err != nil {
			return nil, err
		}
		if live, err := settings.Open(s.bare.quiet().Environment, s.bare.Sources); err == nil {
			tellUntrusted(sys, live, trust.Settings)
			live.Close()
		}
		rows, none := s.rows, "no plugins; adze plugin marketplace add OWNER/REPO, then adze plugin list --available"
		if available {
			rows, none = s.available, "no marketplace offers a plugin; adze plugin marketplace list"
		}
		list, err := rows()
		return listing[pluginRow]{rows: list, none: none, row: func(t *table, r pluginRow) {
			state := "active"
			switch {
			case available:
				state = r.About
			case r.Why != "":
				state = "not active: " + r.Why
			case !r.Enabled:
				state = "disabled"
			}
			t.row(r.ID, cmp.Or(r.Version, "-"), clip.Line(oneLine(state), 200))
			if r.Hint != "" {
				t.row("", "", "hint: "+oneLine(r.Hint))
			}
		}}, err
	})
	c.Flags().BoolVar(&available, "available", false, "what the marketplaces offer instead")
	return c
}

func (s *shop) rows() ([]pluginRow, error) {
	list, err := s.store.Installed()
	if err != nil {
		return nil, err
	}
	active, problems := s.store.Active(s.cfg)
	rows := []pluginRow{}
	for _, in := range list {
		r := pluginRow{ID: in.ID(), Version: in.Version, Enabled: s.cfg.EnabledPlugins[in.ID()], Source: in.Source.String(), Pin: cmp.Or(in.Pin, in.Sum)}
		if at, ok := s.cfg.Setting("enabledPlugins." + in.ID()); ok && string(at.Value) != "null" {
			r.From = at.Origin.String()
		}
		if i := slices.IndexFunc(active, func(p plugin.Plugin) bool { return p.ID() == in.ID() }); i >= 0 {
			r.Active, r.Path, r.About = true, active[i].Root, active[i].About
		}
		rows = append(rows, r)
	}
	for _, p := range problems {
		i := slices.IndexFunc(rows, func(r pluginRow) bool { return r.ID == p.Plugin })
		if i < 0 {
			rows = append(rows, pluginRow{ID: p.Plugin, Enabled: true, From: p.From.String()})
			i = len(rows) - 1
		}
		rows[i].Why, rows[i].Hint = p.Text, p.Hint
	}
	return rows, nil
}

// available are the plugins of all marketplaces.
func (s *shop) available() ([]pluginRow, error) {
	known, err := s.store.Markets()
	if err != nil {
		return nil, err
	}
	rows := []pluginRow{}
	for _, m := range known {
		c, err := s.store.Catalogue(m)
		if err != nil {
			tellError(s.sys.Stderr, err)
			continue
		}
		for _, e := range c.Plugins {
			rows = append(rows, pluginRow{ID: e.Name + "@" + m.Name, Version: e.Version, Source: e.Source.String(), About: e.About, Enabled: s.cfg.EnabledPlugins[e.Name+"@"+m.Name]})
		}
	}
	return rows, nil
}
