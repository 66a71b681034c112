package bash

import (
	"context"
	"time"

	"github.com/adze-agent/adze/internal/proc"
)

// How a wait for a job ended.
type outcome int

const (
	ended outcome = iota
	moved
	goesOn // it ran into its time limit, and goes on in the background
	timedOut
	interrupted
)

// await waits for j in the foreground, showing what it writes. ends says that it is ended
// at its time limit, and does not go on in the background.
func (b *runner) await(ctx context.Context, j *job, timeout time.Duration, ends bool, show func(string)) outcome {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	feed := feed{out: j.out, show: show}
	over := false
	for {
		select {
		case <-ctx.Done():
			j.kill("interrupted", proc.Grace)
			return interrupted
		case <-timer.C:
			if !ends && b.tasks.moveLate(j) {
				return goesOn
			}
			over = true
			j.kill("timed out after "+timeout.String(), proc.Grace)
		case <-j.moved:
			return moved
		case <-tick.C:
			feed.send()
		case <-j.over:
			select {
			case <-j.moved:
				return moved
			default:
			}
			if over {
				return timedOut
			}
			feed.send()
			return ended
		}
	}
}
