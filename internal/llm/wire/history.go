package wire

import (
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// Interrupted is the result a call gets that has none.
const Interrupted = "[interrupted: this call has no result]"

// Rules say how a history is made fit for a reader.
type Rules struct {
	// Reader is "provider/model"; opaque tokens of anyone else are dropped.
	Reader string
	// ID maps a call's id to one the wire accepts; nil keeps it. Two ids that
	// map to the same one are told apart.
	ID func(string) string
}

// Prepare returns msgs as every provider wants them: roles alternate and the
// user begins, no part and no message is empty, every call has a unique id
// and its result right after it in the order of the calls, results without a
// call are prose, and reasoning of other models is gone. The same messages
// always give the same result, and messages added at the end change nothing
// before them, except that a result which was missing takes its place.
func Prepare(msgs []llm.Message, r Rules) []llm.Message {
	p := &preparer{rules: r, taken: map[string]bool{}, calls: map[string][]*call{}}
	p.match(msgs)
	for mi, m := range msgs {
		switch m.Role {
		case llm.Assistant:
			p.assistant(mi, m)
		case llm.User:
			p.user(mi, m)
		}
	}
	p.answer()
	return p.out
}

type call struct {
	id     string
	at     int // index of its message
	result *llm.ToolResult
}

type place struct{ message, part int }

type preparer struct {
	rules   Rules
	out     []llm.Message
	taken   map[string]bool
	calls   map[string][]*call // by the original id, in order
	byPlace map[place]*call
	matched map[place]bool // results that belong to a call
	open    []*call        // calls of the assistant message that is last in out
}

// match gives every call its id and its result.
func (p *preparer) match(msgs []llm.Message) {
	p.byPlace, p.matched = map[place]*call{}, map[place]bool{}
	for mi, m := range msgs {
		for pi, part := range m.Parts {
			switch part := part.(type) {
			case llm.ToolUse:
				if m.Role != llm.Assistant {
					continue
				}
				c := &call{id: p.newID(part.ID, mi, pi), at: mi}
				p.calls[part.ID] = append(p.calls[part.ID], c)
				p.byPlace[place{mi, pi}] = c
			case llm.ToolResult:
				if c := p.waiting(part.ID); c != nil && m.Role == llm.User {
					c.result = &part
					p.matched[place{mi, pi}] = true
				}
			case llm.Text, llm.Thinking, llm.Image, llm.Document:
			}
		}
	}
}

// waiting finds the call a result belongs to. An id that was used again means
// the newest message that used it, and there the first call without a result.
func (p *preparer) waiting(id string) *call {
	var found *call
	for _, c := range p.calls[id] {
		if c.result == nil && (found == nil || c.at > found.at) {
			found = c
		}
	}
	return found
}

func (p *preparer) newID(id string, mi, pi int) string {
	if id == "" {
		id = "call_" + strconv.Itoa(mi) + "_" + strconv.Itoa(pi)
	}
	mapped := id
	if p.rules.ID != nil {
		mapped = p.rules.ID(id)
	}
	for n := 2; p.taken[mapped]; n++ {
		mapped = id + "_" + strconv.Itoa(n)
		if p.rules.ID != nil {
			mapped = p.rules.ID(mapped)
		}
	}
	p.taken[mapped] = true
	return mapped
}

func (p *preparer) assistant(mi int, m llm.Message) {
	p.answer()
	var parts []llm.Part
	solid := false
	for pi, part := range m.Parts {
		switch part := part.(type) {
		case llm.Text:
			if part.From != p.rules.Reader {
				part.Opaque, part.From = nil, ""
			}
			if strings.TrimSpace(part.S) != "" {
				parts = append(parts, part)
				solid = true
			}
		case llm.Thinking:
			if part.From == p.rules.Reader {
				parts = append(parts, part)
			}
		case llm.ToolUse:
			c := p.byPlace[place{mi, pi}]
			part.ID = c.id
			if part.From != p.rules.Reader {
				part.Opaque, part.From = nil, ""
			}
			if len(part.Input) == 0 {
				part.Input = []byte("{}")
			}
			parts = append(parts, part)
			p.open = append(p.open, c)
			solid = true
		case llm.Image, llm.Document, llm.ToolResult: // nothing a model says
		}
	}
	if !solid { // reasoning alone is not a message
		return
	}
	p.add(llm.Assistant, parts...)
}

func (p *preparer) user(mi int, m llm.Message) {
	p.answer()
	for pi, part := range m.Parts {
		switch part := part.(type) {
		case llm.Text:
			if strings.TrimSpace(part.S) != "" {
				p.add(llm.User, part)
			}
		case llm.ToolResult:
			if !p.matched[place{mi, pi}] {
				p.add(llm.User, llm.Text{S: "[result of an earlier call] " + part.Text})
			}
		case llm.Image:
			if len(part.Data) > 0 {
				p.add(llm.User, part)
			}
		case llm.Document:
			if len(part.Data) > 0 {
				p.add(llm.User, part)
			}
		case llm.Thinking, llm.ToolUse: // nothing a user says
		}
	}
}

// answer adds the results of the calls that wait.
func (p *preparer) answer() {
	open := p.open
	p.open = nil
	for _, c := range open {
		res := llm.ToolResult{Text: Interrupted, IsErr: true}
		if c.result != nil {
			res = *c.result
		}
		res.ID = c.id
		p.add(llm.User, res)
	}
}

func (p *preparer) add(role llm.Role, parts ...llm.Part) {
	if len(p.out) == 0 && role == llm.Assistant {
		p.out = append(p.out, llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "[the conversation begins here]"}}})
	}
	if n := len(p.out); n > 0 && p.out[n-1].Role == role {
		p.out[n-1].Parts = append(p.out[n-1].Parts, parts...)
		return
	}
	p.out = append(p.out, llm.Message{Role: role, Parts: parts})
}

// SafeID replaces every byte that is not a letter, a digit, "_" or "-".
func SafeID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
}
