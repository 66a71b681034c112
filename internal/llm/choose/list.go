package choose

import (
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/llm/price"
)

// A Row is one line of "adze models".
type Row struct {
	Provider string
	Model    string
	Facts    price.Facts
	HasKey   bool
	// KeySource names the variable, or what else the key comes from; never the key.
	KeySource string
	Local     bool // its server is here, or beside this machine
	Found     bool // its server named it just now
	// Usable: it has a key, or needs none.
	Usable bool
	// Aliases that stand for this model.
	Aliases []string
}

// BeyondTools are the abilities that are worth a word: what works here needs tools, so all
// but a few models have them.
func (r Row) BeyondTools() (out []string) {
	tools := false
	for _, a := range r.Facts.Abilities {
		switch a {
		case price.Tools:
			tools = true
		case price.Search: // how tools are sent is nothing to choose a model by
		default:
			out = append(out, string(a))
		}
	}
	if !tools {
		out = append(out, "no tools")
	}
	return out
}

// List returns the models that are known: those of providers with a key first,
// then those of servers that answer, then the rest.
func (c *Chooser) List(ctx context.Context) []Row {
	servers := c.servers()
	found := c.probeAll(ctx, servers)
	c.askAll(ctx, servers, found)
	return c.list(servers, found)
}

// Known is List without those that only a server knows: it asks nobody.
func (c *Chooser) Known() []Row { return c.list(nil, nil) }

// list makes the rows; found are the models that each of the servers named.
func (c *Chooser) list(servers []provider, found [][]string) []Row {
	names := map[string][]string{}
	for _, a := range price.Aliases() {
		if full, ok := c.alias(a); ok {
			names[full] = append(names[full], a)
		}
	}
	user := make([]string, 0, len(c.c.Aliases))
	for a := range c.c.Aliases {
		user = append(user, a)
	}
	slices.Sort(user)
	for _, a := range user {
		names[c.c.Aliases[a]] = append(names[c.c.Aliases[a]], a)
	}
	row := func(p provider, model string) Row {
		_, source, _ := c.key(p)
		if source == "" && c.usable(p) {
			source = FromHelper
		}
		return Row{Provider: p.name, Model: model, Facts: c.facts(p, model), HasKey: c.usable(p), KeySource: source,
			Local: p.near(), Usable: c.usable(p) || p.open(), Aliases: names[p.name+"/"+model]}
	}
	var with, here, without []Row
	for _, p := range c.providers {
		rows := &without
		switch {
		case c.usable(p):
			rows = &with
		case p.open():
			rows = &here
		}
		seen := map[string]bool{}
		for _, m := range p.models {
			seen[m] = true
			*rows = append(*rows, row(p, m))
		}
		for _, f := range c.table.All() {
			if f.Provider == p.name && !seen[f.ID] {
				*rows = append(*rows, row(p, f.ID))
			}
		}
	}
	for i, p := range servers {
		for _, m := range found[i] {
			if slices.Contains(p.models, m) {
				continue
			}
			r := row(p, m)
			r.Found = true
			here = append(here, r)
		}
	}
	return slices.Concat(with, here, without)
}
