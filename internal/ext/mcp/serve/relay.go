package serve

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
)

// prompted is what the session is told when calls came. No model reads it.
const prompted = "A client of MCP calls tools."

// summarized takes the place of calls that are long done, so that the session
// does not grow as long as the process lasts. compactAfter is how many there are
// before that, and focus marks the request for it.
const (
	summarized   = "Clients of MCP called tools. Nothing of it is needed any more."
	focus        = "the calls of MCP clients, all of which are done"
	compactAfter = 300
)

// A Relay stands where a session has its model: what it "replies" are the calls
// of clients. Calls that are there together are of one reply, so that the session
// runs those together that only read. Make one with NewRelay.
type Relay struct {
	submit func(op.Op) error

	mu      sync.Mutex       // guards what follows
	calls   map[string]*call // not answered yet, by ID
	pending []*call          // of them, those that the session was not handed
	turn    bool             // a turn was asked for, and takes what is pending
	since   int              // calls since the last summary
	last    int              // the number of the last call
	prompt  int              // and of the last prompt
}

// A call is one of a client's.
type call struct {
	id, name string
	input    json.RawMessage
	tries    int // turns that ended without taking it
	done     chan event.ToolFinished
	asked    chan event.Asked
	said     chan string // the newest line of what it prints
	lines    float64     // told of them; only for whoever waits
}

// NewRelay returns a relay of no calls.
func NewRelay() *Relay { return &Relay{calls: map[string]*call{}} }

// Target is the relay as a session's model.
func (r *Relay) Target() agent.Target {
	return agent.Target{Model: r, Provider: "mcp", Name: "client", Images: true, Cost: func(llm.Usage) (float64, bool) { return 0, true }}
}

// add hands a call to the session.
func (r *Relay) add(name string, input json.RawMessage) (*call, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	c := &call{id: "mcp-" + strconv.Itoa(r.last), name: name, input: input, done: make(chan event.ToolFinished, 1), asked: make(chan event.Asked, maxAsked), said: make(chan string, 1)}
	r.calls[c.id], r.pending = c, append(r.pending, c)
	r.since++
	return c, r.begin()
}

// begin asks for a turn, unless one will take what is pending. The lock is held.
func (r *Relay) begin() error {
	if r.turn {
		return nil
	}
	r.turn = true
	r.prompt++
	if err := r.submit(op.Prompt{ID: "mcp-calls-" + strconv.Itoa(r.prompt), Text: prompted, Later: true}); err != nil {
		r.turn = false
		return err
	}
	return nil
}

// drop forgets a call that nobody waits for any more. It reports whether the
// session runs it, and no other one.
func (r *Relay) drop(c *call) (alone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.pending, c)
	if delete(r.calls, c.id); at >= 0 {
		r.pending = slices.Delete(r.pending, at, at+1)
		return false
	}
	return len(r.calls) == len(r.pending)
}

// Stream implements llm.Model.
func (r *Relay) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		parts, stop := []llm.Part{llm.Text{S: summarized}}, llm.EndTurn
		if !wantsSummary(req) {
			parts, stop = r.reply()
		}
		for _, p := range parts {
			if !yield(llm.PartDone{Part: p}, nil) {
				return
			}
		}
		yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: parts}, Stop: stop, Model: "client"}, nil)
	}
}

// wantsSummary reports whether a request is for the summary that ended asked for.
func wantsSummary(req llm.Request) bool {
	if len(req.Messages) == 0 {
		return false
	}
	return slices.ContainsFunc(req.Messages[len(req.Messages)-1].Parts, func(p llm.Part) bool {
		t, ok := p.(llm.Text)
		return ok && strings.Contains(t.S, focus)
	})
}

// reply are the calls that are pending, or the end of the turn.
func (r *Relay) reply() ([]llm.Part, llm.Stop) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var parts []llm.Part
	for _, c := range r.pending {
		parts = append(parts, llm.ToolUse{ID: c.id, Name: c.name, Input: c.input})
	}
	r.pending = nil
	if parts == nil {
		r.turn = false // a call that comes now asks for another one
		return []llm.Part{llm.Text{S: "Done."}}, llm.EndTurn
	}
	return parts, llm.WantTools
}

// see takes an event of the session.
func (r *Relay) see(b event.Body) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch b := b.(type) {
	case event.ToolFinished:
		if c := r.calls[b.Call]; c != nil {
			delete(r.calls, b.Call)
			c.done <- b
		}
	case event.Asked:
		if c := r.about(b.Call); c != nil {
			select {
			case c.asked <- b:
				return
			default: // more questions about one call than anybody will answer
			}
		}
		r.refuse(b.Call)
	case event.ToolOutput:
		if c := r.calls[b.Call]; c != nil {
			c.prints(b.S)
		}
	case event.InputRemoved:
		if b.ID == "mcp-calls-"+strconv.Itoa(r.prompt) {
			r.fail(func(*call) bool { return true }, "the call was refused: "+b.Why)
			r.turn = false
		}
	case event.TurnEnded:
		r.ended(b)
	default: // nothing to take
	}
}

// about is the call that a question is about: of what is asked on the way (a
// connection to the network), the only one that runs. nil where that is not known.
func (r *Relay) about(id string) *call {
	if c := r.calls[id]; c != nil {
		return c
	}
	var only *call
	for _, c := range r.calls {
		switch {
		case slices.Contains(r.pending, c):
		case only != nil:
			return nil
		default:
			only = c
		}
	}
	return only
}

// prints keeps the newest line of what a call prints.
func (c *call) prints(s string) {
	line := clip.Line(clip.Visible(lastLine(s)), maxLine)
	if line == "" {
		return
	}
	select {
	case <-c.said:
	default:
	}
	c.said <- line // there is room: nobody else sends
}

// lastLine is the last line of a text that is not empty.
func lastLine(s string) string {
	s = strings.TrimRight(s, " \t\r\n")
	return strings.TrimSpace(s[strings.LastIndexAny(s, "\r\n")+1:])
}

// maxAsked bounds the questions about one call that wait for its client.
const maxAsked = 8

// maxLine bounds a line of progress, in characters.
const maxLine = 200

// ended takes the end of a turn. Events come some time after what they tell of: a
// turn that was completed is one that reply ended, when all it had been handed was
// answered, so calls that are open by now are in the turn after it. Of a turn that
// was cut, those that it was handed and did not answer never will be; those that
// wait get another turn.
func (r *Relay) ended(b event.TurnEnded) {
	if b.How != event.Done {
		r.cut(b)
	}
	if !r.turn && r.since >= compactAfter && r.submit(op.Compact{Focus: focus}) == nil {
		r.since = 0
	}
}

// cut takes the end of a turn that had more to do.
func (r *Relay) cut(b event.TurnEnded) {
	why := "the call did not come to an end: " + b.Reason
	if b.Err != "" {
		why = b.Err
	}
	r.fail(func(c *call) bool { return !slices.Contains(r.pending, c) }, why)
	for _, c := range r.pending {
		c.tries++
	}
	r.fail(func(c *call) bool { return c.tries > 3 }, why)
	r.turn = false
	if len(r.pending) > 0 {
		if err := r.begin(); err != nil {
			r.fail(func(*call) bool { return true }, err.Error())
		}
	}
}

// fail answers calls with an error.
func (r *Relay) fail(which func(*call) bool, why string) {
	for id, c := range r.calls {
		if which(c) {
			delete(r.calls, id)
			c.done <- event.ToolFinished{Call: id, Name: c.name, Text: why, IsErr: true}
		}
	}
	r.pending = slices.DeleteFunc(r.pending, func(c *call) bool { return r.calls[c.id] == nil })
}

// refuse answers a question with no.
func (r *Relay) refuse(id string) {
	_ = r.submit(op.Answer{Call: id, By: "mcp", Comment: nobody, Exact: true}) // it may be settled already
}

const nobody = "adze was not allowed to do this, and the client that called cannot be asked. A person can allow it in adze's settings, for example with: adze permissions add 'Bash(go test:*)'"

// close answers what is left.
func (r *Relay) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail(func(*call) bool { return true }, errClosed.Error())
}

var errClosed = errors.New("adze is shutting down")
