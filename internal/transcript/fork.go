package transcript

import (
	"slices"

	"github.com/adze-agent/adze/internal/llm"
)

// Fork is the state that a fork of the conversation begins with, which a call of the newest
// reply wants. Every call of that reply has the result text, also one that has ended: so all
// forks of a reply begin with the same messages. What the session did and cost, and what it
// has open, is none of the fork's. ok is false when no such call is open.
func (s State) Fork(call, text string) (_ State, ok bool) {
	if !slices.ContainsFunc(s.talk.round, func(x slot) bool { return x.use.ID == call && !x.done }) {
		return s, false
	}
	c := s.talk
	c.round = slices.Clone(c.round)
	for i, x := range c.round {
		c.round[i] = slot{x.use, llm.ToolResult{ID: x.use.ID, Text: text}, s.Seq, true}
	}
	c.early, c.gone, c.words, c.declined = nil, nil, nil, 0
	return State{
		Start: s.Start, Root: s.Root, Dir: s.Dir, Seq: s.Seq, Time: s.Time, Situation: s.Situation, Model: s.Model, Mode: s.Mode,
		Gone: s.Gone, Listed: s.Listed, Loaded: s.Loaded, Plan: s.Plan, Changed: s.Changed, Recent: s.Recent, Records: s.Records,
		Warned: s.Warned, Answered: s.Answered, Cache: s.Cache, Exports: s.Exports, Skills: s.Skills,
		files: s.files, talk: c.closeRound(s.Seq),
	}, true
}
