package app

import (
	"context"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/policy"
)

// hooked makes the hooks of a session that is not there yet.
func (r *Running) hooked(cfg *config.Config) *hooks.Gate {
	w := r.world
	source := "startup"
	switch {
	case r.spec.Log.Fork:
		source = "fork"
	case r.log.Model != "":
		source = "resume"
	case r.spec.Cleared:
		source = "clear"
	}
	g := hooks.New(hooks.Config{
		Session: r.ID, Transcript: r.log.File(), Source: source, Project: w.Paths.Root, Dir: w.Paths.Dir, Temp: w.temp.outside,
		Environ: func() (environ, allow []string) { return w.inherited(w.Config()) },
		Rules: func() policy.Rules {
			return policy.Rules{Dir: w.Paths.Dir, Dirs: []string{w.Paths.Dir}, Home: w.Paths.Home}
		},
		Callback: r.spec.Callback,
		Ask: func(ctx context.Context, model, question string) (string, event.Spent, error) {
			return w.models.Load().Answer(ctx, model, r.Target().ID(), question)
		},
	})
	r.hooks = g
	for _, s := range r.useHooks(cfg) {
		w.process.Notef("%s", s)
	}
	return g
}

// useHooks has the hooks of these settings run from the next event on, and
// returns what cannot be used of them.
func (r *Running) useHooks(cfg *config.Config) (bad []string) {
	set, problems := hooks.Load(cfg, r.spec.Hooks...)
	r.hooks.Use(set)
	for _, err := range problems {
		bad = append(bad, err.Error())
	}
	return bad
}

// variables are what commands may inherit, with what hooks set for them.
func (r *Running) variables() (environ, allow []string) {
	environ, allow = r.world.inherited(r.world.Config())
	if r.hooks == nil { // nothing ran yet
		return environ, allow
	}
	for _, v := range r.hooks.Env() {
		name, _, _ := strings.Cut(v, "=")
		environ, allow = append(environ, v), append(allow, name)
	}
	return environ, allow
}
