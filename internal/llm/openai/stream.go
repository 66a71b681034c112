package openai

import (
	"bytes"
	"encoding/json"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// A decoder follows one event stream.
type decoder struct {
	reply *wire.Reply
	items map[int]*item // by output_index
	id    string
	model string
	// search is the tool that a tool_search_call is one of.
	search string
}

// An item is one output item. A reasoning item may have several summaries,
// which become one part.
type item struct {
	slot  *wire.Slot
	parts int
}

// Event implements wire.Decoder.
func (d *decoder) Event(ev wire.Event, out *wire.Out) (bool, error) {
	if len(ev.Data) == 0 || string(ev.Data) == "[DONE]" {
		return false, nil
	}
	s := wire.NewScan(ev.Data)
	if !s.Object() {
		return false, wire.ErrGarbage
	}
	kind, index := string(ev.Name), -1
	var delta, body []byte
	whole := false
	for k, ok := s.Key(); ok; k, ok = s.Key() {
		switch string(k) {
		case "type":
			if raw, ok := s.Str(); ok {
				kind = string(raw)
			}
		case "output_index":
			index = s.Int()
		case "delta":
			delta, _ = s.Str()
		case "item", "response":
			body = s.Raw()
		case "object": // a whole reply of a server that does not stream
			if raw, ok := s.Str(); ok {
				whole = string(raw) == "response"
			}
		default:
			s.Raw()
		}
	}
	if s.Bad() {
		return false, wire.ErrGarbage
	}
	if whole && body == nil {
		return d.finish(ev.Data, out)
	}
	it := d.items[index]
	switch kind {
	case "response.output_text.delta", "response.refusal.delta", "response.function_call_arguments.delta", "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		refusal := kind == "response.refusal.delta"
		if refusal {
			d.reply.Refuse()
		}
		if it == nil && (refusal || kind == "response.output_text.delta") { // of an item that was not announced
			it = &item{slot: d.reply.Text(out)}
			d.items[index] = it
		}
		if it != nil && it.slot != nil {
			it.slot.JSON(delta, out)
		}
	case "response.reasoning_summary_part.added":
		if it != nil && it.slot != nil {
			if it.parts++; it.parts > 1 {
				it.slot.Add("\n\n", out)
			}
		}
	case "response.output_item.added":
		return false, d.added(index, body, out)
	case "response.output_item.done":
		return false, d.done(index, body, out)
	case "response.created":
		var r struct{ ID, Model string }
		if json.Unmarshal(body, &r) != nil {
			return false, wire.ErrGarbage
		}
		d.id, d.model = r.ID, r.Model
		out.Put(llm.Progress{ID: d.id, Model: d.model})
	case "response.completed", "response.incomplete", "response.failed", "response.done":
		return d.finish(body, out)
	case "error":
		return false, wire.ReadFault(ev.Data)
	}
	return false, nil // whatever comes to be
}

// Complete implements wire.Decoder. The terminal event has all of it.
func (d *decoder) Complete() bool { return false }

// EOF implements wire.Decoder.
func (d *decoder) EOF(*wire.Out) error { return wire.ErrNoEnd }

type rawItem struct {
	Type      string
	CallID    string `json:"call_id"`
	Name      string
	Arguments json.RawMessage // a string, or of a tool_search_call an object
	Namespace json.RawMessage // of a call of a loaded tool: goes back with it
	Status    string
	Phase     json.RawMessage
	Content   []struct{ Type, Text, Refusal string }
	Summary   []struct{ Text string }
}

func (d *decoder) added(index int, body []byte, out *wire.Out) error {
	var r rawItem
	if json.Unmarshal(body, &r) != nil {
		return wire.ErrGarbage
	}
	if d.items[index] == nil {
		d.items[index] = d.open(r, out)
	}
	return nil
}

func (d *decoder) open(r rawItem, out *wire.Out) *item {
	switch r.Type {
	case "message":
		it := &item{slot: d.reply.Text(out)}
		it.keepPhase(r, out)
		return it
	case "reasoning":
		return &item{slot: d.reply.Thinking(out)}
	case "function_call":
		it := &item{slot: d.reply.Call(r.CallID, r.Name, out)}
		it.slot.Add(r.arguments(), out)
		return it
	case "tool_search_call":
		if d.search != "" {
			return &item{slot: d.reply.Call(r.CallID, d.search, out)}
		}
	}
	return &item{}
}

// arguments are the text of what a call was made with.
func (r rawItem) arguments() (text string) {
	if json.Unmarshal(r.Arguments, &text) == nil { // null is ""
		return text
	}
	return string(r.Arguments)
}

// keepPhase keeps what a message is for, such as "commentary": the models that
// write it want to read it again.
func (it *item) keepPhase(r rawItem, out *wire.Out) {
	if len(r.Phase) > 0 && r.Phase[0] == '"' && out.Keep(len(r.Phase)) {
		it.slot.Opaque = r.Phase
	}
}

// done completes an item. A server that sent no deltas has it all here.
func (d *decoder) done(index int, body []byte, out *wire.Out) error {
	var r rawItem
	if json.Unmarshal(body, &r) != nil {
		return wire.ErrGarbage
	}
	it := d.items[index]
	if it == nil {
		it = d.open(r, out)
		d.items[index] = it
	}
	if it.slot == nil {
		return nil
	}
	if it.slot.Len() == 0 {
		for i, s := range r.Summary {
			if i > 0 {
				it.slot.Add("\n\n", out)
			}
			it.slot.Add(s.Text, out)
		}
		for _, c := range r.Content {
			if c.Refusal != "" {
				d.reply.Refuse()
			}
			it.slot.Add(c.Text+c.Refusal, out)
		}
		it.slot.Add(r.arguments(), out)
	}
	if len(r.Namespace) > 0 && r.Namespace[0] == '"' && out.Keep(len(r.Namespace)) {
		it.slot.Opaque = r.Namespace
	}
	switch {
	case r.Type == "message":
		it.keepPhase(r, out)
	case r.Type == "reasoning":
		out.Keep(len(body))
		var b bytes.Buffer // without space, as the log keeps it
		if json.Compact(&b, body) != nil {
			return wire.ErrGarbage
		}
		it.slot.Opaque = b.Bytes()
	case r.Type == "function_call" && r.Status == "incomplete":
		return nil // cut off; the end of the reply says so
	}
	it.slot.Close(out)
	return nil
}

func (d *decoder) finish(body []byte, out *wire.Out) (bool, error) {
	var r struct {
		ID, Model, Status string
		Error             json.RawMessage
		Output            []json.RawMessage
		Incomplete        struct{ Reason string } `json:"incomplete_details"`
		Usage             wire.Loose[struct {
			In      wire.Count `json:"input_tokens"`
			Details wire.Loose[struct {
				Cached wire.Count `json:"cached_tokens"`
				Write  wire.Count `json:"cache_write_tokens"`
			}] `json:"input_tokens_details"`
			Out        wire.Count `json:"output_tokens"`
			OutDetails wire.Loose[struct {
				Reasoning wire.Count `json:"reasoning_tokens"`
			}] `json:"output_tokens_details"`
		}]
	}
	if json.Unmarshal(body, &r) != nil {
		return false, wire.ErrGarbage
	}
	u := r.Usage.Is
	n := llm.Usage{Out: int(u.Out), CacheRead: int(u.Details.Is.Cached), CacheWrite: int(u.Details.Is.Write), Reasoning: int(u.OutDetails.Is.Reasoning)}
	n.In = max(0, int(u.In)-n.CacheRead-n.CacheWrite)
	if r.ID != "" {
		d.id = r.ID
	}
	if r.Model != "" {
		d.model = r.Model
	}
	if n != (llm.Usage{}) {
		out.Put(llm.Progress{ID: d.id, Model: d.model, Usage: n})
	}
	switch {
	case len(r.Error) > 0 && r.Error[0] == '{':
		return false, wire.ReadFault(r.Error)
	case r.Status == "failed":
		return false, wire.Fault{Type: "server_error", Message: "the reply failed and no reason was given"}
	}
	if _, unnumbered := d.items[-1]; !unnumbered { // some servers have their items only here
		for i, raw := range r.Output {
			if d.items[i] == nil {
				if err := d.done(i, raw, out); err != nil {
					return false, err
				}
			}
		}
	}
	stop := llm.EndTurn
	switch reason := r.Incomplete.Reason; {
	case reason == "max_output_tokens", reason == "" && r.Status == "incomplete":
		stop = llm.MaxTokens
	case reason != "":
		d.reply.RefuseFor(reason)
	}
	d.reply.Finish(stop, n, d.model, d.id, out)
	return true, nil
}
