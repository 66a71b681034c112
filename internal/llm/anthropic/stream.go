package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// A decoder follows one event stream.
type decoder struct {
	reply  *wire.Reply
	blocks []block
	model  string
	id     string
	usage  llm.Usage
	stop   llm.Stop
}

type block struct {
	slot      *wire.Slot // nil: a kind of block this version does not know
	signature []byte     // raw inside of the JSON string
	input     string     // of a call, as its beginning has it: deltas replace it
}

// Event implements wire.Decoder.
func (d *decoder) Event(ev wire.Event, out *wire.Out) (bool, error) {
	if len(ev.Data) == 0 {
		return false, nil
	}
	s := wire.NewScan(ev.Data)
	if !s.Object() {
		return false, wire.ErrGarbage
	}
	kind := string(ev.Name)
	index := -1
	var delta, body []byte
	for k, ok := s.Key(); ok; k, ok = s.Key() {
		switch string(k) {
		case "type":
			if raw, ok := s.Str(); ok {
				kind = string(raw)
			}
		case "index":
			index = s.Int()
		case "delta":
			delta = s.Raw()
		case "content_block", "message", "error":
			body = s.Raw()
		default:
			s.Raw()
		}
	}
	if s.Bad() {
		return false, wire.ErrGarbage
	}
	switch kind {
	case "content_block_delta":
		return false, d.delta(index, delta, out)
	case "content_block_start":
		return false, d.start(index, body, out)
	case "content_block_stop":
		d.close(index, out)
	case "message": // a whole reply of a server that does not stream
		return true, d.whole(ev.Data, out)
	case "message_start":
		return false, d.begin(body, out)
	case "message_delta":
		return false, d.messageDelta(ev.Data, out)
	case "message_stop":
		d.finish(out)
		return true, nil
	case "error":
		return false, wire.ReadFault(ev.Data)
	}
	return false, nil // ping, and whatever comes to be
}

// Complete implements wire.Decoder.
func (d *decoder) Complete() bool { return d.stop != "" }

// EOF implements wire.Decoder. Gateways leave out message_stop, behind the reason to stop.
func (d *decoder) EOF(out *wire.Out) error {
	if d.stop == "" {
		return wire.ErrNoEnd
	}
	d.finish(out)
	return nil
}

func (d *decoder) finish(out *wire.Out) {
	for i := range d.blocks { // gateways leave out content_block_stop
		d.blocks[i].began(out)
	}
	d.reply.Finish(d.stop, d.usage, d.model, d.id, out)
}

type usage struct {
	In         *wire.Count `json:"input_tokens"`
	Out        *wire.Count `json:"output_tokens"`
	CacheRead  *wire.Count `json:"cache_read_input_tokens"`
	CacheWrite *wire.Count `json:"cache_creation_input_tokens"`
	Created    wire.Loose[struct {
		Hour *wire.Count `json:"ephemeral_1h_input_tokens"`
	}] `json:"cache_creation"`
	Details wire.Loose[struct {
		Thinking *wire.Count `json:"thinking_tokens"`
	}] `json:"output_tokens_details"`
}

// add lays the counts of u over what is known: the later ones are totals.
func (d *decoder) add(u usage) {
	set := func(dst *int, v *wire.Count) {
		if v != nil {
			*dst = int(*v)
		}
	}
	set(&d.usage.In, u.In)
	set(&d.usage.Out, u.Out)
	set(&d.usage.CacheRead, u.CacheRead)
	set(&d.usage.CacheWrite, u.CacheWrite)
	set(&d.usage.CacheWriteLong, u.Created.Is.Hour)
	set(&d.usage.Reasoning, u.Details.Is.Thinking)
}

func (d *decoder) begin(message []byte, out *wire.Out) error {
	var m struct {
		ID, Model string
		Usage     wire.Loose[usage]
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return wire.ErrGarbage
	}
	d.id, d.model = m.ID, m.Model
	d.add(m.Usage.Is)
	out.Put(llm.Progress{ID: d.id, Model: d.model, Usage: d.usage})
	return nil
}

func (d *decoder) messageDelta(data []byte, out *wire.Out) error {
	var m struct {
		Delta struct {
			StopReason string                                             `json:"stop_reason"`
			Details    wire.Loose[struct{ Category, Explanation string }] `json:"stop_details"`
		}
		Usage wire.Loose[usage]
		Edits wire.Loose[*struct {
			Applied []struct {
				Tokens wire.Count `json:"cleared_input_tokens"`
			} `json:"applied_edits"`
		}] `json:"context_management"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return wire.ErrGarbage
	}
	d.add(m.Usage.Is)
	if edits := m.Edits.Is; edits != nil {
		d.usage.Cleared = 0
		for _, e := range edits.Applied {
			d.usage.Cleared += max(0, int(e.Tokens))
		}
	}
	if m.Delta.StopReason != "" {
		d.stop = stopOf(m.Delta.StopReason)
	}
	if why := m.Delta.Details.Is; d.stop == llm.Refused && why.Category+why.Explanation != "" {
		d.reply.RefuseFor(strings.Trim(why.Category+": "+why.Explanation, ": "))
	}
	out.Put(llm.Progress{ID: d.id, Model: d.model, Usage: d.usage})
	return nil
}

func stopOf(reason string) llm.Stop {
	switch reason {
	case "end_turn", "stop_sequence":
		return llm.EndTurn
	case "tool_use":
		return llm.WantTools
	case "max_tokens":
		return llm.MaxTokens
	case "refusal":
		return llm.Refused
	case "pause_turn":
		return llm.Paused
	case "model_context_window_exceeded":
		return llm.WindowFull
	}
	return llm.EndTurn
}

func (d *decoder) start(index int, body []byte, out *wire.Out) error {
	var b struct {
		Type, ID, Name string
		Text, Thinking string
		Signature      string
		Data           json.RawMessage
		Input          json.RawMessage
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return wire.ErrGarbage
	}
	if index < 0 || index > 1<<16 || index < len(d.blocks) && d.blocks[index].slot != nil {
		return nil // a block that was begun before: its first beginning counts
	}
	for len(d.blocks) <= index {
		d.blocks = append(d.blocks, block{})
	}
	var slot *wire.Slot
	switch b.Type {
	case "text":
		slot = d.reply.Text(out)
		slot.Add(b.Text, out)
	case "thinking":
		slot = d.reply.Thinking(out)
		slot.Add(b.Thinking, out)
		if b.Signature != "" {
			q := wire.AppendString(nil, b.Signature)
			d.blocks[index].signature = q[1 : len(q)-1]
		}
	case "redacted_thinking":
		slot = d.reply.Thinking(out)
		out.Keep(len(b.Data))
		slot.Opaque = append(append(json.RawMessage(`{"redacted":`), b.Data...), '}')
	case "tool_use":
		slot = d.reply.Call(b.ID, b.Name, out)
		if len(b.Input) > 2 && b.Input[0] == '{' && string(b.Input) != "{}" { // sent whole
			d.blocks[index].input = string(b.Input)
			out.Keep(len(b.Input))
		}
	}
	d.blocks[index].slot = slot
	return nil
}

// delta is the hot path: one scan, no tree.
func (d *decoder) delta(index int, raw []byte, out *wire.Out) error {
	if index < 0 || index >= len(d.blocks) || d.blocks[index].slot == nil {
		return nil // of a block that never began or is not known
	}
	b := &d.blocks[index]
	s := wire.NewScan(raw)
	if !s.Object() {
		return wire.ErrGarbage
	}
	for k, ok := s.Key(); ok; k, ok = s.Key() {
		switch string(k) {
		case "text", "thinking", "partial_json":
			if v, ok := s.Str(); ok {
				b.slot.JSON(v, out)
			}
		case "signature":
			if v, ok := s.Str(); ok && out.Keep(len(v)) {
				b.signature = append(b.signature, v...)
			}
		default:
			s.Raw()
		}
	}
	if s.Bad() {
		return wire.ErrGarbage
	}
	return nil
}

// whole takes a message that came at once.
func (d *decoder) whole(data []byte, out *wire.Out) error {
	var m struct {
		Content []json.RawMessage
		Stop    string `json:"stop_reason"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return wire.ErrGarbage
	}
	if err := d.begin(data, out); err != nil {
		return err
	}
	for i, block := range m.Content {
		if err := d.start(i, block, out); err != nil {
			return err
		}
		d.close(i, out)
	}
	d.stop = stopOf(m.Stop)
	d.finish(out)
	return nil
}

func (d *decoder) close(index int, out *wire.Out) {
	if index < 0 || index >= len(d.blocks) || d.blocks[index].slot == nil {
		return
	}
	b := &d.blocks[index]
	if len(b.signature) > 0 {
		b.slot.Opaque = append(append(json.RawMessage{'"'}, b.signature...), '"')
	}
	b.began(out)
	b.slot.Close(out)
}

// began gives a call the input that its beginning has, where no delta came.
func (b *block) began(out *wire.Out) {
	if b.input != "" && b.slot.Len() == 0 {
		b.slot.Add(b.input, out)
	}
	b.input = ""
}
