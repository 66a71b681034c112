package print

import (
	"encoding/json"
	"hash/maphash"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// partial turns live events into the event stream of the public Messages API,
// whatever provider they come from, because that is what readers of
// --include-partial-messages know. The stream is well-formed whatever comes: a
// reader that falls far behind is not handed every live event.
type partial struct {
	open  string // kind of the open block: "", text, thinking, tool_use
	call  string // of an open tool_use block
	index int
	begun bool
	said  told           // by the deltas of the open block
	gap   bool           // some of its deltas are missing; done adds them
	at    map[string]int // bytes heard so far, by kind and call
}

func (p *partial) start(e event.ReplyStarted) []any {
	out := p.end("aborted", llm.Usage{})
	*p = partial{begun: true, at: map[string]int{}}
	id := e.ID
	if id == "" {
		id = "msg" // the provider has not said it yet
	}
	return append(out, map[string]any{"type": "message_start", "message": apiMessage{
		ID: id, Type: "message", Role: "assistant", Model: e.Model, Content: []any{}, Usage: toUsage(e.Usage),
	}})
}

func (p *partial) text(e event.TextDelta) []any {
	return p.more("text", "", e.At, e.S, map[string]any{"type": "text", "text": ""})
}

func (p *partial) thinking(e event.ThinkingDelta) []any {
	return p.more("thinking", "", e.At, e.S, map[string]any{"type": "thinking", "thinking": "", "signature": ""})
}

func (p *partial) input(e event.ToolInputDelta) []any {
	return p.more("tool_use", e.Call, e.At, e.S, toolStart(e.Call, e.Name))
}

// more says s, which stands at byte at of what its kind says in this reply.
func (p *partial) more(kind, call string, at int, s string, body map[string]any) []any {
	if !p.begun {
		return nil
	}
	out := p.block(kind, call, body)
	key := kind + " " + call
	p.gap = p.gap || p.at[key] != at
	p.at[key] = at + len(s)
	if p.gap {
		return out
	}
	return append(out, p.delta(s))
}

// done closes a block. What did not come as deltas is said first.
func (p *partial) done(part llm.Part) []any {
	if !p.begun {
		return nil
	}
	var out []any
	switch b := part.(type) {
	case llm.Text:
		out = p.rest("text", "", b.S, map[string]any{"type": "text", "text": ""})
	case llm.Thinking:
		out = p.rest("thinking", "", b.S, map[string]any{"type": "thinking", "thinking": "", "signature": ""})
		if sig := thinking(b)["signature"]; sig != "" {
			out = append(out, p.wrap(map[string]any{"type": "signature_delta", "signature": sig}))
		}
	case llm.ToolUse:
		out = p.rest("tool_use", b.ID, string(b.Input), toolStart(b.ID, b.Name))
	case llm.ToolResult, llm.Image, llm.Document:
	}
	return append(out, p.close()...)
}

// rest says what of a whole part is missing.
func (p *partial) rest(kind, call, whole string, body map[string]any) []any {
	out := p.block(kind, call, body)
	if missing := p.said.cut(whole); missing != "" {
		out = append(out, p.delta(missing))
	}
	return out
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
	p.open, p.call, p.gap = kind, call, false
	p.said = told{}
	return append(out, map[string]any{"type": "content_block_start", "index": p.index, "content_block": body})
}

// delta adds s to the open block.
func (p *partial) delta(s string) any {
	p.said.add(s)
	switch p.open {
	case "thinking":
		return p.wrap(map[string]any{"type": "thinking_delta", "thinking": s})
	case "tool_use":
		return p.wrap(map[string]any{"type": "input_json_delta", "partial_json": s})
	}
	return p.wrap(map[string]any{"type": "text_delta", "text": s})
}

func (p *partial) wrap(d map[string]any) any {
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

// told knows again a text that was said in pieces, and keeps none of it.
type told struct {
	n    int // bytes
	hash maphash.Hash
}

func (t *told) add(s string) {
	t.n += len(s)
	_, _ = t.hash.WriteString(s)
}

// cut is what of a whole was not said; "" when it does not begin with what was.
func (t *told) cut(whole string) string {
	if len(whole) < t.n || maphash.String(t.hash.Seed(), whole[:t.n]) != t.hash.Sum64() {
		return ""
	}
	return whole[t.n:]
}
