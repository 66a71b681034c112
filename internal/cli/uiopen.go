package cli

import (
	"context"
	"errors"
	"os"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/demo"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// open opens a session.
func (h *uiHost) open(ctx context.Context, s tui.Start) (*tui.Session, error) {
	if s.Demo {
		return h.demo(ctx)
	}
	spec := h.o.spec
	l := &spec.Log
	l.Continue, l.Resume, l.Fork = s.Continue, s.Resume, s.Fork
	if s.Fresh || s.Resume != "" {
		l.At, l.ID = "", ""
	}
	spec.Cleared, spec.Model = s.Fresh, s.Model
	r, err := h.desk.Start(ctx, spec, func(p *app.Process) {
		abort := p.Abort
		h.sys.abort.Store(&abort)
	})
	if err != nil {
		return nil, err
	}
	h.listen(ctx, r.Place().Paths.State)
	h.machine.Watch()
	return h.face(ctx, r)
}

// demo opens a session on the demo's module and its scripted model.
func (h *uiHost) demo(ctx context.Context) (*tui.Session, error) {
	model, err := demo.Target(h.sys.Version)
	if err != nil {
		return nil, err
	}
	dir, err := demo.Module("", h.o.Temp)
	if err != nil {
		return nil, err
	}
	o := h.o
	o.Dir, o.Bare, o.Flags, o.spec = dir, true, demo.Flags(), app.Spec{Log: sessions.Choice{None: true}}
	o.spec.Target = model
	a, err := o.start(ctx)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	h.desk.Seat(a.Running)
	h.made.Store(a.ID, func() error { return errors.Join(a.Close(), os.RemoveAll(dir)) })
	face, err := h.face(ctx, a.Running)
	if err == nil {
		face.Prompt = demo.Prompt
	}
	return face, err
}

// end ends a session, because another one is opened in its place.
func (h *uiHost) end(session string, next *tui.Start) error {
	switch {
	case next == nil:
		return h.close(session, hook.EndOther)
	case next.Fresh:
		return h.close(session, hook.EndClear)
	case next.Resume != "":
		return h.close(session, hook.EndResume)
	}
	return h.close(session, hook.EndOther)
}

// close ends a session, with what was made for it alone. Its hooks are told why.
func (h *uiHost) close(session string, why hook.Ending) error {
	err := h.desk.End(session, why)
	if with, ok := h.made.LoadAndDelete(session); ok {
		err = errors.Join(err, with.(func() error)())
	}
	return err
}
