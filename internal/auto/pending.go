package auto

import "context"

// A Pending is a ruling under way. Its goroutine ends with the ruling; who
// started it calls Wait or Abandon, once.
type Pending struct {
	cancel context.CancelFunc
	done   chan struct{}
	ruling Ruling // after done
}

// Start begins to judge while something else (hooks) still runs. It ends with
// ctx at the latest.
func (c Classifier) Start(ctx context.Context, k Case) *Pending {
	ctx, cancel := context.WithCancel(ctx)
	p := &Pending{cancel: cancel, done: make(chan struct{})}
	go func() { // ends with the ruling: Judge is bounded by Timeout and ctx
		defer close(p.done)
		defer cancel()
		p.ruling = c.Judge(ctx, k)
	}()
	return p
}

// Wait returns the ruling, or Ask when ctx ends first.
func (p *Pending) Wait(ctx context.Context) Ruling {
	select {
	case <-p.done:
		return p.ruling
	case <-ctx.Done():
		p.Abandon()
		return Ruling{Ask, "the check was given up"}
	}
}

// Abandon gives the ruling up (a hook settled the matter, or changed the
// input) and waits until nothing of it runs any more.
func (p *Pending) Abandon() {
	p.cancel()
	<-p.done
}
