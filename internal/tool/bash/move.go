package bash

import (
	"time"

	"github.com/adze-agent/adze/internal/proc"
)

// Background implements task.Source: the command of a call goes on as a task, and the call
// returns with its id.
func (t *Tasks) Background(call string) (id string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.jobs {
		if j.call == call && j.move() {
			return j.id, true
		}
	}
	return "", false
}

// moveLate moves a command that has run into its time limit, where there is room for it.
func (t *Tasks) moveLate(j *job) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running() < maxBackground && j.move()
}

// move has a command go on as a task; tasks.mu is held. It reports whether it runs in the
// foreground, and can.
func (j *job) move() bool {
	if j.id != "" || !j.ended.IsZero() || j.note != "" || j.p == nil {
		return false
	}
	j.id = j.tasks.nextID(false)
	j.p.Keep()
	j.out.Save()
	j.bound(defaultLasts)
	j.announce(j.out.Total())
	close(j.moved)
	return true
}

// bound has a command in the background end when it has run for so long; tasks.mu is held.
func (j *job) bound(lasts time.Duration) {
	j.lasts = lasts
	j.deadline = time.AfterFunc(lasts, func() { j.kill(j.atDeadline(), proc.Grace) })
}

// atDeadline is why a task ended whose time was over.
func (j *job) atDeadline() string { return "timed out after " + j.lasts.String() }

// running is how many commands run in the background; t.mu is held.
func (t *Tasks) running() (n int) {
	for _, x := range t.jobs {
		if x.id != "" && x.ended.IsZero() {
			n++
		}
	}
	return n
}
