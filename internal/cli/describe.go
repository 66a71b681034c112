package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/print"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// about is the session as print mode describes it.
func (r running) about() print.About {
	d := r.Describe()
	return print.About{
		SessionID: d.ID, Cwd: d.Dir, Branch: d.Branch, Tools: d.Tools, Model: d.Model.ID(), Wish: d.Model.Wished(), Mode: string(d.Mode),
		ToolNames: func() []string { return r.Tools().Names() }, Extended: r.Extended, MCP: r.servers, Mistakes: r.Mistakes,
		KeySource: d.Key, Version: d.Version, Prefix: r.Place().Config().Print.ProviderPrefix, NewID: newUUID, Now: time.Now,
		Auto:  slices.Contains(d.Modes, policy.Auto),
		Facts: r.Facts, Models: r.switchable, Context: r.context, Settings: r.settings,
		Deferred: r.State().Deferred(),
	}
}

// servers are the MCP servers as each turn begins.
func (r running) servers() (out []print.ServerStatus) {
	for _, s := range r.Place().MCP().Status() {
		out = append(out, briefly(s))
	}
	return out
}

// switchable are the models that a host can switch to.
func (r running) switchable(ctx context.Context) []print.Model {
	var out []print.Model
	for _, row := range r.Switchable(ctx) {
		m := print.Model{ID: row.Provider + "/" + row.Model, Name: first(row.Facts.Name, row.Model), Description: row.Provider, Adaptive: row.Facts.Thinking == price.Adaptive, Efforts: row.Facts.Efforts}
		if row.Facts.Window > 0 {
			m.Description += fmt.Sprintf(", window %d tokens", row.Facts.Window)
		}
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
func (r running) settings() print.Settings {
	target := r.Target()
	out := print.Settings{Effective: map[string]json.RawMessage{}, Sources: []print.Source{}, Applied: print.Applied{Model: target.ID()}}
	if e := string(target.Effort); e != "" && target.Thinking == 0 {
		out.Applied.Effort = &e
	}
	by := map[string]map[string]json.RawMessage{}
	for _, s := range shownSettings(r.Place().Config()) {
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
func (r running) context() print.Context {
	c := print.Context{Parts: []print.Part{}, Tools: []print.Part{}, Window: r.Target().Window, Talk: r.Talk()}
	parts, tools := r.Sizes()
	for _, s := range parts {
		c.Parts = append(c.Parts, print.Part{Name: s.Name, Tokens: s.Tokens})
	}
	for _, s := range tools {
		c.Tools = append(c.Tools, print.Part{Name: s.Name, Tokens: s.Tokens})
	}
	return c
}

// face is the session as the terminal UI sees it.
func (h *uiHost) face(ctx context.Context, r *app.Running) (*tui.Session, error) {
	a, err := h.desk.Ask(ctx, r.ID, ask.Status{})
	if err != nil {
		return nil, err
	}
	f, err := ask.Data[ask.Facts](a)
	return &tui.Session{Facts: f, After: event.Seq(f.Earlier), Was: r.State(), UI: h.dressed(r.Place().Config())}, err
}

// look are the settings of the terminal UI.
func look(cfg *config.Config, line *config.StatusLine) tui.Settings {
	u := cfg.UI
	s := tui.Settings{
		Theme: u.Theme, Vim: u.EditorMode == "vim", ASCII: u.ASCII, Thinking: u.ShowThinking, Fullscreen: u.Fullscreen, Notify: u.Notify, TitleOff: !u.Title,
	}
	if line != nil {
		s.Status.Padding, s.Status.Every = line.Padding, time.Duration(line.RefreshInterval)*time.Second
	}
	return s
}

// newUUID is a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
