package cli

import (
	"slices"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/settings"
)

// ground is what the environment says of the folders of a person who works in dir.
func (sys System) ground(dir string) settings.Ground { return settings.GroundOf(sys.Environ, dir) }

// apply makes a session start on g.
func apply(g settings.Ground, o *app.Surroundings) {
	o.Home, o.Temp, o.Environ = g.Home, g.Temp, g.Environ
	env := System{Environ: g.Environ}.Env
	o.Env = func(name string) string {
		if slices.Contains(g.Hidden, name) {
			return ""
		}
		return env(name)
	}
}
