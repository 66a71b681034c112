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
func (a *App) About() print.About {
	return print.About{
		SessionID: a.ID, Cwd: a.Paths.Dir, Tools: a.Tools.Names(), Model: a.Target.ID(), Mode: string(a.Mode),
		KeySource: a.Key, Version: a.version, Prefix: a.Config.Print.ProviderPrefix, NewID: NewUUID,
		Facts: a.facts, Models: a.switchable, Context: a.context, Settings: a.settings,
	}
}

// facts are the window and the output cap of a model of this session.
func (a *App) facts(id string) (window, limit int) {
	if id == a.Target.ID() {
		return a.Target.Window, a.Target.Cap
	}
	provider, name, _ := strings.Cut(id, "/")
	f, _ := a.live.models.Load().Table().Lookup(provider, name)
	return f.Window, f.Output
}

// switchable are the models that a host can switch to: those of providers
// with a key, and what local servers have.
func (a *App) switchable(ctx context.Context) []print.Model {
	var out []print.Model
	for _, r := range a.live.models.Load().List(ctx) {
		if !r.HasKey && !r.Local {
			continue
		}
		m := print.Model{ID: r.Provider + "/" + r.Model, Name: first(r.Facts.Name, r.Model), Description: r.Provider, Adaptive: r.Facts.Thinking == price.Adaptive}
		if r.Facts.Window > 0 {
			m.Description += fmt.Sprintf(", window %d tokens", r.Facts.Window)
		}
		m.Efforts = r.Facts.Efforts
		out = append(out, m)
	}
	return out
}

// sources are the names of scopes on the wire of hosts, weakest first.
var sources = []struct {
	scope config.Scope
	name  string
}{
	{config.User, "userSettings"}, {config.Project, "projectSettings"}, {config.Local, "localSettings"}, {config.EnvVar, "environment"},
	{config.Settings, "flagSettings"}, {config.Flag, "flagSettings"}, {config.Managed, "policySettings"},
}

// settings are those in force now. What is secret is masked.
func (a *App) settings() print.Settings {
	target := a.Session.Target()
	out := print.Settings{Effective: map[string]json.RawMessage{}, Sources: []print.Source{}, Applied: print.Applied{Model: target.ID()}}
	if e := string(target.Effort); e != "" && target.Thinking == 0 {
		out.Applied.Effort = &e
	}
	by := map[string]map[string]json.RawMessage{}
	for _, s := range a.live.inForce().Settings() {
		if string(s.Value) == "null" {
			continue
		}
		out.Effective[s.Key] = s.Value
		for _, x := range sources {
			if x.scope != s.Origin.Scope {
				continue
			}
			if by[x.name] == nil {
				by[x.name] = map[string]json.RawMessage{}
			}
			by[x.name][s.Key] = s.Value
		}
	}
	for i, x := range sources {
		if values := by[x.name]; len(values) > 0 && (i == 0 || sources[i-1].name != x.name) {
			out.Sources = append(out.Sources, print.Source{Name: x.name, Settings: values})
		}
	}
	return out
}

// context is what fills the window now.
func (a *App) context() print.Context {
	c := print.Context{Parts: []print.Part{}, Tools: []print.Part{}, Window: a.Target.Window}
	fixed := 0
	for _, s := range a.Sizes() {
		p := print.Part{Name: s.Name, Tokens: s.Tokens}
		fixed += s.Tokens
		if name, tool := strings.CutPrefix(s.Name, "tool "); tool {
			p.Name = name
			c.Tools = append(c.Tools, p)
		} else {
			c.Parts = append(c.Parts, p)
		}
	}
	st := a.Session.State()
	if n := window.Estimate(st); st.Total.Replies > 0 {
		c.Talk = max(0, n-fixed)
	} else {
		c.Talk = n
	}
	if id := st.Model; id != "" {
		c.Window, _ = a.facts(id)
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
