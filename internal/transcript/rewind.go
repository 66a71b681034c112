package transcript

import (
	"slices"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/tasklist"
)

// rewound goes back to what was before an event. A rewind of files alone
// changes nothing of the conversation; the model is told of it.
func (s State) rewound(seq event.Seq, b event.Rewound) State {
	s.Trail = s.Trail.With(event.Event{Seq: seq, Body: b})
	s.Trail = s.Trail[max(0, len(s.Trail)-maxTrail):]
	if !b.Conversation {
		return s
	}
	s.Cache = s.Cache.changed(CacheRewound)
	was := s.talk.loads()
	s.talk = s.talk.back(seq, b)
	now := s.talk.loads()
	s.Loaded = loaded(slices.DeleteFunc(slices.Clone(s.Loaded), func(l llm.Spec) bool { return named(was, l) && !named(now, l) }), now)
	s.Tasks, s.Dir, s.Last = b.Tasks, b.Dir, b.Last
	s.List = tasklist.List{Tasks: b.List.Tasks, Last: s.List.Last} // no ID is used again
	if b.To <= s.Noted {                                           // they tell of what is not so any more
		s.Noted = 0
	}
	if s.Goal != nil && b.To <= max(s.Goal.Since, s.Goal.From) { // it was not set then
		s.Goal = nil
	}
	s.Said = taken(s.Said, seq, s.Trail)
	s.files = trie[effect.File]{}
	for _, f := range b.Seen {
		s.files = s.files.set(f.Path, f)
	}
	return s
}

// loads are the tools that results in the conversation loaded.
func (c conversation) loads() (out []llm.Spec) {
	for _, e := range c.entries() {
		for _, p := range e.Parts {
			if res, ok := p.(llm.ToolResult); ok {
				out = append(out, res.Loaded...)
			}
		}
	}
	return out
}

func named(list []llm.Spec, s llm.Spec) bool {
	return slices.ContainsFunc(list, func(l llm.Spec) bool { return l.Name == s.Name })
}

// back takes what came from b.To on out of the conversation, or replaces it by
// b.Messages, when what is to come back is not there any more.
func (c conversation) back(seq event.Seq, b event.Rewound) conversation {
	c = c.closeRound(seq)
	next := conversation{
		gone: c.gone, cleared: c.cleared, stripped: c.stripped, partial: c.partial, declined: c.declined, boundary: c.boundary,
		gauge: Gauge{GrownTokens: c.gauge.GrownTokens, GrownBytes: c.gauge.GrownBytes, cut: true},
	}
	var es []Entry
	if b.Messages != nil {
		es, next.boundary = broughtBack(seq, b.Messages, b.Origin)
	} else {
		es = before(c.entries(), b.To)
	}
	for _, w := range c.words {
		if w < b.To {
			next.words = append(next.words, w)
		}
	}
	for i, e := range es {
		if e.Role == llm.User && i == len(es)-1 {
			for j, p := range e.Parts {
				next = next.add(e.From[j], p)
			}
			break
		}
		for _, p := range e.Parts {
			next.gauge.Bytes += Size(p)
		}
		next.done = next.done.push(e)
	}
	next.gauge.Tokens, next.gauge.At = b.Tokens, next.gauge.Bytes
	return next.stillTold(c)
}

// before are the parts that come from events before to. The results of a reply
// stay with it.
func before(es []Entry, to event.Seq) (out []Entry) {
	for _, e := range es {
		var kept Entry
		kept.Role = e.Role
		for i, p := range e.Parts {
			if _, result := p.(llm.ToolResult); e.From[i] < to || result && len(out) > 0 {
				kept.Parts, kept.From = append(kept.Parts, p), append(kept.From, e.From[i])
			}
		}
		if len(kept.Parts) > 0 {
			out = append(out, kept)
		}
		if len(kept.Parts) < len(e.Parts) || len(kept.Parts) == 0 {
			break
		}
	}
	return out
}

// broughtBack are messages that an event brings back, and the boundary that is
// in force in them. Where nobody noted what they come from, that is the event.
func broughtBack(seq event.Seq, ms []llm.Message, o event.Origin) (es []Entry, boundary event.Seq) {
	noted := len(o.Parts) == len(ms)
	for i, m := range ms {
		noted = noted && len(o.Parts[i]) == len(m.Parts)
	}
	for i, m := range ms {
		from := slices.Repeat([]event.Seq{seq}, len(m.Parts))
		if noted {
			from = o.Parts[i]
		}
		es = append(es, Entry{m, from})
	}
	if !noted {
		return es, seq
	}
	return es, o.Boundary
}

// Origin says where the conversation comes from, for an event that brings it
// back.
func (s State) Origin() event.Origin {
	o := event.Origin{Boundary: s.Boundary()}
	for _, e := range s.Entries() {
		o.Parts = append(o.Parts, e.From)
	}
	return o
}
