package transcript

import (
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// LeftOut stands for a turn that the provider refused.
const LeftOut = "[what was asked here, and what was done about it, is left out: the provider refused to go on with it]"

// refused takes the turn that began at an event out of what is sent: a
// provider refuses everything that comes after what it refused once. What
// came of it outside of the conversation stays as it is.
func (c conversation) refused(seq, began event.Seq, b event.Replied) conversation {
	c = c.closeRound(seq)
	var calls []string
	for _, p := range b.Message.Parts {
		if u, ok := p.(llm.ToolUse); ok {
			calls = append(calls, u.ID)
		}
	}
	c = c.dropped(calls)
	if len(c.tail.items) > 0 {
		c.done = c.done.push(c.tailEntry())
	}
	c.gauge = c.gauge.request(b.Usage)
	all := c.done.appendTo(nil)
	keep := 0 // messages, up to the last reply before the turn
	for i, e := range all {
		if e.Role == llm.Assistant && e.From[len(e.From)-1] < began {
			keep = i + 1
		}
	}
	c.done, c.tail, c.from = rope[Entry]{}, list[llm.Part]{}, list[event.Seq]{}
	for _, e := range all[:keep] {
		c.done = c.done.push(e)
	}
	for _, e := range all[keep:] {
		for _, p := range e.Parts {
			c.gauge.Bytes -= size(p)
		}
	}
	if keep < len(all) { // the results of that reply's calls, and what the conversation begins with
		e := all[keep]
		for i, p := range e.Parts {
			if _, answer := p.(llm.ToolResult); answer || e.From[i] == c.boundary && c.boundary > 0 {
				c = c.add(e.From[i], p)
			}
		}
	}
	c.gauge.cut, c.partial = true, true
	return c.add(seq, llm.Text{S: LeftOut})
}
