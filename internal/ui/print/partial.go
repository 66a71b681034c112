package print

import (
	"encoding/json"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// partial turns live events into the event stream of the public Messages API,
// whatever provider they come from, because that is what readers of
// --include-partial-messages know.
type partial struct {
	open  string // kind of the open block: "", text, thinking, tool_use
	call  string // of an open tool_use block
	index int
	begun bool
}

func (p *partial) start(e event.ReplyStarted) []any {
	*p = partial{begun: true}
	return []any{map[string]any{"type": "message_start", "message": apiMessage{
		ID: "msg", Type: "message", Role: "assistant", Model: e.Model, Content: []any{},
	}}}
}

func (p *partial) text(s string) []any {
	out := p.block("text", "", map[string]any{"type": "text", "text": ""})
	return append(out, p.delta(map[string]any{"type": "text_delta", "text": s}))
}

func (p *partial) thinking(s string) []any {
	out := p.block("thinking", "", map[string]any{"type": "thinking", "thinking": "", "signature": ""})
	return append(out, p.delta(map[string]any{"type": "thinking_delta", "thinking": s}))
}

func (p *partial) input(e event.ToolInputDelta) []any {
	out := p.block("tool_use", e.Call, toolStart(e.Call, e.Name))
	return append(out, p.delta(map[string]any{"type": "input_json_delta", "partial_json": e.S}))
}

// done closes a block. A part that came without deltas is shown whole.
func (p *partial) done(part llm.Part) []any {
	var out []any
	switch b := part.(type) {
	case llm.Text:
		if p.open != "text" {
			out = p.text(b.S)
		}
	case llm.Thinking:
		if p.open != "thinking" {
			out = p.block("thinking", "", map[string]any{"type": "thinking", "thinking": "", "signature": ""})
			out = append(out, p.delta(map[string]any{"type": "thinking_delta", "thinking": b.S}))
		}
		if sig := thinking(b)["signature"]; sig != "" {
			out = append(out, p.delta(map[string]any{"type": "signature_delta", "signature": sig}))
		}
	case llm.ToolUse:
		if p.open != "tool_use" || p.call != b.ID {
			out = p.block("tool_use", b.ID, toolStart(b.ID, b.Name))
			out = append(out, p.delta(map[string]any{"type": "input_json_delta", "partial_json": string(b.Input)}))
		}
	case llm.ToolResult, llm.Image, llm.Document:
	}
	return append(out, p.close()...)
}

func (p *partial) end(stop llm.Stop, u llm.Usage) []any {
	if !p.begun {
		return nil
	}
	out := p.close()
	*p = partial{}
	return append(out,
		map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": string(stop), "stop_sequence": nil}, "usage": toUsage(u)},
		map[string]any{"type": "message_stop"})
}

// block opens a block of a kind, unless it is the one that is open.
func (p *partial) block(kind, call string, body map[string]any) []any {
	if p.open == kind && p.call == call {
		return nil
	}
	out := p.close()
	p.open, p.call = kind, call
	return append(out, map[string]any{"type": "content_block_start", "index": p.index, "content_block": body})
}

func (p *partial) delta(d map[string]any) any {
	return map[string]any{"type": "content_block_delta", "index": p.index, "delta": d}
}

func (p *partial) close() []any {
	if p.open == "" {
		return nil
	}
	out := []any{map[string]any{"type": "content_block_stop", "index": p.index}}
	p.open, p.call = "", ""
	p.index++
	return out
}

func toolStart(id, name string) map[string]any {
	return map[string]any{"type": "tool_use", "id": id, "name": name, "input": json.RawMessage("{}")}
}
