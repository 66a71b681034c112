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
	Local     bool
	// Aliases that stand for this model.
	Aliases []string
}

// List returns the models that are known: those of providers with a key first,
// then the local ones that answer, then the rest.
func (c *Chooser) List(ctx context.Context) []Row {
	locals := c.locals()
	found := c.probeAll(ctx, locals)
	c.askAll(ctx, locals, found)
	return c.list(locals, found)
}

// Known is List without those that only a local server knows: it asks nobody.
func (c *Chooser) Known() []Row { return c.list(nil, nil) }

// list makes the rows; found are the models of each of the local providers.
func (c *Chooser) list(locals []provider, found [][]string) []Row {
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
		return Row{Provider: p.name, Model: model, Facts: c.facts(p, model), HasKey: c.usable(p), KeySource: source,
			Local: p.local, Aliases: names[p.name+"/"+model]}
	}
	var with, here, without []Row
	for _, p := range c.providers {
		rows := &without
		if c.usable(p) {
			rows = &with
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
	for i, p := range locals {
		for _, m := range found[i] {
			here = append(here, row(p, m))
		}
	}
	return slices.Concat(with, here, without)
}
