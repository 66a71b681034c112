package print

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// Callbacks are hooks that the program which drives adze answers itself, with
// hook_callback requests (compat.md 4.5). A session asks through Ask, Run carries
// it out.
type Callbacks struct {
	asked chan callback
	over  chan struct{} // closed when Run is over
	late  chan struct{} // of one place: nobody waits any more for something that was asked
}

// A callback is a question to the host that waits for its answer.
type callback struct {
	ctx      context.Context
	id, call string
	input    json.RawMessage
	server   string                // of a message to an MCP server that the host serves; else ""
	answer   chan<- callbackAnswer // takes one without blocking
	after    event.Seq             // the last event that had happened when it was asked
	reply    bool                  // a reply streamed then, and may be what made the call: its line comes first
}

type callbackAnswer struct {
	text json.RawMessage
	err  error
}

// NewCallbacks returns a way to ask the host of a Run that has not begun.
func NewCallbacks() *Callbacks {
	return &Callbacks{asked: make(chan callback), over: make(chan struct{}), late: make(chan struct{}, 1)}
}

var errHostGone = errors.New("cannot be asked: the program that drives this session takes no more questions")

// Ask asks the host for the answer of one of its hooks.
func (c *Callbacks) Ask(ctx context.Context, id string, input json.RawMessage, call string) (json.RawMessage, error) {
	return c.put(ctx, callback{ctx: ctx, id: id, call: call, input: input})
}

func (c *Callbacks) put(ctx context.Context, q callback) (json.RawMessage, error) {
	answer := make(chan callbackAnswer, 1)
	q.answer = answer
	select {
	case c.asked <- q:
	case <-c.over:
		return nil, errHostGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case a := <-answer:
		return a.text, a.err
	case <-c.over:
		return nil, errHostGone
	case <-ctx.Done():
		select {
		case c.late <- struct{}{}:
		default: // it looks in any case
		}
		return nil, ctx.Err()
	}
}

// Message hands a message to an MCP server that the host serves, and returns its
// answer.
func (c *Callbacks) Message(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error) {
	text, err := c.put(ctx, callback{ctx: ctx, server: server, input: message})
	if err != nil {
		return nil, err
	}
	var in struct {
		Answer json.RawMessage `json:"mcp_response"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("the program that drives adze answered a message to the MCP server %s with what cannot be read: %s", server, fastjson.InWords(err))
	}
	return in.Answer, nil
}

// callbacks are the open questions of the host's hooks, by request ID.
type callbacks struct {
	held  []callback // not asked yet: the host has not read all that led to them
	open  map[string]callback
	count int
}

// heard takes the end of a reply over to the questions that wait for it.
func (r *runner) heard(e event.Event) {
	switch e.Body.(type) {
	case event.Replied, event.Dropped, event.TurnEnded:
		for i, c := range r.callbacks.held {
			r.callbacks.held[i].reply = c.reply && e.Seq <= c.after
		}
	default: // no reply ends with the others
	}
}

// callHeld puts the questions to the host that come next in what it reads: a call
// is asked about behind the reply that made it and the results that the reply
// answers, also where hooks look at it while the reply still streams. What is about no
// call waits for no reply.
func (r *runner) callHeld() {
	r.callbacks.held = slices.DeleteFunc(r.callbacks.held, func(c callback) bool {
		switch {
		case c.ctx.Err() != nil: // nobody waits any more, such as for a call of a reply that was dropped
			return true
		case c.after > r.seen || c.call != "" && c.reply:
			return false
		}
		r.call(c)
		return true
	})
}

// call puts the question of a hook to the host.
func (r *runner) call(c callback) {
	if !r.open {
		c.answer <- callbackAnswer{err: errHostGone}
		return
	}
	r.callbacks.count++
	id := "hook-" + strconv.Itoa(r.callbacks.count)
	r.callbacks.open[id] = c
	req := map[string]any{"subtype": "hook_callback", "callback_id": c.id, "input": c.input}
	if c.server != "" {
		req = map[string]any{"subtype": "mcp_message", "server_name": c.server, "message": c.input}
	}
	if c.call != "" {
		req["tool_use_id"] = c.call
	}
	r.write(map[string]any{"type": "control_request", "request_id": id, "request": req})
}

// forget withdraws the questions that nobody waits for any more.
func (r *runner) forget() {
	r.callbacks.held = slices.DeleteFunc(r.callbacks.held, func(c callback) bool { return c.ctx.Err() != nil })
	for _, id := range slices.Sorted(maps.Keys(r.callbacks.open)) {
		if r.callbacks.open[id].ctx.Err() != nil {
			delete(r.callbacks.open, id)
			r.write(map[string]any{"type": "control_cancel_request", "request_id": id})
		}
	}
}

// called takes the host's answer to a question of a hook. ok is false when it is
// an answer to something else.
func (r *runner) called(in reply) (ok bool) {
	c, ok := r.callbacks.open[in.RequestID]
	if !ok {
		return false
	}
	delete(r.callbacks.open, in.RequestID)
	a := callbackAnswer{text: in.Response}
	if in.Subtype == "error" {
		a = callbackAnswer{err: fmt.Errorf("failed in the program that drives adze: %s", in.Error)}
	}
	c.answer <- a
	return true
}

// hostHooks reads the hooks of an initialize. Those of events that nothing causes
// never run, and cost nothing: silent says which of them the format does not have
// either, as it is known here.
func hostHooks(in map[string]json.RawMessage) (out []hook.Hook, silent []string, err error) {
	for _, event := range slices.Sorted(maps.Keys(in)) {
		var groups []struct {
			Matcher string   `json:"matcher"`
			IDs     []string `json:"hookCallbackIds"`
			Timeout float64  `json:"timeout"`
		}
		if err := json.Unmarshal(in[event], &groups); err != nil {
			return nil, nil, fmt.Errorf("the hooks of %s cannot be read: %s", event, fastjson.InWords(err))
		}
		if event == string(hook.TaskCreated) || event == string(hook.TaskCompleted) {
			continue // items of a todo list are no tasks for hosts: their own tool makes those
		}
		if e := hook.Event(event); !e.Caused() {
			if !e.Later() {
				silent = append(silent, event)
			}
			continue
		}
		for _, g := range groups {
			var handlers []json.RawMessage
			for _, id := range g.IDs {
				h, err := json.Marshal(map[string]any{"type": hook.Callback, "callback": id, "timeout": g.Timeout})
				if err != nil {
					return nil, nil, err
				}
				handlers = append(handlers, h)
			}
			if len(handlers) == 0 {
				continue
			}
			text, err := json.Marshal(hook.Group{Matcher: g.Matcher, Hooks: handlers})
			if err != nil {
				return nil, nil, err
			}
			hooks, problems := hook.Parse(event, text, hook.Place{From: "initialize", Scope: "session"})
			if err := errors.Join(problems...); err != nil {
				return nil, nil, err
			}
			out = append(out, hooks...)
		}
	}
	return out, silent, nil
}
