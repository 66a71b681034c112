package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/ui/print"
)

// An invocation is what flags and environment ask for.
type invocation struct {
	app.Invocation
	spec app.Spec
	// callbacks are hooks that the program which drives adze answers.
	callbacks *print.Callbacks
	unused    []string // members of its initialize that mean nothing here
	worktree  string   // see runFlags
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
	p, cfg, err := o.Load()
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
	live, err := o.Open()
	if err != nil {
		return o, nil, openError(cmd.Context(), err)
	}
	return o, live, nil
}

// A running is the one session of a process. Close ends both, and leaves the worktree that
// the session had to itself.
type running struct {
	*app.Running
	process *app.Process
	leave   func() // nil without a worktree
}

func (r running) Close() error {
	err := r.process.Close()
	if r.leave != nil {
		r.leave()
	}
	return err
}

// start starts the session in a process of its own.
func (i invocation) start(ctx context.Context) (running, error) {
	if i.worktree != "" {
		return i.apart(ctx)
	}
	r, err := i.with(ctx, func(at *app.Place) (*app.Running, error) { return at.Start(ctx, i.spec) })
	if errors.Is(err, app.ErrIsolated) { // its definition says so
		i.worktree = anyWorktree
		return i.apart(ctx)
	}
	return r, err
}

// isolate makes the worktree that is asked for, or opens it, for the sessions of this
// invocation. leave leaves it, and says where it stays.
func (i *invocation) isolate(ctx context.Context) (leave func(), err error) {
	name := i.worktree
	if name == anyWorktree {
		name = ""
	}
	room, err := i.Isolate(ctx, name)
	if err != nil {
		return nil, openError(ctx, err)
	}
	i.spec.Room = room
	note := i.Surroundings
	return func() {
		switch work, err := room.Leave(context.WithoutCancel(ctx)); {
		case work != "":
			note.Notef("the worktree %s stays (%s, branch %s): %s", room.Path, room.Name(), room.Branch, work)
		case err != nil:
			note.Notef("the worktree %s: %v", room.Path, err)
		}
	}, nil
}

// apart is start in a worktree.
func (i invocation) apart(ctx context.Context) (running, error) {
	leave, err := i.isolate(ctx)
	if err != nil {
		return running{}, err
	}
	r, err := i.with(ctx, func(at *app.Place) (*app.Running, error) { return at.Start(ctx, i.spec) })
	if err != nil {
		leave()
		return r, err
	}
	r.leave = leave
	return r, nil
}

// dry is start for a session that is not meant to run.
func (i invocation) dry(ctx context.Context) (running, error) {
	return i.with(ctx, func(at *app.Place) (*app.Running, error) { return at.Dry(ctx, i.spec) })
}

func (i invocation) with(ctx context.Context, start func(*app.Place) (*app.Running, error)) (running, error) {
	p, at, err := i.place(ctx)
	if err != nil {
		return running{}, err
	}
	r, err := start(at)
	if err != nil {
		_ = p.Close() // nothing of it was used
		return running{}, openError(ctx, err)
	}
	return running{Running: r, process: p}, nil
}

// place opens the folder that is worked in, in a process of its own.
func (i invocation) place(ctx context.Context) (*app.Process, *app.Place, error) {
	p, err := app.Open(ctx, i.Surroundings, i.Sources, i.Front)
	if err != nil {
		return nil, nil, openError(ctx, err)
	}
	dir := i.Dir
	if i.spec.Room != nil {
		dir = i.spec.Room.Dir
	}
	at, err := p.Place(dir)
	if err != nil {
		_ = p.Close() // nothing of it was used
		return nil, nil, openError(ctx, err)
	}
	return p, at, nil
}
