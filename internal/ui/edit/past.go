package edit

import "slices"

// past is a walk through the history. The zero past is at the prompt itself.
type past struct {
	i     int           // how far back; 0 is what is being written
	kept  map[int]draft // what is being written, and entries that were changed
	clean []rune        // the entry as it came
}

func (p *past) leave() { *p = past{} }

// Older shows the prompt before; what is being written is kept.
func (e *Editor) Older() Result {
	if e.past.i == 0 || e.t.len() > 0 {
		return e.recall(1)
	}
	// What was recalled was cleared, so another walk begins; what was being written
	// before is still where it ends.
	first := e.past.kept[0]
	e.past.leave()
	out := e.recall(1)
	if out == Changed {
		e.past.kept[0] = first
	}
	return out
}

// Recalled reports whether the text is one of the history as it came.
func (e *Editor) Recalled() bool { return e.past.i > 0 && slices.Equal(e.past.clean, e.t.r) }

// Newer goes the other way, back to what is being written at last.
func (e *Editor) Newer() Result {
	if e.past.i == 0 {
		return Ignored
	}
	return e.recall(-1)
}

// recall goes a step back, or forward with -1.
func (e *Editor) recall(step int) Result {
	p := &e.past
	if e.o.Past == nil {
		return Ignored
	}
	if p.i == 0 {
		e.o.Past.Renew()
	}
	for i := p.i + step; i >= 0; i += step {
		entry, ok := p.kept[i]
		if !ok {
			h, found := e.o.Past.Entry(i - 1)
			if !found {
				return Ignored
			}
			if e.o.Skip != nil && e.o.Skip(h) {
				continue
			}
			rs := e.t.fromEntry(h)
			entry = draft{r: rs, at: len(rs)}
		}
		if p.kept == nil {
			p.kept = map[int]draft{}
		}
		if p.i == 0 || !slices.Equal(p.clean, e.t.r) {
			p.kept[p.i] = e.draft()
		}
		e.show(entry)
		p.i, p.clean = i, entry.r
		return Changed
	}
	return Ignored
}
