package app

import (
	"context"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/policy"
)

// extend makes the extensions of a session that is not there yet.
func (r *Running) extend(cfg *config.Config) {
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
	x, bad := ext.New(ext.Config{Further: r.spec.Hooks, Hooks: ext.HooksConfig{
		Session: r.ID, Transcript: r.log.File(), Source: source, Project: w.Paths.Root, Dir: w.Paths.Dir, Temp: w.temp.outside,
		Environ: func() (environ, allow []string) { return w.inherited(w.Config()) },
		Rules: func() policy.Rules {
			return policy.Rules{Dir: w.Paths.Dir, Dirs: []string{w.Paths.Dir}, Home: w.Paths.Home}
		},
		Callback: r.spec.Callback,
		Ask: func(ctx context.Context, model, question string) (string, event.Spent, error) {
			return w.models.Load().Answer(ctx, model, r.Target().ID(), question)
		},
	}}, cfg)
	r.ext = x
	for _, s := range bad {
		w.process.Notef("%s", s)
	}
}

// variables are what commands may inherit, with what extensions set for them.
func (r *Running) variables() (environ, allow []string) {
	environ, allow = r.world.inherited(r.world.Config())
	if r.ext == nil { // nothing ran yet
		return environ, allow
	}
	for _, v := range r.ext.Env() {
		name, _, _ := strings.Cut(v, "=")
		environ, allow = append(environ, v), append(allow, name)
	}
	return environ, allow
}
