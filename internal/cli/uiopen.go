package cli

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm/script"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// A shared is the World of all sessions that the UI opens one after the other:
// all are in the folder that adze was started in. A session of another folder
// has other settings, another trust and another project, and so needs a World of
// its own (as the demo's has).
type shared struct {
	opening sync.Mutex // held while a session is opened, and while the World is closed
	world   atomic.Pointer[app.World]
}

// current is the World, with the settings as they are now.
func (s *shared) current(ctx context.Context, o invocation) (*app.World, error) {
	if w := s.world.Load(); w != nil {
		w.Reread()
		return w, nil
	}
	w, err := app.Open(ctx, o.Process, o.Sources, o.Front)
	if err == nil {
		s.world.Store(w)
	}
	return w, err
}

// close ends what is left of the sessions, and what they shared.
func (s *shared) close() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	if w := s.world.Load(); w != nil {
		return w.Close()
	}
	return nil
}

// open opens a session.
func (h *uiHost) open(ctx context.Context, s tui.Start) (*tui.Session, error) {
	if s.Demo {
		return h.demo(ctx)
	}
	h.opening.Lock()
	defer h.opening.Unlock()
	w, err := h.current(ctx, h.o)
	if err != nil {
		return nil, err
	}
	abort := w.Abort
	h.sys.abort.Store(&abort)
	spec := h.o.spec
	l := &spec.Log
	l.Continue, l.Resume, l.Fork = s.Continue, s.Resume, s.Fork
	if s.Fresh || s.Resume != "" {
		l.At, l.ID = "", ""
	}
	spec.Cleared, spec.Model = s.Fresh, s.Model
	r, err := w.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	face := running{r, w}.face()
	h.watch()
	face.UI = h.dressed(w.Config())
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
	face := a.face()
	face.Close = func(why hook.Ending) error { return errors.Join(a.End(why), a.Close(), os.RemoveAll(dir)) }
	face.Prompt = demoPrompt
	face.UI = h.dressed(a.world.Config())
	return face, nil
}
