package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/ui/print"
)

// An invocation is what flags and environment ask for.
type invocation struct {
	app.Process
	settings.Sources
	app.Front
	spec app.Spec
	// callbacks are hooks that the program which drives adze answers.
	callbacks *print.Callbacks
	// now has the folders and the settings of a run that has begun; nil: they are read.
	now    func() (settings.Paths, *config.Config, error)
	unused []string // members of its initialize that mean nothing here
}

// quiet is the same for what must not speak.
func (i invocation) quiet() invocation {
	i.Note = nil
	return i
}

// loaded has the folders and the settings as a run here would see them, for a command that
// makes no session.
func (f *runFlags) loaded(sys System, cmd *cobra.Command) (invocation, settings.Paths, *config.Config, error) {
	o, err := f.options(sys, cmd.Flags())
	if err != nil {
		return o, settings.Paths{}, nil, err
	}
	o = o.quiet()
	p, cfg, err := o.load()
	if err != nil {
		return o, p, nil, openError(cmd.Context(), err)
	}
	return o, p, cfg, nil
}

// opened is loaded for what needs more of them than values. Close them.
func (f *runFlags) opened(sys System, cmd *cobra.Command) (invocation, *settings.Live, error) {
	o, err := f.options(sys, cmd.Flags())
	if err != nil {
		return o, nil, err
	}
	o = o.quiet()
	live, err := settings.Open(o.Environment, o.Sources)
	if err != nil {
		return o, nil, openError(cmd.Context(), err)
	}
	return o, live, nil
}

// load finds the folders and loads the settings.
func (i invocation) load() (settings.Paths, *config.Config, error) {
	if i.now != nil {
		return i.now()
	}
	return settings.Load(i.Environment, i.Sources)
}

// models are those of these settings.
func (i invocation) models(p settings.Paths, cfg *config.Config) (*models.Set, error) {
	return i.Process.Models(p.Folders, cfg, !i.Print, nil)
}

// A running is the one session of a world. Close ends both.
type running struct {
	*app.Running
	world *app.World
}

func (r running) Close() error { return r.world.Close() }

// start opens a world and starts the session.
func (i invocation) start(ctx context.Context) (running, error) {
	return i.with(ctx, func(w *app.World) (*app.Running, error) { return w.Start(ctx, i.spec) })
}

// dry is start for a session that is not meant to run.
func (i invocation) dry(ctx context.Context) (running, error) {
	return i.with(ctx, func(w *app.World) (*app.Running, error) { return w.Dry(ctx, i.spec) })
}

func (i invocation) with(ctx context.Context, start func(*app.World) (*app.Running, error)) (running, error) {
	w, err := app.Open(ctx, i.Process, i.Sources, i.Front)
	if err != nil {
		return running{}, openError(ctx, err)
	}
	r, err := start(w)
	if err != nil {
		_ = w.Close() // nothing of it was used
		return running{}, openError(ctx, err)
	}
	return running{r, w}, nil
}
