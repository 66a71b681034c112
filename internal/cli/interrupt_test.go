package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/op"
)

// submitter takes interrupts from a moment on, as a session does whose turn
// begins only then.
type submitter struct {
	from  time.Time
	taken int

	stopped bool
}

func (s *submitter) Submit(context.Context, op.Op) error {
	if time.Now().Before(s.from) {
		return errors.New("nothing is running")
	}
	s.taken++
	return nil
}

func (s *submitter) StopAgents() { s.stopped = true }

// An interrupt that comes before the turn has begun is not forgotten.
func TestInterruptWaitsForTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &submitter{from: time.Now().Add(15 * time.Millisecond)}
		stop := interrupting(ctx, s)
		cancel()
		time.Sleep(25 * time.Millisecond)
		synctest.Wait()
		stop()
		synctest.Wait()
		if s.taken != 1 || !s.stopped {
			t.Errorf("taken %d times; agents stopped: %v", s.taken, s.stopped)
		}
	})
}
