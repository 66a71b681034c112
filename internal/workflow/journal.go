package workflow

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
)

// An Entry is a line of a run's journal: a call that was made ("agent"), or what became
// of one ("result"). Lines stand in the order in which it happened.
type Entry struct {
	Type string `json:"type"`
	Key  string `json:"key"`
	Call
	Outcome
	Again bool `json:"again,omitempty"` // it stood in the journal of an earlier run
}

// Line is the line of a journal for what happened, nil for nothing.
func Line(e Event) []byte {
	var x Entry
	switch e := e.(type) {
	case Began:
		x = Entry{Type: "agent", Key: e.Call.key(), Call: e.Call}
	case Ended:
		short := e.Call // what it was asked stands in the line of the call
		short.Prompt, short.Schema = "", nil
		x = Entry{Type: "result", Key: e.Call.key(), Call: short, Outcome: e.Outcome, Again: e.Again}
	case Entered, Said:
		return nil
	}
	out, err := json.Marshal(x)
	if err != nil {
		return nil // its parts are JSON already
	}
	return append(out, '\n')
}

// maxJournal bounds a journal that is read, in bytes.
const maxJournal = 256 << 20

// Journal reads a journal. What a crash left of the last line does not count.
func Journal(r io.Reader) (out []Entry, err error) {
	b := bufio.NewReader(io.LimitReader(r, maxJournal))
	for {
		line, err := b.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return out, err
		}
		var e Entry
		if json.Unmarshal(bytes.TrimSpace(line), &e) == nil {
			out = append(out, e)
		}
	}
}

// key tells calls apart that have another result: by what agents are asked and what
// they are, and not by what people read of it.
func (c Call) key() string {
	c.Index, c.Label, c.Phase, c.Within = 0, "", "", ""
	raw, err := json.Marshal(c)
	if err != nil {
		return "" // matches no key
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:12])
}

// A replay answers calls from a journal: the longest unchanged beginning of the calls that
// came to their end. It answers them in the order in which they ended then, so that a
// script whose calls depend on that makes the same ones again.
type replay struct {
	results map[int]*Entry // by the index of the call
	order   []int          // in which they ended
	live    bool           // a call was another one, and all that follow are made
}

func newReplay(earlier []Entry) replay {
	r := replay{results: map[int]*Entry{}}
	for _, e := range earlier {
		if e.Type != "result" {
			continue
		}
		r.results[e.Index] = &e // the last one of an index counts
		r.order = append(r.order, e.Index)
	}
	return r
}

// of is the result that a call had, nil where it has to be made.
func (r *replay) of(index int, key string) *Entry {
	e := r.results[index]
	if r.live || e == nil || e.Key != key || key == "" || e.Status != Completed || e.Throws {
		r.live = true
		return nil
	}
	return e
}

// next is the call that is to be answered from the journal next, nil for none.
func (r *replay) next(calls []*call) *call {
	for _, i := range r.order {
		if i < len(calls) && calls[i].cached != nil && !calls[i].over {
			return calls[i]
		}
	}
	return nil
}
