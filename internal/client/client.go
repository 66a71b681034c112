// Package client is the one seam between adze and whatever shows it: a terminal, a
// program over pipes, a page, another machine. Whoever has a Client does not know
// whether sessions run in this process.
package client

import (
	"context"
	"errors"
	"iter"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// ErrUnreachable is in the error of whatever the connection could not carry: the process
// with the session cannot be reached, or not any more. A session that is over, or that
// the process does not have, is an op.Refusal (op.Closed, op.NoSession) instead.
var ErrUnreachable = errors.New("the process that has the session cannot be reached")

// A Client is everything that can be done with the sessions of a process. All methods
// may be called by several goroutines. session is an ID.
type Client interface {
	// Submit has a session do something. An error is an *op.Refusal, or says why the
	// connection could not carry it; nil says that the session took it. Who gives up
	// waiting (ctx), or loses the connection, does not know whether it did.
	Submit(ctx context.Context, session string, o op.Op) error
	// Follow yields every durable event after a number, in order and without loss, and
	// then what follows, with as much detail as was asked for. Nothing that happens after
	// Follow returned is missed, so what it returns must be ranged over, once. It ends
	// when ctx, the session or the connection does; of the last an error says why.
	Follow(ctx context.Context, session string, after event.Seq, d event.Detail) iter.Seq2[event.Event, error]
	// Ask answers a question about a session or, with "", about the run.
	Ask(ctx context.Context, session string, q ask.Query) (ask.Reply, error)
}
