package hooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// Set are the hooks that count now, lent ones too.
func (g *Gate) Set() hook.Set { return g.run.Set() }

// A lending is hooks that count for a while.
type lending struct{ hooks []hook.Hook }

// join has what there is besides the settings' count, too. g.mu is held.
func (g *Gate) join() {
	list := g.base.All()
	for _, l := range g.lent {
		list = append(list, l.hooks...)
	}
	g.run.Use(hook.NewSet(list...))
}

// joined has files watched as the hooks that count by now want it. Before the
// session begins there is nobody to tell.
func (g *Gate) joined() {
	g.mu.Lock()
	begun := g.life != nil
	g.mu.Unlock()
	if begun {
		g.relook()
	}
}

// LendTo has hooks count for what an agent does, until back is called.
func (g *Gate) LendTo(who Who, list []hook.Hook) (back func()) {
	list = slices.Clone(list)
	for i := range list {
		list[i].Agent = who.ID
	}
	return g.lendAll(list)
}

// lendAll has hooks count until back is called.
func (g *Gate) lendAll(list []hook.Hook) (back func()) {
	l := &lending{list}
	g.mu.Lock()
	g.lent = append(g.lent, l)
	g.join()
	g.mu.Unlock()
	g.joined()
	return func() {
		g.mu.Lock()
		g.lent = slices.DeleteFunc(g.lent, func(o *lending) bool { return o == l })
		g.join()
		g.mu.Unlock()
		g.joined()
	}
}

// LendTurn has hooks count until a turn ends.
func (g *Gate) LendTurn(list []hook.Hook) {
	after := g.s.State().Seq
	back := g.lendAll(list)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dead || g.life == nil {
		return
	}
	ctx := g.life
	g.wg.Go(func() { // ends with ctx
		defer back()
		for e, err := range g.s.Follow(ctx, after, event.Durable) {
			if _, over := e.Body.(event.TurnEnded); over || err != nil {
				return
			}
		}
	})
}

// Parse reads hooks as a skill or an agent has them: groups by event.
func Parse(raw json.RawMessage, at hook.Place) (list []hook.Hook, problems []error) {
	var groups map[string][]json.RawMessage
	if err := json.Unmarshal(raw, &groups); err != nil {
		return nil, []error{fmt.Errorf("hooks: expected groups by event: %w", fastjson.InWords(err))}
	}
	for _, e := range slices.Sorted(maps.Keys(groups)) {
		for _, g := range groups[e] {
			hooks, bad := hook.Parse(e, g, at)
			list, problems = append(list, hooks...), append(problems, bad...)
		}
	}
	return list, problems
}
