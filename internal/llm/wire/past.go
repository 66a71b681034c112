package wire

import (
	"slices"
	"sync"

	"github.com/adze-agent/adze/internal/llm"
)

// A Past answers what a request has to know of the whole of its conversation.
// What was found in messages that stay is kept by Threads, so that of a
// conversation that goes on only the end is looked at.
type Past struct {
	facts *facts        // nil: of no messages
	upTo  int           // messages that facts are about
	rest  []llm.Message // behind them
}

// facts are about the beginning of a conversation. They grow with it, and each
// tells the message that it is of, so that a Past of less of it stays as it was.
type facts struct {
	mu    sync.Mutex     // guards all of it
	msgs  []llm.Message  // that were looked at
	calls map[string]int // by the ID: the first message with such a call
	loads []load         // in order
}

// A load is a tool that a result loaded.
type load struct {
	at   int // index of the message
	spec llm.Spec
}

// restless messages at the end may still get more parts.
const restless = 2

// Past looks at a conversation. What it returns may be used for as long as the
// messages are not changed.
func (t *Threads) Past(msgs []llm.Message) Past {
	settled := msgs[:max(0, len(msgs)-restless)]
	if len(settled) == 0 {
		return Past{rest: msgs}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.known) - 1; i >= 0; i-- {
		if f := t.known[i]; f.grow(settled) {
			t.known = append(slices.Delete(t.known, i, i+1), f)
			return Past{f, len(settled), msgs[len(settled):]}
		}
	}
	f := &facts{calls: map[string]int{}}
	f.grow(settled)
	if t.known = append(t.known, f); len(t.known) > maxThreads {
		t.known = slices.Delete(t.known, 0, 1)
	}
	return Past{f, len(settled), msgs[len(settled):]}
}

// grow learns messages, and reports whether they go on with those it knows.
func (f *facts) grow(msgs []llm.Message) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.msgs)
	if n > len(msgs) || !slices.EqualFunc(f.msgs, msgs[:n], same) {
		return false
	}
	for i, m := range msgs[n:] {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolUse:
				if _, ok := f.calls[p.ID]; !ok {
					f.calls[p.ID] = n + i
				}
			case llm.ToolResult:
				for _, s := range p.Loaded {
					f.loads = append(f.loads, load{n + i, s})
				}
			case llm.Text, llm.Thinking, llm.Image, llm.Document:
			}
		}
	}
	f.msgs = append(f.msgs, msgs[n:]...)
	return true
}

// called reports whether a call of the conversation has this ID.
func (p Past) called(id string) bool {
	if p.facts != nil {
		p.facts.mu.Lock()
		at, ok := p.facts.calls[id]
		p.facts.mu.Unlock()
		if ok && at < p.upTo {
			return true
		}
	}
	for _, m := range p.rest {
		for _, part := range m.Parts {
			if u, ok := part.(llm.ToolUse); ok && u.ID == id {
				return true
			}
		}
	}
	return false
}

// loaded lists the tools that results loaded, each once, as it was described
// last, in the order in which they came first.
func (p Past) loaded() (out []llm.Spec) {
	at := map[string]int{}
	add := func(s llm.Spec) {
		if i, known := at[s.Name]; known {
			out[i] = s
			return
		}
		at[s.Name] = len(out)
		out = append(out, s)
	}
	if p.facts != nil {
		p.facts.mu.Lock()
		defer p.facts.mu.Unlock()
		for _, l := range p.facts.loads {
			if l.at < p.upTo {
				add(l.spec)
			}
		}
	}
	for _, m := range p.rest {
		for _, part := range m.Parts {
			if r, ok := part.(llm.ToolResult); ok {
				for _, s := range r.Loaded {
					add(s)
				}
			}
		}
	}
	return out
}

// Tools sorts the tools of a request: those to list, in order, and those that
// results of the conversation loaded, each once as it was described last.
func (p Past) Tools(tools []llm.Spec) (listed, loaded []llm.Spec) {
	if loaded = p.loaded(); len(loaded) == 0 {
		return slices.Clip(tools), nil
	}
	there := make(map[string]bool, len(loaded))
	for _, s := range loaded {
		there[s.Name] = true
	}
	again := map[string]bool{} // in another process of the session it was deferred
	for _, s := range tools {
		if !s.Deferred || !there[s.Name] {
			listed = append(listed, s)
			again[s.Name] = true
		}
	}
	return listed, slices.DeleteFunc(loaded, func(s llm.Spec) bool { return again[s.Name] })
}
