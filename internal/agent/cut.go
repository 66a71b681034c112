package agent

import (
	"fmt"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
)

// cut counts the calls of the reply that the output limit cut off.
func (c *calls) cut() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.list {
		if k.use.Bad == llm.CutCall {
			n++
		}
	}
	return n
}

// holdBack keeps the calls of the reply from starting, unless one has started
// that does more than look: such a reply must not be asked for a second time.
func (c *calls) holdBack() (held bool) {
	c.shift(func() {
		held = true
		for _, k := range c.list {
			held = held && (!k.started || k.parallel)
		}
		c.halted = held
	})
	return held
}

// cutText is what the model reads in place of the result of such a call.
func cutText(most int) string {
	limit := "the output limit of a reply"
	if most > 0 {
		limit = fmt.Sprintf("the output limit of %s tokens for one reply", clip.Thousands(most))
	}
	return "This call did not run: its arguments were cut off by " + limit + ". The same call would be cut off again. Work in smaller pieces: " +
		"write the first part of a long file, then add the next parts with further calls, one for each reply."
}
