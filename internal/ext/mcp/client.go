package mcp

import (
	"context"
	"errors"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/view"
)

// A Client does what servers ask of us. Its methods may be called by several
// goroutines; what is asked ends with ctx.
type Client interface {
	// Ask puts a form or a page to a person. From, Message and all texts of the form
	// are cleaned and bounded. An answer that does not fit the form is not sent.
	Ask(ctx context.Context, server string, form view.Form) (op.Answer, error)
	// Sample asks a model. Only servers that may get here, and the person has yet to
	// be asked. An error refuses.
	Sample(ctx context.Context, server string, s Sampling) (Sampled, error)
	// Changed is told that a resource which was read has changed.
	Changed(server, uri string)
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

var errNobody = errors.New("nobody can be asked here")

func (nobody) Ask(context.Context, string, view.Form) (op.Answer, error) {
	return op.Answer{}, errNobody
}

func (nobody) Sample(context.Context, string, Sampling) (Sampled, error) {
	return Sampled{}, errNobody
}

func (nobody) Changed(string, string) {}
