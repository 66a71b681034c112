package wire

import (
	"context"
	"io"
	"time"
)

// Silence is what the body of a played answer does where nothing comes for d:
// it waits, without end when d is negative. It returns early with an error when
// the request is over or the body is closed.
func Silence(ctx context.Context, closed <-chan struct{}, d time.Duration) error {
	if err := ctx.Err(); err != nil || d == 0 {
		return err
	}
	var over <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-closed:
		return io.ErrClosedPipe
	}
}
