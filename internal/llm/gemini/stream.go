package gemini

import (
	"encoding/json"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// A decoder follows one event stream. Each event is a partial answer whose
// parts continue the ones before.
type decoder struct {
	reply *wire.Reply
	model string
	id    string
	usage llm.Usage
	stop  llm.Stop
	ended bool
	lost  error // why what the model wrote did not come
}

type part struct {
	text      []byte
	hasText   bool
	thought   bool
	signature []byte // the JSON string with its quotes
	id, name  []byte
	args      []byte
	call      bool
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
	for k, ok := s.Key(); ok; k, ok = s.Key() {
		switch string(k) {
		case "candidates":
			if !s.Array() {
				continue
			}
			for n := 0; s.Elem(); n++ {
				if n > 0 {
					s.Raw()
					continue
				}
				d.candidate(&s, out)
			}
		case "usageMetadata":
			d.count(s.Raw(), out)
		case "promptFeedback":
			var f struct {
				BlockReason string `json:"blockReason"`
			}
			if json.Unmarshal(s.Raw(), &f) == nil && f.BlockReason != "" {
				d.ended = true
				d.reply.RefuseFor(f.BlockReason)
			}
		case "modelVersion":
			if v, ok := s.Str(); ok {
				d.model = wire.Unquote(v)
			}
		case "responseId":
			if v, ok := s.Str(); ok {
				d.id = wire.Unquote(v)
			}
		case "error":
			if raw := s.Raw(); len(raw) > 0 && raw[0] == '{' {
				return false, wire.ReadFault(ev.Data)
			}
		default:
			s.Raw()
		}
	}
	if s.Bad() {
		return false, wire.ErrGarbage
	}
	return false, d.lost // after what it is billed
}

// Complete implements wire.Decoder.
func (d *decoder) Complete() bool { return d.ended && d.lost == nil }

// EOF implements wire.Decoder. The wire has no terminal event: the reason to
// finish is in the last ones, and after it the body ends.
func (d *decoder) EOF(out *wire.Out) error {
	if !d.ended {
		return wire.ErrNoEnd
	}
	d.reply.Finish(d.stop, d.usage, d.model, d.id, out)
	return nil
}

func (d *decoder) candidate(s *wire.Scan, out *wire.Out) {
	if !s.Object() {
		return
	}
	for k, ok := s.Key(); ok; k, ok = s.Key() {
		switch string(k) {
		case "content":
			d.content(s, out)
		case "finishReason":
			if v, ok := s.Str(); ok {
				d.end(string(v))
			}
		default:
			s.Raw()
		}
	}
}

func (d *decoder) end(reason string) {
	d.ended = true
	switch reason {
	case "STOP":
		d.stop = llm.EndTurn
	case "MAX_TOKENS":
		d.stop = llm.MaxTokens
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		d.reply.RefuseFor(reason)
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE", "TOO_MANY_TOOL_CALLS":
		// What the model wrote was lost at the server; another try may do better.
		d.lost = wire.Fault{Begun: true, Type: "server_error", Message: "the model wrote a call that its own server could not read (" + reason + ")"}
	case "", "FINISH_REASON_UNSPECIFIED":
		d.ended = false
	default:
		d.stop = llm.EndTurn
	}
}

func (d *decoder) content(s *wire.Scan, out *wire.Out) {
	if !s.Object() {
		return
	}
	for k, ok := s.Key(); ok; k, ok = s.Key() {
		if string(k) != "parts" {
			s.Raw()
			continue
		}
		if !s.Array() {
			continue
		}
		for s.Elem() {
			d.part(readPart(s), out)
		}
	}
}

func readPart(s *wire.Scan) part {
	var p part
	if !s.Object() {
		return p
	}
	for k, ok := s.Key(); ok; k, ok = s.Key() {
		switch string(k) {
		case "text":
			p.text, p.hasText = s.Str()
		case "thought":
			p.thought = string(s.Raw()) == "true"
		case "thoughtSignature":
			p.signature = s.Raw()
		case "functionCall":
			if !s.Object() {
				continue
			}
			p.call = true
			for k, ok := s.Key(); ok; k, ok = s.Key() {
				switch string(k) {
				case "id":
					p.id, _ = s.Str()
				case "name":
					p.name, _ = s.Str()
				case "args":
					p.args = s.Raw()
				default:
					s.Raw()
				}
			}
		default:
			s.Raw()
		}
	}
	return p
}

// part takes one part of an event. Signatures stay with what they came with:
// a call keeps its own, prose hands it to the reasoning before it.
func (d *decoder) part(p part, out *wire.Out) {
	last := d.reply.Last()
	out.Keep(len(p.signature))
	switch {
	case p.call:
		d.reply.CloseProse(out)
		slot := d.reply.Call(wire.Unquote(p.id), wire.Unquote(p.name), out)
		if len(p.signature) > 2 {
			slot.Opaque = append(json.RawMessage(nil), p.signature...)
		}
		if string(p.args) == "null" {
			p.args = nil
		}
		slot.Add(string(p.args), out)
		slot.Close(out)
	case p.thought:
		if !last.IsThinking() {
			d.reply.CloseProse(out)
			last = d.reply.Thinking(out)
		}
		last.JSON(p.text, out)
		d.sign(last, p.signature)
	case len(p.signature) > 2 && !last.IsThinking():
		// A signature on prose: an empty piece of reasoning in front of what
		// follows carries it; prose that has begun ends there.
		d.reply.CloseProse(out)
		carrier := d.reply.Thinking(out)
		d.sign(carrier, p.signature)
		d.prose(p, out)
	case len(p.signature) > 2:
		d.sign(last, p.signature)
		d.prose(p, out)
	default:
		d.prose(p, out)
	}
}

func (d *decoder) prose(p part, out *wire.Out) {
	if !p.hasText || len(p.text) == 0 {
		return
	}
	last := d.reply.Last()
	if !last.IsText() {
		d.reply.CloseProse(out)
		last = d.reply.Text(out)
	}
	last.JSON(p.text, out)
}

func (d *decoder) sign(s *wire.Slot, signature []byte) {
	if len(signature) > 2 {
		s.Opaque = append(json.RawMessage(nil), signature...)
	}
}

func (d *decoder) count(raw []byte, out *wire.Out) {
	var u struct {
		Prompt   wire.Count `json:"promptTokenCount"`
		Cached   wire.Count `json:"cachedContentTokenCount"`
		Out      wire.Count `json:"candidatesTokenCount"`
		Thoughts wire.Count `json:"thoughtsTokenCount"`
		Tools    wire.Count `json:"toolUsePromptTokenCount"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return
	}
	n := llm.Usage{In: int(max(0, u.Prompt+u.Tools-u.Cached)), Out: int(u.Out + u.Thoughts), CacheRead: int(u.Cached), Reasoning: int(u.Thoughts)}
	if d.usage != n {
		d.usage = n
		out.Put(llm.Progress{ID: d.id, Model: d.model, Usage: n})
	}
}
