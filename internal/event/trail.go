package event

import "slices"

// A Trail is the rewinds of a session, in order. Of those that a reader did not
// see, it says nothing. Trails share no memory that With writes to.
type Trail []Step

// A Step is a rewind, without what it put back.
type Step struct {
	Seq, To      Seq
	Undo         bool `json:",omitempty"`
	Conversation bool `json:",omitempty"`
	Code         bool `json:",omitempty"`
	Dropped      int  `json:",omitempty"`
}

// With adds an event that may be a rewind.
func (t Trail) With(e Event) Trail {
	b, ok := e.Body.(Rewound)
	if !ok || b.To >= e.Seq || b.Cut != "" && len(b.Changes) == 0 {
		return t
	}
	return append(slices.Clip(t), Step{e.Seq, b.To, b.Undo, b.Conversation, b.Code, b.Dropped})
}

// There reports whether what an event brought into the conversation is still in
// it, as far as rewinds go.
func (t Trail) There(s Seq) bool {
	for end := len(t) - 1; end >= 0; end-- {
		r := t[end]
		switch {
		case r.Seq <= s:
			return true
		case !r.Conversation:
			continue
		case r.To <= s:
			return false
		}
		// the conversation is what it was before r.To
		for end > 0 && t[end-1].Seq >= r.To {
			end--
		}
	}
	return true
}

// Undoable is the rewind that the next undo takes back. An undo that dropped
// prompts can be taken back itself. One that took back only a part of a rewind
// leaves the rest to the next.
func (t Trail) Undoable() (Step, bool) {
	var open []Step
	before := map[Seq][]Step{}
	for _, r := range t {
		before[r.Seq] = slices.Clone(open)
		i := slices.IndexFunc(t, func(o Step) bool { return r.Undo && o.Seq == r.To })
		if i >= 0 && (r.Conversation || !t[i].Conversation) && (r.Code || !t[i].Code) {
			open = slices.Clone(before[r.To])
		}
		if !r.Undo || r.Dropped > 0 {
			open = append(open, r)
		}
	}
	if len(open) == 0 {
		return Step{}, false
	}
	return open[len(open)-1], true
}
