package agent

import (
	"time"

	"github.com/adze-agent/adze/internal/llm"
)

// Bounds of waiting for a provider (loop.md, reliability faults 44 and 45).
const (
	firstWait      = 500 * time.Millisecond
	longestWait    = 32 * time.Second
	longestAsked   = 5 * time.Minute // a longer Retry-After is for a person to wait for
	maxRetries     = 10
	maxNear        = 3 // for a server on this machine that does not run: what starts it anew takes seconds
	maxOverloaded  = 3 // for 529, when another model can take over
	maxBrokenReply = 3 // replies that broke midway
)

// tries counts what a request has already cost.
type tries struct {
	failed int // before the first chunk
	broken int // midway
}

// nextRetry says whether a failed request is sent again, after which wait,
// and how many retries there are in all. jitter is in [-1, 1] and moves the
// wait by up to a quarter; the provider's own wish is never shortened. When it is
// very long, only a patient run waits. Without a network a patient run waits for as long as
// the person lets it, unless another model can take over: most is then 0.
func nextRetry(e *llm.Error, t tries, fallback, patient bool, jitter float64) (wait time.Duration, most int, again bool) {
	if !e.Retryable() {
		return 0, 0, false
	}
	n := t.failed
	most = maxRetries
	switch {
	case e.Begun:
		n, most = t.broken, maxBrokenReply
	case e.Near:
		most = maxNear
	case e.Offline && patient && !fallback:
		most = 0
	case fallback && e.Kind == llm.Overloaded:
		most = maxOverloaded
	}
	if n >= most && most > 0 {
		return 0, most, false
	}
	wait = min(firstWait<<min(n, maxRetries), longestWait)
	wait += time.Duration(jitter * float64(wait) / 4)
	switch {
	case e.RetryAfter > longestAsked && (!patient || fallback):
		return 0, most, false
	case e.RetryAfter > wait:
		wait = e.RetryAfter
	}
	return wait, most, true
}
