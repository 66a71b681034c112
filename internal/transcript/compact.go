package transcript

import (
	"slices"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// compacted carries out a boundary, or takes one back.
func (s State) compacted(e event.Event, b event.Compacted) State {
	seq := e.Seq
	if b.Left*10 > b.Tokens*9 && b.Undo == 0 {
		s.Failed, s.FailedAt, s.FailedBy = s.Failed+1, e.Time, ""
	} else {
		s.Failed = 0
	}
	if b.Record != "" {
		s.Records = append(slices.Clip(s.Records), b.Record)
		s.Records = s.Records[max(0, len(s.Records)-maxRecords):]
	}
	s.Warned = false
	if b.Trigger == event.CausePlan {
		s.Plan = b.Text
	}
	switch {
	case b.Undo > 0:
		s.talk = s.talk.replaced(seq, b.Messages, b.Origin)
	case b.Before == 0 && b.From == 0:
		s.talk = s.talk.restarted(seq, b.Text)
	default:
		s.talk = s.talk.shortened(seq, b)
	}
	if b.Left > 0 {
		s.talk.gauge.Tokens, s.talk.gauge.At = b.Left, s.talk.gauge.Bytes
	}
	return s
}

// shortened keeps what came before and after what a text stands for.
func (c conversation) shortened(seq event.Seq, b event.Compacted) conversation {
	c = c.closeRound(seq)
	next := c.emptied(seq)
	next.words = c.words
	es := c.entries()
	for _, e := range Keep(es, func(s event.Seq) bool { return s < b.Before }) {
		next = next.entry(e)
	}
	next = next.input(seq, []llm.Part{llm.Text{S: b.Text}})
	if b.From > 0 {
		for _, e := range Keep(es, func(s event.Seq) bool { return s >= b.From }) {
			next = next.entry(e)
		}
	}
	return next.stillCleared(c).stillTold(c)
}

// replaced is a conversation of these messages. Of a round that is open nothing comes over.
func (c conversation) replaced(seq event.Seq, ms []llm.Message, o event.Origin) conversation {
	es, boundary := broughtBack(seq, ms, o)
	next := c.emptied(boundary)
	next.words = c.words
	for _, e := range es {
		next = next.entry(e)
	}
	return next.stillCleared(c).stillTold(c)
}

// emptied is a conversation that begins with an event. What was measured of the
// model's way to count stays.
func (c conversation) emptied(seq event.Seq) conversation {
	return conversation{
		gone: c.gone, stripped: c.stripped, partial: c.partial, boundary: seq,
		gauge: Gauge{GrownTokens: c.gauge.GrownTokens, GrownBytes: c.gauge.GrownBytes, cut: true},
	}
}

// entry adds a message as it is.
func (c conversation) entry(e Entry) conversation {
	if e.Role == llm.Assistant {
		return c.push(e.From[0], e.Parts)
	}
	for i, p := range e.Parts {
		c = c.add(e.From[i], p)
	}
	return c
}

// stillCleared knows again which of the results that are left were cleared.
func (c conversation) stillCleared(was conversation) conversation {
	for _, e := range c.entries() {
		for _, id := range callsOf(e.Message) {
			if _, ok := was.cleared.get(id); ok {
				c.cleared = c.cleared.set(id, struct{}{})
			}
		}
	}
	return c
}

// Keep is the part of a conversation from the events that want names. A reply is
// kept or not as a whole, and with it the results of its calls, which may have
// come before it.
func Keep(es []Entry, want func(event.Seq) bool) (out []Entry) {
	reply := false
	for _, e := range es {
		if e.Role == llm.Assistant {
			if reply = want(e.From[0]); reply {
				out = append(out, e)
			}
			continue
		}
		kept := Entry{Message: llm.Message{Role: e.Role}}
		for i, p := range e.Parts {
			_, result := p.(llm.ToolResult)
			if result && reply || !result && want(e.From[i]) {
				kept.Parts, kept.From = append(kept.Parts, p), append(kept.From, e.From[i])
			}
		}
		if len(kept.Parts) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

// saw notes files that the model knows now.
func (s State) saw(files []effect.File) State {
	for _, f := range files {
		s.files = s.files.set(f.Path, f)
		if n := len(s.Recent); n > 0 && s.Recent[n-1] == f.Path {
			continue
		}
		recent := make([]string, 0, maxRecent)
		for _, p := range s.Recent {
			if p != f.Path {
				recent = append(recent, p)
			}
		}
		if len(recent) == maxRecent {
			recent = recent[1:]
		}
		s.Recent = append(recent, f.Path)
	}
	return s
}

// touched notes files that a call changed.
func (s State) touched(files []effect.Change) State {
	for _, f := range files {
		if len(s.Changed) < maxChanged && !slices.Contains(s.Changed, f.Path) {
			s.Changed = append(slices.Clip(s.Changed), f.Path)
		}
	}
	return s
}

// said adds a prompt to those that are kept.
func said(list []Said, p Said) []Said {
	list = append(slices.Clip(list), p)
	bytes := 0
	for _, x := range list {
		bytes += len(x.Text)
	}
	for len(list) > 2 && (bytes > maxSaid || len(list) > maxSaids) {
		bytes -= len(list[1].Text)
		list = slices.Delete(list, 1, 2)
	}
	return list
}

// taken are the prompts when a person went back. What a rewind took out that the
// trail does not have any more stays out.
func taken(list []Said, seq event.Seq, trail event.Trail) []Said {
	list = slices.Clone(list)
	for i, p := range list {
		switch there := trail.There(p.Seq); {
		case there && p.Gone > 0 && (len(trail) == 0 || p.Gone < trail[0].Seq):
		case there:
			list[i].Gone = 0
		case p.Gone == 0:
			list[i].Gone = seq
		}
	}
	return list
}

// Prompts are the prompts of a person that stand in the conversation, oldest first.
func (s State) Prompts() (out []Said) {
	es := s.Entries()
	for _, p := range s.Said {
		if p.Gone == 0 && slices.ContainsFunc(es, func(e Entry) bool { return slices.Contains(e.From, p.Seq) }) {
			out = append(out, p)
		}
	}
	return out
}
