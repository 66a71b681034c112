package agenda

import "context"

// Tick looks at the clock once.
func (a *Agenda) Tick(ctx context.Context, h Host) {
	a.host = h
	a.tick(ctx)
}
