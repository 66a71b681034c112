package wire

import (
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// interrupted is the result a call gets that has none.
const interrupted = "[interrupted: this call has no result]"

// strayResult begins the result of a call that is not there as one.
const strayResult = "[result of an earlier call] "

// Rules say how a history is made fit for a reader.
type Rules struct {
	// Reader is "provider/model"; opaque tokens of anyone else are dropped.
	Reader string
	// ID maps a call's id to one the wire accepts; nil keeps it. Two ids that
	// map to the same one are told apart.
	ID func(string) string
	// Native: the wire says itself which tools a result loaded, and what the result
	// says of them comes behind the results, as words of the user. Else the text of the
	// result describes them.
	Native bool
	// Listed names the tools that are called by themselves; other calls are ones of
	// the Dispatcher. nil has no Dispatcher.
	Listed map[string]bool
}

func (p *preparer) run(msgs []llm.Message) {
	p.match(msgs)
	p.out, p.starts = make([]llm.Message, 0, len(msgs)+1), make([]int, 0, len(msgs)+1)
	for mi, m := range msgs {
		switch m.Role {
		case llm.Assistant:
			p.assistant(p.first+mi, m)
		case llm.User:
			p.user(m)
		}
	}
	p.answer()
}

type call struct {
	id     string
	at     int      // index of its message
	result llm.Part // nil: it has none
	by     int      // index of the message that the result came in
	older  int      // the call before it with the same original id, plus one
}

type preparer struct {
	rules   Rules
	first   int             // index of the first message
	before  map[string]bool // ids that calls before it have
	out     []llm.Message
	starts  []int // of each message of a model in out: the message it begins with; else -1
	taken   map[string]bool
	calls   []call         // in order
	newest  map[string]int // by the original id: the newest call, plus one
	matched []bool         // of the results, in order: they belong to a call
	made    int            // calls, and results, that were looked at
	read    int
	open    []call // calls of the assistant message that is last in out
}

// match gives every call its id and its result.
func (p *preparer) match(msgs []llm.Message) {
	n := 0
	for _, m := range msgs {
		for _, part := range m.Parts {
			if _, ok := part.(llm.ToolUse); ok && m.Role == llm.Assistant {
				n++
			}
		}
	}
	p.calls, p.matched = make([]call, 0, n), make([]bool, 0, n)
	p.taken, p.newest = make(map[string]bool, n), make(map[string]int, n)
	for mi, m := range msgs {
		for pi, part := range m.Parts {
			switch x := part.(type) {
			case llm.ToolUse:
				if m.Role != llm.Assistant {
					continue
				}
				p.calls = append(p.calls, call{id: p.newID(x.ID, p.first+mi, pi), at: p.first + mi, older: p.newest[x.ID]})
				p.newest[x.ID] = len(p.calls)
			case llm.ToolResult:
				if m.Role != llm.User {
					continue
				}
				c := p.waiting(x.ID)
				if c != nil {
					c.result, c.by = part, p.first+mi
				}
				p.matched = append(p.matched, c != nil)
			case llm.Text, llm.Thinking, llm.Image, llm.Document:
			}
		}
	}
}

// waiting finds the call a result belongs to. An id that was used again means
// the newest message that used it, and there the first call without a result.
func (p *preparer) waiting(id string) *call {
	var found *call
	for i := p.newest[id]; i > 0; i = p.calls[i-1].older {
		c := &p.calls[i-1]
		if found != nil && c.at < found.at {
			break
		}
		if c.result == nil {
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
	for n := 2; p.taken[mapped] || p.before[mapped]; n++ {
		mapped = id + "_" + strconv.Itoa(n)
		if p.rules.ID != nil {
			mapped = p.rules.ID(mapped)
		}
	}
	p.taken[mapped] = true
	return mapped
}

// assistant adds what a model said. Parts that stay as they are are shared.
func (p *preparer) assistant(mi int, m llm.Message) {
	p.answer()
	parts := make([]llm.Part, 0, len(m.Parts))
	solid := false
	for _, part := range m.Parts {
		switch x := part.(type) {
		case llm.Text:
			if x.From != p.rules.Reader && (len(x.Opaque) > 0 || x.From != "") {
				part = llm.Text{S: x.S}
			}
			if strings.TrimSpace(x.S) != "" {
				parts = append(parts, part)
				solid = true
			}
		case llm.Thinking:
			if x.From == p.rules.Reader {
				parts = append(parts, part)
			}
		case llm.ToolUse:
			c := p.calls[p.made]
			p.made++
			foreign := x.From != p.rules.Reader && (len(x.Opaque) > 0 || x.From != "")
			if foreign {
				x.Opaque, x.From = nil, ""
			}
			if foreign || x.ID != c.id || len(x.Input) == 0 {
				x.ID = c.id
				if len(x.Input) == 0 {
					x.Input = []byte("{}")
				}
				part = x
			}
			if p.rules.Listed != nil && !p.rules.Listed[x.Name] && x.Name != Dispatcher {
				part = through(x)
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
	if n := len(p.out) - 1; len(p.out[n].Parts) == len(parts) { // it is a message of its own
		p.starts[n] = mi
	}
}

func (p *preparer) user(m llm.Message) {
	p.answer()
	for _, part := range m.Parts {
		switch x := part.(type) {
		case llm.Text:
			if strings.TrimSpace(x.S) != "" {
				p.add(llm.User, part)
			}
		case llm.ToolResult:
			matched := p.matched[p.read]
			p.read++
			if !matched {
				p.add(llm.User, llm.Text{S: strayResult + x.Text})
			}
		case llm.Image:
			if len(x.Data) > 0 {
				p.add(llm.User, part)
			}
		case llm.Document:
			if len(x.Data) > 0 {
				p.add(llm.User, part)
			}
		case llm.Thinking, llm.ToolUse: // nothing a user says
		}
	}
}

// answer adds the results of the calls that wait.
func (p *preparer) answer() {
	if len(p.open) == 0 {
		return
	}
	parts := make([]llm.Part, 0, len(p.open)+1)
	var words []llm.Part
	for _, c := range p.open {
		res, ok := c.result.(llm.ToolResult)
		switch {
		case !ok:
			parts = append(parts, llm.ToolResult{ID: c.id, Text: interrupted, IsErr: true})
		case res.ID != c.id || len(res.Loaded) > 0:
			res.ID = c.id
			switch {
			case len(res.Loaded) == 0:
			case !p.rules.Native:
				res.Text, res.Loaded = described(res.Text, res.Loaded, p.rules.Listed != nil), nil
			case res.Text != "":
				words = append(words, llm.Text{S: "[the search for tools] " + res.Text})
				res.Text = ""
			}
			parts = append(parts, res)
		default:
			parts = append(parts, c.result)
		}
	}
	p.open = p.open[:0]
	p.add(llm.User, append(parts, words...)...)
}

// add takes parts over.
func (p *preparer) add(role llm.Role, parts ...llm.Part) {
	if p.first == 0 && len(p.out) == 0 && role == llm.Assistant {
		p.starts = append(p.starts, -1)
		p.out = append(p.out, llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "[the conversation begins here]"}}})
	}
	if n := len(p.out); n > 0 && p.out[n-1].Role == role {
		p.out[n-1].Parts = append(p.out[n-1].Parts, parts...)
		return
	}
	p.starts = append(p.starts, -1)
	p.out = append(p.out, llm.Message{Role: role, Parts: parts})
}

// answered reports whether the calls of the messages before one have their results
// there, so that nothing that comes later changes them.
func (p *preparer) answered(upTo int) bool {
	for _, c := range p.calls {
		if c.at >= upTo {
			break
		}
		if c.result == nil || c.by >= upTo {
			return false
		}
	}
	return true
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
