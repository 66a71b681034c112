package transcript

import (
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// Texts that stand for what is not sent to a provider again.
const (
	LeftOut    = "[what was asked here is left out: the provider refused to go on with it]"
	AllLeftOut = "[what was asked here, and what was done about it, is left out: the provider refused to go on with it]"
	Refused    = "[here the provider refused to go on]"
)

// refused takes the reply that a provider refused to end, and what people said
// in the turn that began at an event, out of what is sent: a provider refuses
// everything that comes after what it refused once. What it had answered by
// then, and what calls came to, stays. When the next reply is refused, too,
// that was not enough, and all of it goes, back to the first of these turns.
func (c conversation) refused(seq, began event.Seq, b event.Replied) conversation {
	c = c.closeRound(seq)
	ran := c.early
	c = c.dropped(callsOf(b.Message))
	if len(c.tail.items) > 0 {
		c.done = c.done.push(c.tailEntry())
	}
	c.gauge = c.gauge.request(b.Usage)
	c.gauge.cut, c.partial = true, true
	again := c.declined > 0
	if !again {
		c.declined = began
	}
	all := c.done.appendTo(nil)
	keep := 0 // messages, up to the last reply before the turn
	for i, e := range all {
		if e.Role == llm.Assistant && e.From[len(e.From)-1] < c.declined {
			keep = i + 1
		}
	}
	c.done, c.tail, c.from = rope[Entry]{}, list[llm.Part]{}, list[event.Seq]{}
	for _, e := range all[:keep] {
		c.done = c.done.push(e)
	}
	for _, e := range all[keep:] {
		for _, p := range e.Parts {
			c.gauge.Bytes -= Size(p)
		}
	}
	if again {
		return c.withoutAll(seq, all[keep:])
	}
	return c.withoutWords(seq, all[keep:], ran)
}

func callsOf(m llm.Message) (ids []string) {
	for _, p := range m.Parts {
		if u, ok := p.(llm.ToolUse); ok {
			ids = append(ids, u.ID)
		}
	}
	return ids
}

// withoutAll keeps of these messages what the conversation needs: the results
// of the reply before them, and what it begins with.
func (c conversation) withoutAll(seq event.Seq, es []Entry) conversation {
	if len(es) > 0 {
		for i, p := range es[0].Parts {
			if _, answer := p.(llm.ToolResult); answer || es[0].From[i] == c.boundary && c.boundary > 0 {
				c = c.add(es[0].From[i], p)
			}
		}
	}
	return c.add(seq, llm.Text{S: AllLeftOut})
}

// withoutWords keeps these messages without what people said in them. ran are
// results of calls of the refused reply, which itself is gone.
func (c conversation) withoutWords(seq event.Seq, es []Entry, ran []result) conversation {
	told := false
	for i, e := range es {
		if e.Role == llm.Assistant {
			c = c.push(e.From[0], e.Parts)
			continue
		}
		for j, p := range e.Parts {
			switch _, answer := p.(llm.ToolResult); {
			case answer || !slices.Contains(c.words, e.From[j]):
				c = c.add(e.From[j], p)
			case !told:
				told = true
				c = c.add(e.From[j], llm.Text{S: LeftOut})
			case len(e.Parts) == 1 && i < len(es)-1: // no message is empty
				c = c.add(e.From[j], llm.Text{S: LeftOut})
			}
		}
	}
	for _, r := range ran {
		c = c.add(r.seq, llm.Text{S: "[a call had run before: " + r.Text + "]"})
	}
	if !told || len(es) > 1 || len(ran) > 0 {
		c = c.add(seq, llm.Text{S: Refused})
	}
	return c
}

// said notes that an event holds the words of a person.
func (c conversation) said(seq event.Seq) conversation {
	c.words = append(slices.Clip(c.words), seq)
	return c
}

// unanswered are the words that no reply has come to.
func (c conversation) unanswered() []event.Seq {
	var out []event.Seq
	for _, seq := range c.words {
		if slices.Contains(c.from.items, seq) || slices.ContainsFunc(c.held, func(in input) bool { return in.seq == seq }) {
			out = append(out, seq)
		}
	}
	return out
}
