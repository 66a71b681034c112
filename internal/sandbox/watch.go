package sandbox

import "time"

// Times of a watch: the pause between two looks is pace times what one costs,
// from quickest to slowest; the longer nothing happens, the longer.
const (
	quickest, slowest = 50 * time.Millisecond, time.Second
	pace              = 40
	// prompt is the least time between two looks that were asked for by names
	// that came; they may cost one part in eager of the time.
	prompt = 5 * time.Millisecond
	eager  = 5
	// firm is how long what is still being written may stay; what does not
	// change between two looks is settled at once.
	firm = 500 * time.Millisecond
	// rarely is how often everything is looked at while commands run, or more
	// rarely still where that takes long.
	rarely = 10 * time.Second
)

// watch looks while commands run: when the system says that a name which
// matters came, and from time to time.
func (t *auditor) watch(stop chan struct{}, came <-chan struct{}) {
	defer t.watching.Done()
	pause, rest := quickest, prompt
	timer := time.NewTimer(pause)
	defer timer.Stop()
	looked := time.Now()
	for {
		select {
		case <-stop:
			return
		case <-came:
			timer.Reset(max(0, rest-time.Since(looked)))
			select {
			case <-stop:
				return
			case <-timer.C:
			}
		case <-timer.C:
		}
		t.mu.Lock()
		select {
		case <-stop: // what runs now has a watch of its own
			t.mu.Unlock()
			return
		default:
		}
		if t.journal != nil {
			t.journal.beat()
		}
		t.lost()
		if t.audit(false, t.due(), every) {
			pause = quickest
		} else {
			pause = min(pause*21/20+time.Millisecond, slowest)
		}
		pause = max(pause, min(pace*t.cost, slowest))
		rest = max(prompt, eager*t.cost)
		t.mu.Unlock()
		looked = time.Now()
		timer.Reset(pause)
	}
}

// due reports whether it is time to look at everything: what runs could have changed
// something that nobody has read, and has had the time. At the end of such a command
// everything is looked at in any case.
func (t *auditor) due() bool {
	var first time.Time
	for r := range t.runs {
		if !r.exact && (first.IsZero() || r.since.Before(first)) {
			first = r.since
		}
	}
	if t.swept.After(first) && !first.IsZero() {
		first = t.swept
	}
	return !first.IsZero() && time.Since(first) > max(rarely, 100*t.sweep)
}
