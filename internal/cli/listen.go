package cli

import (
	"context"
	"errors"

	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/live"
)

// listen has other processes reach the sessions of the terminal UI, from the first one on.
func (h *uiHost) listen(ctx context.Context, state string) {
	h.heard.Do(func() { h.unheard = h.f.listen(ctx, h.sys, h.desk, state, h.o.Note) })
}

// listen has adze ps, attach, tail and send reach the sessions of d, until the returned function
// is called. Nothing waits for it, and where it cannot be nothing else suffers: note is told.
func (f *runFlags) listen(ctx context.Context, sys System, d *desk.Desk, state string, note func(string)) (stop func()) {
	if f.noSocket {
		return func() {}
	}
	begun := make(chan func(), 1)
	go func() { // ends at once
		stop, err := live.Listen(ctx, d, state, sys.Version)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			note("adze ps does not see this session: " + err.Error())
		}
		begun <- stop
	}()
	return func() {
		if stop := <-begun; stop != nil {
			stop()
		}
	}
}
