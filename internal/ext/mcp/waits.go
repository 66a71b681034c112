package mcp

import (
	"fmt"
	"time"

	"github.com/adze-agent/adze/internal/text/clip"
)

// waitsAfter is how long a call takes before it says that it waits, and again.
const waitsAfter = 10 * time.Second

// unread returns what says why nothing of what a program prints from now on may be an answer, "" where there is no reason to think so:
// a message has to be one line of its own (MCP 2025-11-25, transports, stdio).
func (l *link) unread() (why func() string) {
	if l.wire == nil {
		return func() string { return "" }
	}
	before := l.wire.aside.Load()
	return func() string {
		if n := l.wire.aside.Load() - before; n > 0 {
			verb := "are no messages"
			if n == 1 {
				verb = "is no message"
			}
			return fmt.Sprintf("it printed %s that %s: each message has to be one line", clip.Count(int(n), "line"), verb)
		}
		if n := l.wire.rest.Load(); n > 0 {
			return fmt.Sprintf("it printed %s without the line break that ends a message", clip.Count(int(n), "byte"))
		}
		return ""
	}
}

// sayThatItWaits tells the person who watches a call that it takes long, again and again until it is over.
func (l *link) sayThatItWaits(c *call, since time.Time, unread func() string) {
	text, why := "waiting for the MCP server "+line(l.s.conf.Name, 100)+" for "+clip.Span(time.Since(since).Round(time.Second)), unread()
	if why != "" {
		text += "; " + why
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	if c.paused == 0 { // else it waits for something else
		if why != "" && !l.waited.Swap(true) {
			for _, v := range l.s.users() {
				v.conf.Waits(l.s.conf.Name, why)
			}
		}
		if c.tell != nil {
			c.tell(text)
		}
	}
	time.AfterFunc(waitsAfter, func() { l.sayThatItWaits(c, since, unread) })
}
