package cli

import (
	"context"
	"errors"
	"os"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm/script"
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
	face := h.face(r)
	h.watch()
	face.UI = h.dressed(r.Place().Config())
	return face, nil
}

// demo opens a session on the demo's module and its scripted model.
func (h *uiHost) demo(ctx context.Context) (*tui.Session, error) {
	text, err := demoFiles.ReadFile("demo/script.txt")
	if err != nil {
		return nil, err
	}
	s, err := script.Parse(string(text))
	if err != nil {
		return nil, err
	}
	dir, err := demoModule("", h.o.Temp)
	if err != nil {
		return nil, err
	}
	o := h.o
	o.Dir, o.Bare, o.Flags, o.spec = dir, true, demoFlags(), app.Spec{Log: sessions.Choice{None: true}}
	o.spec.Target = &agent.Target{Model: script.New(s, script.Config{Version: h.sys.Version}), Provider: "script", Name: "demo"}
	a, err := o.start(ctx)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	h.desk.Seat(a.Running)
	face := h.face(a.Running)
	face.Close = func(why hook.Ending) error { return errors.Join(h.desk.End(a.ID, why), a.Close(), os.RemoveAll(dir)) }
	face.Prompt = demoPrompt
	face.UI = h.dressed(a.Place().Config())
	return face, nil
}
