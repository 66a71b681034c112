// Package rpc carries a client.Client to another process: JSON-RPC 2.0, one message on
// each line, over whatever carries bytes both ways. There is one method for each of its
// methods (submit, ask, follow), "hello" before them and "cancel" for what goes on;
// docs/clients.md is the description for who writes a client in another language.
//
// What a connection may do is its Scope, which the server gives. Who it is, the server
// says as well: an answer tells the session by whom it was given, and no client can speak
// in the name of another. A connection that ends takes its person with it (op.Detach) and
// nothing else: what a session does goes on.
//
// A reader that is too slow holds up no session. Its follow is ended with the reason
// "behind", by the server when the reader took nothing for Patience, and by Client when
// its own user did not take what came. Client then follows again after the last number,
// so that no durable event is lost; only live ones are. A connection that breaks (ErrCut) is
// not made again here: who knows where the process listens does that.
//
// It knows no session and no terminal, and decides nothing that a client.Client decides.
package rpc

import (
	"errors"
	"fmt"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/hint"
)

// Protocol is the version of the messages. It grows when one of them changes its meaning.
const Protocol = 1

// MaxMessage bounds a message in bytes.
const MaxMessage = event.MaxLine

// Bounds of a connection.
const (
	maxRunning = 64               // requests that have no answer yet, and follows, each
	Patience   = 30 * time.Second // how long a reader may take nothing
	lastWords  = time.Second      // to say why a connection ends
	maxWaiting = 8 << 20          // bytes of events that wait in a Client for its user

	maxEnvelope = 1 << 10 // bytes of a message around its params
)

// Names of the methods: requests, then notifications.
const (
	methodHello  = "hello"
	methodSubmit = "submit"
	methodAsk    = "ask"
	methodFollow = "follow"

	methodCancel = "cancel" // to the server: ends a request or a follow
	methodEvent  = "event"  // from the server: something a follow yields
	methodEnded  = "ended"  // from the server: a follow is over
)

// A message is any message. Which members it has, the specification of JSON-RPC says.
type message struct {
	Version string       `json:"jsonrpc"`
	ID      fastjson.Raw `json:"id,omitempty"`
	Method  string       `json:"method,omitempty"`
	Params  fastjson.Raw `json:"params,omitempty"`
	Result  fastjson.Raw `json:"result,omitempty"`
	Error   *wireError   `json:"error,omitempty"`
}

// What the members params and result hold, by method.
type (
	// Hello is what a client says of itself. Key opens a socket: the file beside it has
	// it. Name is the beginning of the name by which sessions know the client, such as
	// "attach"; Scope is what it wants to be able to do, at most what it is given.
	Hello struct {
		Protocol int        `json:"protocol"`
		Name     string     `json:"client,omitempty"`
		Key      string     `json:"key,omitempty"`
		Scope    *ask.Scope `json:"scope,omitempty"` // nil: all that it is given
	}
	// A Welcome is the answer: what the client may do, and what it is called from now on.
	Welcome struct {
		Protocol int       `json:"protocol"`
		Version  string    `json:"version"` // of adze
		Name     string    `json:"client"`
		Scope    ask.Scope `json:"scope"`
	}
	submitParams struct {
		Session string       `json:"session"`
		Op      fastjson.Raw `json:"op"`
	}
	askParams struct {
		Session string       `json:"session,omitempty"`
		Query   fastjson.Raw `json:"query"`
	}
	followParams struct {
		Session string       `json:"session"`
		After   event.Seq    `json:"after,omitempty"`
		Detail  event.Detail `json:"detail,omitempty"`
	}
	cancelParams struct {
		ID fastjson.Raw `json:"id"` // of the request
	}
	eventParams struct {
		Follow fastjson.Raw `json:"follow"` // the ID of the request
		Event  fastjson.Raw `json:"event"`
	}
	endedParams struct {
		Follow fastjson.Raw `json:"follow"`
		Error  *wireError   `json:"error,omitempty"` // nil: the session is over
	}
)

// A wireError is why something was not done. Number is one of JSON-RPC's own, or ours.
type wireError struct {
	Number int       `json:"code"`
	Text   string    `json:"message"`
	Data   errorData `json:"data,omitzero"`
}

// errorData is what a program can make of an error: the code of a Refusal, or of the
// connection.
type errorData struct {
	Code op.Code `json:"code,omitempty"`
	Hint string  `json:"hint,omitempty"`
}

// Numbers of errors.
const (
	numberUnread    = -32700 // it is not JSON
	numberNoMessage = -32600 // it is no message, or not one that may come now
	numberNoMethod  = -32601
	numberParams    = -32602
	numberRefused   = -32000 // all that a session or this program says
)

// Codes of what happened to the connection, beside those of refusals.
const (
	codeBehind    op.Code = "behind"    // of a follow: the reader took nothing for too long
	codeEnding    op.Code = "ending"    // the process with the session ends
	codeCancelled op.Code = "cancelled" // the client wanted no answer any more
)

// errBehind ends a follow whose reader is too slow.
var errBehind = errors.New("the reader took nothing for too long; follow again after the last number that came")

// ErrCut is a connection that ended without a word. The process with the session may be
// there all the same.
var ErrCut = fmt.Errorf("%w: the connection ended", client.ErrUnreachable)

// errEnding is why a server ends what goes on.
var errEnding = fmt.Errorf("%w: it is ending", client.ErrUnreachable)

// wire is the form in which err crosses.
func wire(err error) *wireError {
	e := &wireError{Number: numberRefused, Text: err.Error(), Data: errorData{Hint: hint.Of(err)}}
	var r *op.Refusal
	switch {
	case errors.As(err, &r):
		e.Data.Code = r.Code
	case errors.Is(err, errBehind):
		e.Data.Code = codeBehind
	case errors.Is(err, errEnding):
		e.Data.Code = codeEnding
	}
	return e
}

// err is what crossed in this form.
func (e *wireError) err() error {
	switch e.Data.Code {
	case codeBehind:
		return errBehind
	case codeEnding:
		return errEnding
	case "", codeCancelled:
		err := errors.New(e.Text)
		if e.Data.Hint != "" {
			return hint.With(err, e.Data.Hint)
		}
		return err
	}
	return &op.Refusal{Code: e.Data.Code, Text: e.Text, Advice: e.Data.Hint}
}
