package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// A Reply puts a message together from deltas and yields the chunks: deltas at
// once, each PartDone as soon as its part and all before it are complete, and
// Finished at the end. It repairs missing and repeated call ids, so that no
// two calls of a conversation share one, and names of tools with something around them.
type Reply struct {
	from    string
	history int // messages
	past    Past
	names   toolNames
	ids     []string // of its calls
	slots   []*Slot
	handed  int
	calls   int
	refused bool
	why     string // see llm.Finished.Why
	ended   bool
}

// NewReply returns an empty reply to r, whose opaque tokens belong to from. past
// is of its messages.
func NewReply(r llm.Request, past Past, from string) *Reply {
	return &Reply{from: from, history: len(r.Messages), past: past, names: namesOf(r, past)}
}

// A Slot is a part that is being written.
type Slot struct {
	r      *Reply
	kind   slotKind
	text   Text
	id     string
	name   string
	Opaque json.RawMessage // set before Close
	held   bool            // complete, but kept back; see Close
	closed bool
	part   llm.Part // nil: an empty part that is left out
}

// What an empty part and a call count for besides their bytes: a reply has at
// most about a thousand calls.
const (
	slotSize = 512
	callSize = 8 << 10
)

type slotKind int

const (
	textSlot slotKind = iota
	thinkingSlot
	callSlot
)

func (r *Reply) open(k slotKind, out *Out) *Slot {
	if last := r.Last(); last != nil && last.held {
		last.finish("", out)
		r.hand(out)
	}
	s := &Slot{r: r, kind: k}
	out.thinks(k == thinkingSlot)
	r.slots = append(r.slots, s)
	out.Keep(slotSize)
	if k == callSlot {
		out.Keep(callSize)
	}
	return s
}

// Text opens a text part.
func (r *Reply) Text(out *Out) *Slot { return r.open(textSlot, out) }

// Thinking opens a reasoning part.
func (r *Reply) Thinking(out *Out) *Slot { return r.open(thinkingSlot, out) }

// Call opens a tool call. An empty or taken id is replaced.
func (r *Reply) Call(id, name string, out *Out) *Slot {
	s := r.open(callSlot, out)
	s.id, s.name = r.unique(id), r.names.real(name)
	return s
}

// Last is the slot opened last, or nil.
func (r *Reply) Last() *Slot {
	if len(r.slots) == 0 {
		return nil
	}
	return r.slots[len(r.slots)-1]
}

// Single reports whether the reply has one part so far.
func (r *Reply) Single() bool { return len(r.slots) == 1 }

// Thought says that the only part, which is an open text, is reasoning: all of it that
// counts is text.
func (r *Reply) Thought(text string, out *Out) {
	r.slots = r.slots[:0]
	out.Put(llm.Recast{})
	s := r.Thinking(out)
	s.Add(text, out)
	s.Close(out)
}

// Refuse makes the reply end as refused, whatever the stream says later.
func (r *Reply) Refuse() { r.refused = true }

// RefuseFor is Refuse with the provider's own name for why.
func (r *Reply) RefuseFor(why string) { r.refused, r.why = true, clean(why, 300) }

func (r *Reply) unique(id string) string {
	n := r.calls
	r.calls++
	if id == "" {
		id = "call_" + strconv.Itoa(r.history) + "_" + strconv.Itoa(n)
	}
	base := id
	for i := 2; r.used(id); i++ {
		id = base + "_" + strconv.Itoa(i)
	}
	r.ids = append(r.ids, id)
	return id
}

// used reports whether a call of the history or of this reply has an id.
func (r *Reply) used(id string) bool { return slices.Contains(r.ids, id) || r.past.called(id) }

// IsText reports whether the slot is an open text part.
func (s *Slot) IsText() bool { return s != nil && s.kind == textSlot && !s.closed }

// IsThinking reports whether the slot is an open reasoning part.
func (s *Slot) IsThinking() bool { return s != nil && s.kind == thinkingSlot && !s.closed }

// SetName names a call whose name came late.
func (s *Slot) SetName(name string) {
	if s.name == "" {
		s.name = s.r.names.real(name)
	}
}

// JSON adds the raw inside of a JSON string.
func (s *Slot) JSON(raw []byte, out *Out) {
	if out.Keep(len(raw)) {
		s.delta(s.text.AddJSON(raw), out)
	}
}

// Add adds plain text.
func (s *Slot) Add(text string, out *Out) {
	if out.Keep(len(text)) {
		s.delta(s.text.Add(text), out)
	}
}

// Len is how many bytes the part has so far.
func (s *Slot) Len() int { return s.text.Len() }

// String is what the part has so far.
func (s *Slot) String() string { return s.text.String() }

func (s *Slot) delta(d string, out *Out) {
	if d == "" || s.closed { // what comes after the end of a part is not part of it
		return
	}
	switch s.kind {
	case textSlot:
		out.Put(llm.TextDelta{S: d})
	case thinkingSlot:
		out.Put(llm.ThinkingDelta{S: d})
	case callSlot:
		if s.name != Dispatcher { // whose input is not that of the call; see finish
			out.Put(llm.ToolInputDelta{ID: s.id, Name: s.name, S: d})
		}
	}
}

// Close completes the part and hands over what is due. A call whose input is
// missing or broken is kept back until the stream says why the reply ended,
// because it may have been cut off by the output limit.
func (s *Slot) Close(out *Out) {
	if s.closed {
		return
	}
	s.delta(s.text.Close(), out)
	if s.kind == callSlot && s == s.r.Last() && !s.r.ended {
		if _, bad := Input(s.text.String()); bad != "" || s.text.Len() == 0 {
			s.held = true
			return
		}
	}
	if s.kind == thinkingSlot && s == s.r.Last() {
		out.thinks(false)
	}
	s.finish("", out)
	s.r.hand(out)
}

func (s *Slot) finish(bad string, out *Out) {
	s.closed = true
	switch s.kind {
	case textSlot:
		if s.text.Len() > 0 {
			text := llm.Text{S: s.text.String(), Opaque: s.Opaque}
			if len(s.Opaque) > 0 {
				text.From = s.r.from
			}
			s.part = text
		}
	case thinkingSlot:
		if s.text.Len() > 0 || len(s.Opaque) > 0 {
			s.part = llm.Thinking{S: s.text.String(), Opaque: s.Opaque, From: s.r.from}
		}
	case callSlot:
		use := llm.ToolUse{ID: s.id, Name: s.name, Opaque: s.Opaque}
		if len(s.Opaque) > 0 {
			use.From = s.r.from
		}
		use.Input, use.Bad = Input(s.text.String())
		if bad != "" && (use.Bad != "" || s.text.Len() == 0) {
			use.Input, use.Bad = quote(s.text.String()), bad
		}
		if use.Name == Dispatcher {
			use = direct(use)
			if use.Name = s.r.names.real(use.Name); use.Bad == "" {
				out.Put(llm.ToolInputDelta{ID: use.ID, Name: use.Name, S: string(use.Input)})
			}
		}
		s.part = use
	}
}

// hand yields PartDone for every finished part that has none before it open.
func (r *Reply) hand(out *Out) {
	for r.handed < len(r.slots) && r.slots[r.handed].closed {
		if p := r.slots[r.handed].part; p != nil {
			out.Put(llm.PartDone{Part: p})
		}
		r.handed++
	}
}

// CloseProse closes the text or reasoning part that is open last.
func (r *Reply) CloseProse(out *Out) {
	if s := r.Last(); s != nil && s.kind != callSlot {
		s.Close(out)
	}
}

// Finish closes what is open and yields Finished. A stop that does not fit
// the parts is corrected.
func (r *Reply) Finish(stop llm.Stop, u llm.Usage, model, id string, out *Out) {
	r.ended = true
	bad := ""
	if stop == llm.MaxTokens || stop == llm.WindowFull {
		bad = llm.CutCall
	}
	msg := llm.Message{Role: llm.Assistant}
	hasCall := false
	for _, s := range r.slots {
		if !s.closed {
			s.delta(s.text.Close(), out)
			s.finish(bad, out)
		}
		if s.part != nil {
			msg.Parts = append(msg.Parts, s.part)
			hasCall = hasCall || s.kind == callSlot
		}
	}
	r.hand(out)
	switch {
	case r.refused:
		stop = llm.Refused
	case stop == llm.WantTools && !hasCall:
		stop = llm.EndTurn
	case (stop == llm.EndTurn || stop == "") && hasCall:
		stop = llm.WantTools
	case stop == "":
		stop = llm.EndTurn
	}
	out.Put(llm.Finished{Message: msg, Stop: stop, Usage: u.Bounded(), Model: model, ID: id, Why: r.why})
}

// Input turns the text a model wrote as a call's input into a JSON value.
// Nothing at all is an empty object, and control characters within strings are written as
// JSON wants them: local models leave line breaks as they are. A string that holds an object
// is that object: no tool takes a string. What is not JSON becomes a JSON string, and bad says
// what is wrong.
func Input(text string) (in json.RawMessage, bad string) {
	raw := bytes.TrimSpace([]byte(text))
	if len(raw) == 0 {
		return json.RawMessage("{}"), ""
	}
	raw = repairHalves(raw)
	var v json.RawMessage
	err := json.Unmarshal(raw, &v)
	if err != nil {
		if raw = escapeControls(raw); json.Unmarshal(raw, &v) != nil {
			return quote(text), fmt.Sprintf("the input is not valid JSON: %v", err)
		}
	}
	var inner string
	if raw[0] == '"' && json.Unmarshal(raw, &inner) == nil {
		if in, bad := Input(inner); bad == "" && strings.TrimSpace(inner) != "" && in[0] == '{' {
			return in, ""
		}
	}
	return raw, ""
}

func quote(s string) json.RawMessage { return AppendString(nil, s) }

// escapeControls is raw with the control characters within its strings escaped.
func escapeControls(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+16)
	within := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			within = !within
			out = append(out, c)
		case c == '\\' && within && i+1 < len(raw) && raw[i+1] >= ' ':
			out = append(out, c, raw[i+1])
			i++
		case c == '\\' && within: // before a line break, as a shell has it
			out = append(out, c, c)
		case c < ' ' && within:
			quoted := AppendString(nil, string(rune(c)))
			out = append(out, quoted[1:len(quoted)-1]...)
		default:
			out = append(out, c)
		}
	}
	return out
}

// repairHalves replaces \u escapes of lone surrogates, which some readers
// refuse, with \ufffd. The result is a copy only when something changed.
func repairHalves(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if raw[i+1] != 'u' {
			i++
			continue
		}
		r, ok := hex4(raw[i+2:])
		if !ok || r < 0xD800 || r > 0xDFFF {
			i++
			continue
		}
		if r < 0xDC00 && i+8 <= len(raw) && raw[i+6] == '\\' && raw[i+7] == 'u' {
			if lo, ok := hex4(raw[i+8:]); ok && lo >= 0xDC00 && lo <= 0xDFFF {
				i += 11
				continue
			}
		}
		copy(raw[i+2:], "fffd")
		i += 5
	}
	return raw
}
