package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/ui/print"
	"github.com/adze-agent/adze/internal/window"
)

// About is what a print run says of itself.
func (r *Running) About() print.About {
	w := r.world
	return print.About{
		SessionID: r.ID, Cwd: w.Paths.Dir, Tools: r.Tools().Names(), Model: r.Target().ID(), Mode: string(r.Mode()),
		KeySource: r.key, Version: w.process.Version, Prefix: w.Config().Print.ProviderPrefix, NewID: NewUUID,
		Facts: r.facts, Models: r.switchable, Context: r.context, Settings: r.settings,
	}
}

// facts are the window and the output cap of a model of this session.
func (r *Running) facts(id string) (window, limit int) {
	if t := r.Target(); id == t.ID() {
		return t.Window, t.Cap
	}
	provider, name, _ := strings.Cut(id, "/")
	f, _ := r.world.models.Load().Table().Lookup(provider, name)
	return f.Window, f.Output
}

// switchable are the models that a host can switch to: those of providers
// with a key, and what local servers have.
func (r *Running) switchable(ctx context.Context) []print.Model {
	var out []print.Model
	for _, row := range r.world.models.Load().List(ctx) {
		if !row.HasKey && !row.Local {
			continue
		}
		m := print.Model{ID: row.Provider + "/" + row.Model, Name: first(row.Facts.Name, row.Model), Description: row.Provider, Adaptive: row.Facts.Thinking == price.Adaptive}
		if row.Facts.Window > 0 {
			m.Description += fmt.Sprintf(", window %d tokens", row.Facts.Window)
		}
		m.Efforts = row.Facts.Efforts
		out = append(out, m)
	}
	return out
}

// scopes are the names of scopes on the wire of hosts, weakest first.
var scopes = []struct {
	scope config.Scope
	name  string
}{
	{config.User, "userSettings"}, {config.Project, "projectSettings"}, {config.Local, "localSettings"}, {config.EnvVar, "environment"},
	{config.Settings, "flagSettings"}, {config.Flag, "flagSettings"}, {config.Managed, "policySettings"},
}

// settings are those in force now. What is secret is masked.
func (r *Running) settings() print.Settings {
	target := r.Target()
	out := print.Settings{Effective: map[string]json.RawMessage{}, Sources: []print.Source{}, Applied: print.Applied{Model: target.ID()}}
	if e := string(target.Effort); e != "" && target.Thinking == 0 {
		out.Applied.Effort = &e
	}
	by := map[string]map[string]json.RawMessage{}
	for _, s := range r.world.Config().Settings() {
		if string(s.Value) == "null" {
			continue
		}
		out.Effective[s.Key] = s.Value
		for _, x := range scopes {
			if x.scope != s.Origin.Scope {
				continue
			}
			if by[x.name] == nil {
				by[x.name] = map[string]json.RawMessage{}
			}
			by[x.name][s.Key] = s.Value
		}
	}
	for i, x := range scopes {
		if values := by[x.name]; len(values) > 0 && (i == 0 || scopes[i-1].name != x.name) {
			out.Sources = append(out.Sources, print.Source{Name: x.name, Settings: values})
		}
	}
	return out
}

// context is what fills the window now.
func (r *Running) context() print.Context {
	c := print.Context{Parts: []print.Part{}, Tools: []print.Part{}, Window: r.Target().Window}
	fixed := 0
	for _, s := range r.Sizes() {
		p := print.Part{Name: s.Name, Tokens: s.Tokens}
		fixed += s.Tokens
		if name, tool := strings.CutPrefix(s.Name, "tool "); tool {
			p.Name = name
			c.Tools = append(c.Tools, p)
		} else {
			c.Parts = append(c.Parts, p)
		}
	}
	st := r.State()
	if n := window.Estimate(st); st.Total.Replies > 0 {
		c.Talk = max(0, n-fixed)
	} else {
		c.Talk = n
	}
	return c
}

// NewUUID is a random UUID (RFC 9562, version 4).
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
