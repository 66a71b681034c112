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
	timedOut
	interrupted
)

// await waits for j in the foreground, showing what it writes.
func (b *runner) await(ctx context.Context, j *job, timeout time.Duration, show func(string)) outcome {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	feed := feed{out: j.out, show: show}
	late := false
	for {
		select {
		case <-ctx.Done():
			j.kill("interrupted", proc.Grace)
			return interrupted
		case <-timer.C:
			late = true
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
			if late {
				return timedOut
			}
			feed.send()
			return ended
		}
	}
}
