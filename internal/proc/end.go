package proc

import (
	"time"
)

// Stop asks every process of the command to end and kills what is left after
// grace (0 kills at once). It returns immediately; wait for Done.
func (p *Process) Stop(grace time.Duration) {
	for {
		select {
		case p.stop <- grace:
			return
		case <-p.done:
			return
		default:
		}
		select { // a request is waiting already: the shorter grace wins
		case g := <-p.stop:
			grace = min(grace, g)
		case <-p.done:
			return
		default:
		}
	}
}

// Close ends every command and waits until nothing is left, a little longer
// than grace at most. The table starts nothing afterwards.
func (t *Table) Close(grace time.Duration) {
	t.mu.Lock()
	t.closed = true
	for p := range t.procs {
		p.Stop(grace)
	}
	t.mu.Unlock()
	t.wg.Wait()
	t.os.sweep()
	t.os.close()
}

// alive reports whether processes of a command that has itself ended remain.
func (p *Process) alive() bool { return p.os.count(p) > 0 }

// leave is the ordinary end: wait a moment for the last output, then end what
// the command left behind.
func (p *Process) leave() {
	t := time.NewTimer(drain)
	defer t.Stop()
	select {
	case <-p.eof:
	case <-t.C:
	case g := <-p.stop:
		p.end(g)
		p.finish()
		return
	}
	if p.clean = p.whole || p.os.clean(); p.clean {
		p.finish()
		return
	}
	p.others = true
	if left := p.os.names(p); len(left) > 0 {
		p.mu.Lock()
		p.status.Left = left
		p.mu.Unlock()
		p.end(leftoverGrace)
	}
	p.finish()
}

// end asks all processes to end, waits up to grace, and kills the rest.
func (p *Process) end(grace time.Duration) {
	if grace > 0 && p.os.term(p) {
		deadline := time.NewTimer(grace)
		defer deadline.Stop()
		poll := time.NewTicker(20 * time.Millisecond)
		defer poll.Stop()
	wait:
		for {
			select {
			case <-deadline.C:
				break wait
			case g := <-p.stop:
				if g < grace {
					break wait
				}
			case <-poll.C:
				if p.os.term(p) {
					continue
				}
				select {
				case <-p.exited:
					break wait
				default: // dead, and not reaped yet
				}
			}
		}
	}
	if p.whole {
		_ = p.child.Kill() // it may be over
	}
	p.os.kill(p)
}

// finish waits for what end has killed, takes the last output and lets go.
func (p *Process) finish() {
	t := time.NewTimer(stuck)
	defer t.Stop()
	select {
	case <-p.exited:
	case <-t.C: // it cannot be killed now; wait reaps it when it can
	}
	select { // nobody can write any more, except what cannot be killed
	case <-p.eof:
	case <-time.After(drain):
	}
	_ = p.out.Close()
	<-p.eof
	p.os.release(p, p.clean)
}

func (t *Table) forget(p *Process) {
	switch {
	case !p.clean:
		t.os.sweep()
	case p.others: // of earlier commands, too
		t.reap()
	}
	if p.ward {
		p.os.unguard(p)
	}
	t.mu.Lock()
	delete(t.procs, p)
	t.mu.Unlock()
	t.wake()
	t.wg.Done()
}
