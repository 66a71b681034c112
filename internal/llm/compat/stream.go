package compat

import (
	"bytes"
	"encoding/json"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// A decoder follows one event stream.
type decoder struct {
	reply   *wire.Reply
	calls   []openCall
	details []detail
	model   string
	id      string
	usage   llm.Usage
	stop    llm.Stop
	ended   bool // a finish reason was seen
	head    head
}

type openCall struct {
	slot  *wire.Slot
	index int    // -1: the server gave none
	id    string // as the server wrote it
	named int    // fragments with its name: some servers repeat it in each
}

// whole reports whether the input is complete.
func (c openCall) whole() bool { return c.slot.Len() > 0 && json.Valid([]byte(c.slot.String())) }

var done = []byte("[DONE]")

// Event implements wire.Decoder.
func (d *decoder) Event(ev wire.Event, out *wire.Out) (bool, error) {
	data := bytes.TrimSpace(ev.Data)
	if len(data) == 0 {
		return false, nil
	}
	if bytes.Equal(data, done) {
		d.finish(out)
		return true, nil
	}
	s := wire.NewScan(data)
	if !s.Object() {
		return false, wire.ErrGarbage
	}
	answered, complains := false, false
	for k, ok := s.Key(); ok; k, ok = s.Key() {
		switch string(k) {
		case "message", "detail": // an error without a frame around it
			s.Raw()
			complains = true
		case "choices":
			answered = true
			if err := d.choices(&s, out); err != nil {
				return false, err
			}
		case "usage":
			d.count(s.Raw(), out)
		case "x_groq":
			var x struct{ Usage json.RawMessage }
			if json.Unmarshal(s.Raw(), &x) == nil {
				d.count(x.Usage, out)
			}
		case "id":
			if v, ok := s.Str(); ok && d.id == "" {
				d.id = wire.Unquote(v)
				out.Put(llm.Progress{ID: d.id, Model: d.model})
			}
		case "model":
			if v, ok := s.Str(); ok && d.model == "" {
				d.model = wire.Unquote(v)
			}
		case "error":
			if raw := s.Raw(); len(raw) > 0 && string(raw) != "null" {
				return false, wire.ReadFault(data)
			}
		default:
			s.Raw()
		}
	}
	if s.Bad() {
		return false, wire.ErrGarbage
	}
	if complains && !answered {
		return false, wire.ReadFault(data)
	}
	return false, nil
}

// Complete implements wire.Decoder.
func (d *decoder) Complete() bool { return d.ended }

// EOF implements wire.Decoder. Some servers leave out the final [DONE].
func (d *decoder) EOF(out *wire.Out) error {
	if !d.ended {
		return wire.ErrNoEnd
	}
	d.finish(out)
	return nil
}

func (d *decoder) finish(out *wire.Out) {
	d.endHead(out)
	for _, c := range d.calls {
		if c.whole() {
			c.slot.Close(out)
		}
	}
	d.reply.Finish(d.stop, d.usage, d.model, d.id, out)
}

func (d *decoder) choices(s *wire.Scan, out *wire.Out) error {
	if !s.Array() {
		return nil
	}
	for n := 0; s.Elem(); n++ {
		if n > 0 { // only one answer was asked for
			s.Raw()
			continue
		}
		if !s.Object() {
			continue
		}
		for k, ok := s.Key(); ok; k, ok = s.Key() {
			switch string(k) {
			case "delta", "message":
				d.delta(s, out)
			case "finish_reason":
				if v, ok := s.Str(); ok && len(v) > 0 {
					if err := d.end(string(v)); err != nil {
						return err
					}
				}
			case "usage":
				d.count(s.Raw(), out)
			case "error":
				if raw := s.Raw(); len(raw) > 0 && raw[0] == '{' {
					return wire.ReadFault(raw)
				}
			default:
				s.Raw()
			}
		}
	}
	return nil
}

func (d *decoder) end(reason string) error {
	d.ended = true
	switch reason {
	case "stop", "end_turn", "eos", "stop_sequence":
		d.stop = llm.EndTurn
	case "tool_calls", "function_call", "tool_use":
		d.stop = llm.WantTools
	case "model_context_window_exceeded", "context_length_exceeded":
		d.stop = llm.WindowFull
	case "length", "max_tokens", "model_length", "max_output_tokens":
		d.stop = llm.MaxTokens
	case "content_filter", "refusal", "safety", "sensitive":
		d.reply.RefuseFor(reason)
	case "error", "network_error":
		return wire.Fault{Type: "server_error", Message: "the server gave up in the middle of the reply"}
	case "insufficient_system_resource":
		return wire.Fault{Type: "overloaded", Message: "the server ran out of resources in the middle of the reply"}
	}
	return nil
}

// delta is the hot path: one scan, no tree.
func (d *decoder) delta(s *wire.Scan, out *wire.Out) {
	if !s.Object() {
		return
	}
	thought := false
	for k, ok := s.Key(); ok; k, ok = s.Key() {
		switch string(k) {
		case "content":
			d.content(s, out)
		case "reasoning_content", "reasoning", "thinking":
			if v, ok := s.Str(); ok && len(v) > 0 && !thought { // the same words may come under two names
				thought = true
				d.thinking(out).JSON(v, out)
			}
		case "reasoning_details":
			d.addDetails(s.Raw(), out)
		case "refusal":
			if v, ok := s.Str(); ok && len(v) > 0 {
				d.reply.Refuse()
				d.text(out).JSON(v, out)
			}
		case "tool_calls":
			if !s.Array() {
				continue
			}
			for s.Elem() {
				d.call(s, out)
			}
		default:
			s.Raw()
		}
	}
}

func (d *decoder) text(out *wire.Out) *wire.Slot {
	if last := d.reply.Last(); last.IsText() {
		return last
	}
	d.closeThinking(out)
	return d.reply.Text(out)
}

func (d *decoder) thinking(out *wire.Out) *wire.Slot {
	if last := d.reply.Last(); last.IsThinking() {
		return last
	}
	d.reply.CloseProse(out)
	return d.reply.Thinking(out)
}

// closeThinking ends the reasoning that is open; what the server gave to be
// sent back goes with it.
func (d *decoder) closeThinking(out *wire.Out) {
	if last := d.reply.Last(); last.IsThinking() {
		last.Opaque = packDetails(d.details)
	}
	d.reply.CloseProse(out)
}

// content is a string, or with some servers a list of parts.
func (d *decoder) content(s *wire.Scan, out *wire.Out) {
	raw := s.Raw()
	if len(raw) > 2 && raw[0] == '"' {
		d.words(raw[1:len(raw)-1], out)
		return
	}
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	type part struct {
		Text     string
		Thinking []struct{ Text string }
	}
	var parts []part
	if json.Unmarshal(raw, &parts) != nil {
		return
	}
	for _, p := range parts {
		for _, t := range p.Thinking {
			if t.Text != "" {
				d.thinking(out).Add(t.Text, out)
			}
		}
		if p.Text != "" {
			d.text(out).Add(p.Text, out)
		}
	}
}

// call takes one fragment of a call. Servers differ: an index or none, an id
// in the first fragment, in each or in none, input as text, whole or as an
// object.
func (d *decoder) call(s *wire.Scan, out *wire.Out) {
	if !s.Object() {
		return
	}
	index := -1
	var id, name, args []byte
	for k, ok := s.Key(); ok; k, ok = s.Key() {
		switch string(k) {
		case "index":
			if raw := s.Raw(); len(raw) > 0 && raw[0] >= '0' && raw[0] <= '9' {
				n := wire.NewScan(raw)
				index = n.Int()
			}
		case "id":
			id, _ = s.Str()
		case "function":
			if !s.Object() {
				continue
			}
			for k, ok := s.Key(); ok; k, ok = s.Key() {
				switch string(k) {
				case "name":
					name, _ = s.Str()
				case "arguments":
					args = s.Raw()
				default:
					s.Raw()
				}
			}
		default:
			s.Raw()
		}
	}
	slot := d.slot(index, string(id), string(name), args, out)
	switch {
	case len(args) > 2 && args[0] == '"':
		slot.JSON(args[1:len(args)-1], out)
	case len(args) > 0 && args[0] == '{':
		slot.Add(string(args), out)
	}
}

// slot finds the call a fragment belongs to, or begins a new one.
func (d *decoder) slot(index int, id, name string, args []byte, out *wire.Out) *wire.Slot {
	object := len(args) > 0 && args[0] == '{'
	for i := len(d.calls) - 1; i >= 0; i-- {
		c := &d.calls[i]
		if index >= 0 && c.index >= 0 && c.index != index {
			continue
		}
		switch {
		case id != "" && c.id != "" && id != c.id: // the same index for another call
		case id == "" && name != "" && (index < 0 && object || c.whole() && (c.named < 2 || len(args) > 2)):
			// without an id a name after a whole input is a new call, whatever its index
		default:
			if c.id == "" {
				c.id = id
			}
			if name != "" {
				c.named++
			}
			c.slot.SetName(name)
			return c.slot
		}
		break
	}
	d.endHead(out)
	d.closeThinking(out)
	for _, c := range d.calls {
		if c.whole() {
			c.slot.Close(out)
		}
	}
	c := openCall{slot: d.reply.Call(wire.Unquote([]byte(id)), wire.Unquote([]byte(name)), out), index: index, id: id, named: min(len(name), 1)}
	d.calls = append(d.calls, c)
	return c.slot
}

func (d *decoder) count(raw []byte, out *wire.Out) {
	var u struct {
		Prompt     wire.Count `json:"prompt_tokens"`
		Completion wire.Count `json:"completion_tokens"`
		Total      wire.Count `json:"total_tokens"`
		Hit        wire.Count `json:"prompt_cache_hit_tokens"`
		Cached     wire.Count `json:"cached_tokens"`
		In         wire.Loose[struct {
			Cached wire.Count `json:"cached_tokens"`
			Write  wire.Count `json:"cache_write_tokens"`
		}] `json:"prompt_tokens_details"`
		Out wire.Loose[struct {
			Reasoning wire.Count `json:"reasoning_tokens"`
		}] `json:"completion_tokens_details"`
	}
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &u) != nil {
		return
	}
	n := llm.Usage{
		Out: int(u.Completion), Reasoning: int(u.Out.Is.Reasoning),
		CacheRead: int(max(u.Hit, u.In.Is.Cached, u.Cached)), CacheWrite: int(u.In.Is.Write),
	}
	if n.Reasoning > 0 && u.Total == u.Prompt+u.Completion+u.Out.Is.Reasoning { // some count it apart
		n.Out += n.Reasoning
	}
	n.In = max(0, int(u.Prompt)-n.CacheRead-n.CacheWrite)
	if d.usage != n {
		d.usage = n
		out.Put(llm.Progress{ID: d.id, Model: d.model, Usage: n})
	}
}

// A detail is a piece of reasoning a router wants back as it came. Pieces of
// one index are joined.
type detail struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Summary   string          `json:"summary,omitempty"`
	Data      string          `json:"data,omitempty"`
	Signature string          `json:"signature,omitempty"`
	ID        json.RawMessage `json:"id,omitempty"`
	Format    string          `json:"format,omitempty"`
	Index     *int            `json:"index,omitempty"`
}

func (d *decoder) addDetails(raw []byte, out *wire.Out) {
	var more []detail
	if len(raw) == 0 || raw[0] != '[' || !out.Keep(len(raw)) || json.Unmarshal(raw, &more) != nil {
		return
	}
	for _, m := range more {
		if n := len(d.details); n > 0 && joins(d.details[n-1], m) {
			last := &d.details[n-1]
			last.Text += m.Text
			last.Summary += m.Summary
			last.Data += m.Data
			last.Signature += m.Signature
			continue
		}
		d.details = append(d.details, m)
	}
	if len(d.details) > 0 && d.reply.Last() == nil {
		d.thinking(out) // a token without words still has to go back
	}
}

func joins(a, b detail) bool {
	return a.Type == b.Type && a.Index != nil && b.Index != nil && *a.Index == *b.Index
}

func packDetails(details []detail) json.RawMessage {
	if len(details) == 0 {
		return nil
	}
	raw, err := json.Marshal(details)
	if err != nil {
		return nil
	}
	return raw
}
