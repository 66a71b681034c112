package transcript

import (
	"fmt"
	"maps"
	"slices"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// Version is of the stored form of a State and of what Apply makes of events:
// it rises with every change of either, so that no state of another version
// is gone on from.
const Version = 28

// The stored form of a State has a field for each of its fields; a test holds
// it to that. Fields of events and parts are stored as the log stores them.
type (
	stateFields State

	storedState struct {
		stateFields
		Pending []fastjson.Raw `json:"pending,omitempty"` // lines of event.Asked
		Files   []effect.File  `json:"files,omitempty"`
		Talk    storedTalk     `json:"talk"`
	}
	storedTalk struct {
		Done     []storedEntry  `json:"done,omitempty"`
		Tail     storedEntry    `json:"tail"`
		Round    []storedSlot   `json:"round,omitempty"`
		Held     []storedEntry  `json:"held,omitempty"`
		Early    []storedResult `json:"early,omitempty"`
		Gone     []string       `json:"gone,omitempty"`
		Cleared  []string       `json:"cleared,omitempty"`
		Stripped event.Seq      `json:"stripped,omitempty"`
		Partial  bool           `json:"partial,omitempty"`
		Declined event.Seq      `json:"declined,omitempty"`
		Words    []event.Seq    `json:"words,omitempty"`
		Boundary event.Seq      `json:"boundary,omitempty"`
		Told     []telling      `json:"told,omitempty"`
		Gauge    storedGauge    `json:"gauge"`
	}
	storedEntry struct {
		Message llm.Stored  `json:"message"`
		From    []event.Seq `json:"from,omitempty"`
	}
	storedSlot struct {
		Parts llm.Stored `json:"parts"` // the call and, when it is done, its result
		Seq   event.Seq  `json:"seq,omitempty"`
		Done  bool       `json:"done,omitempty"`
	}
	storedResult struct {
		Result llm.Stored    `json:"result"`
		Files  []effect.File `json:"files,omitempty"`
		Seq    event.Seq     `json:"seq"`
	}
	storedGauge struct {
		Gauge
		Prompt int  `json:"prompt,omitempty"`
		Sent   int  `json:"sent,omitempty"`
		Cut    bool `json:"cut,omitempty"`
	}
)

// AppendState adds the stored form of a state to dst: one JSON object, the same
// for states that were folded from the same events.
func AppendState(dst []byte, s State) ([]byte, error) {
	w := storedState{stateFields: stateFields(s), Talk: s.talk.stored()}
	w.stateFields.Pending = nil
	for _, a := range sorted(s.Pending) {
		line, err := event.AppendLine(nil, event.Event{Seq: 1, Body: a})
		if err != nil {
			return dst, err
		}
		w.Pending = append(w.Pending, line)
	}
	for _, f := range s.files.all() {
		w.Files = append(w.Files, f)
	}
	return fastjson.Append(dst, w)
}

// ParseState reads what AppendState wrote in the same Version. It keeps nothing
// of raw.
func ParseState(raw []byte) (State, error) {
	var w storedState
	if err := fastjson.Unmarshal(raw, &w); err != nil {
		return State{}, fmt.Errorf("read a stored state: %w", err)
	}
	s := State(w.stateFields)
	for _, line := range w.Pending {
		e, err := event.ParseLine(line)
		a, ok := e.Body.(event.Asked)
		if err != nil || !ok {
			return State{}, fmt.Errorf("read a stored state: a question is a %T: %w", e.Body, err)
		}
		s.Pending = with(s.Pending, a.Call, a)
	}
	for _, f := range w.Files {
		s.files = s.files.set(f.Path, f)
	}
	var err error
	s.talk, err = w.Talk.loaded()
	return s, err
}

func (c conversation) stored() storedTalk {
	w := storedTalk{
		Tail: storeEntry(c.tailEntry()), Gone: c.gone, Stripped: c.stripped, Partial: c.partial,
		Declined: c.declined, Words: c.words, Boundary: c.boundary, Told: c.told, Gauge: storedGauge{c.gauge, c.gauge.prompt, c.gauge.sent, c.gauge.cut},
	}
	for _, e := range c.done.appendTo(make([]Entry, 0, c.done.len())) {
		w.Done = append(w.Done, storeEntry(e))
	}
	for _, x := range c.round {
		parts := []llm.Part{x.use}
		if x.done {
			parts = append(parts, x.result)
		}
		w.Round = append(w.Round, storedSlot{storeParts(parts), x.seq, x.done})
	}
	for _, in := range c.held {
		w.Held = append(w.Held, storedEntry{storeParts(in.parts), []event.Seq{in.seq}})
	}
	for _, r := range c.early {
		w.Early = append(w.Early, storedResult{storeParts([]llm.Part{r.ToolResult}), r.Files, r.seq})
	}
	for call := range c.cleared.all() {
		w.Cleared = append(w.Cleared, call)
	}
	return w
}

func storeEntry(e Entry) storedEntry { return storedEntry{e.Stored(), e.From} }

func storeParts(ps []llm.Part) llm.Stored { return llm.Message{Role: llm.User, Parts: ps}.Stored() }

func (w storedTalk) loaded() (conversation, error) {
	g := w.Gauge.Gauge
	g.prompt, g.sent, g.cut = w.Gauge.Prompt, w.Gauge.Sent, w.Gauge.Cut
	c := conversation{
		gone: w.Gone, stripped: w.Stripped, partial: w.Partial, declined: w.Declined, words: w.Words, boundary: w.Boundary, told: w.Told, gauge: g,
	}
	for _, e := range w.Done {
		m := llm.FromStored(e.Message)
		if len(m.Parts) != len(e.From) || len(m.Parts) == 0 {
			return c, fmt.Errorf("read a stored state: a message of %d parts from %d events", len(m.Parts), len(e.From))
		}
		c.done = c.done.push(Entry{m, e.From})
	}
	tail := llm.FromStored(w.Tail.Message).Parts
	if len(tail) != len(w.Tail.From) {
		return c, fmt.Errorf("read a stored state: %d last parts from %d events", len(tail), len(w.Tail.From))
	}
	if len(tail) > 0 {
		c.tail, c.from = newList(tail), newList(w.Tail.From)
	}
	for _, x := range w.Round {
		ps := llm.FromStored(x.Parts).Parts
		s := slot{seq: x.Seq, done: x.Done}
		ok := len(ps) > 0
		if ok {
			s.use, ok = ps[0].(llm.ToolUse)
		}
		if ok && x.Done && len(ps) == 2 {
			s.result, ok = ps[1].(llm.ToolResult)
		}
		if !ok {
			return c, fmt.Errorf("read a stored state: a call is %d parts of another kind", len(ps))
		}
		c.round = append(c.round, s)
	}
	for _, in := range w.Held {
		if len(in.From) != 1 {
			return c, fmt.Errorf("read a stored state: an input from %d events", len(in.From))
		}
		c.held = append(c.held, input{in.From[0], llm.FromStored(in.Message).Parts})
	}
	for _, r := range w.Early {
		ps := llm.FromStored(r.Result).Parts
		if len(ps) != 1 {
			return c, fmt.Errorf("read a stored state: a result is %d parts", len(ps))
		}
		res, ok := ps[0].(llm.ToolResult)
		if !ok {
			return c, fmt.Errorf("read a stored state: a result is a %T", ps[0])
		}
		c.early = append(c.early, result{res, r.Files, r.Seq})
	}
	for _, call := range w.Cleared {
		c.cleared = c.cleared.set(call, struct{}{})
	}
	return c, nil
}

// sorted are the values of a map in the order of its keys.
func sorted[V any](m map[string]V) []V {
	out := make([]V, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}
