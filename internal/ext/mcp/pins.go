package mcp

import (
	"encoding/json"
	"sync"

	"github.com/adze-agent/adze/internal/text/diff"
	"github.com/adze-agent/adze/internal/view"
)

// A pin is what a tool says of itself.
type pin struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

func newPin(description string, schema json.RawMessage) pin { return pin{description, schema} }

func (p pin) same(q pin) bool {
	return p.Description == q.Description && string(p.Schema) == string(q.Schema)
}

func (p pin) text() string { return p.Description + "\n\n" + indented(p.Schema) + "\n" }

// diff shows what a tool says now beside what it said.
func (p pin) diff(name string, now pin) view.Block {
	return diff.Shown(line(name, 100), p.text(), now.text(), false)
}

// pins are what tools said of themselves when a call of theirs was allowed. A
// tool that says something else later is asked about again.
type pins struct {
	dir string

	mu   sync.Mutex // guards what follows
	seen map[string]map[string]pin
}

func newPins(dir string) *pins { return &pins{dir: dir, seen: map[string]map[string]pin{}} }

// changed is what the tool said when it was allowed, when that was something else.
func (p *pins) changed(s *server, name string, now pin) (was pin, changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, known := p.seen[s.conf.Name][name]
	return was, known && !was.same(now)
}

// keep notes what a tool says whose call was allowed.
func (p *pins) keep(s *server, name string, now pin) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[s.conf.Name] == nil {
		p.seen[s.conf.Name] = map[string]pin{}
	}
	p.seen[s.conf.Name][name] = now
}
