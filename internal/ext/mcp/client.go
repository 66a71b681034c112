package mcp

import (
	"context"
	"errors"
	"slices"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// A Client does what servers ask of us. Its methods may be called by several
// goroutines; what is asked ends with ctx.
type Client interface {
	// Here reports whether the caller is one that this Client answers for.
	Here(by Caller) bool
	// Ask puts a form or a page to a person. From, Message and all texts of the form
	// are cleaned and bounded. An answer that does not fit the form is not sent.
	Ask(ctx context.Context, by Caller, server string, form view.Form) (op.Answer, error)
	// Sample asks a model. Only servers that may get here, and the person has yet to
	// be asked. An error refuses.
	Sample(ctx context.Context, by Caller, server string, s Sampling) (Sampled, error)
	// Changed is told that a resource has changed which a session has read.
	Changed(session, server, uri string)
}

// A Caller is for whom a server works when it asks: the session whose request is
// open, and its call, "" for what is no call of a tool. The zero value is that the
// server asks of its own accord.
//
// From protocol 2026-07-28 on a question comes as the answer of a request, so that the
// caller is certain. Before, a question names no request: the caller is who made the
// newest of those that are open.
type Caller struct{ Session, Call string }

func callerOf(env tool.Env) Caller { return Caller{Session: env.Session, Call: env.Call} }

// works notes that the server works for a caller, until done is called. What it asks
// within the context that is returned, it asks for that caller.
func (l *link) works(ctx context.Context, by Caller) (within context.Context, done func()) {
	c := &by
	l.mu.Lock()
	l.callers = append(l.callers, c)
	l.mu.Unlock()
	return context.WithValue(ctx, callerKey{}, by), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.callers = slices.DeleteFunc(l.callers, func(x *Caller) bool { return x == c })
	}
}

// callerKey has the Caller of a request. Nothing but the SDK is between works and
// caller, and it carries only the context.
type callerKey struct{}

// caller is for whom the server asks.
func (l *link) caller(ctx context.Context) Caller {
	if by, ok := ctx.Value(callerKey{}).(Caller); ok {
		return by
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range slices.Backward(l.callers) {
		if c.Session != "" {
			return *c
		}
	}
	return Caller{}
}

// A Sampling is what a server would have a model answer. Each call of a tool in
// its messages is answered in the message behind it.
type Sampling struct {
	System    string
	Messages  []llm.Message
	MaxTokens int        // at most 8,192
	Tools     []llm.Spec // the server's, which runs what the model calls
	Choice    string     // whether the model calls them, "" as it likes
}

// What Sampling.Choice may say.
const (
	ChoiceRequired = "required" // it has to call one
	ChoiceNone     = "none"     // it must not
)

// A Sampled is what the model said. Stop is a word of the protocol.
type Sampled struct {
	Model, Text, Stop string
	Calls             []llm.ToolUse
}

// nobody is a Client that refuses.
type nobody struct{}

func (nobody) Here(Caller) bool { return false }

var errNobody = errors.New("nobody can be asked here")

func (nobody) Ask(context.Context, Caller, string, view.Form) (op.Answer, error) {
	return op.Answer{}, errNobody
}

func (nobody) Sample(context.Context, Caller, string, Sampling) (Sampled, error) {
	return Sampled{}, errNobody
}

func (nobody) Changed(string, string, string) {}
