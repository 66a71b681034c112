// Package netproxy is the way out of the sandbox: a proxy that lets through
// what a list of domains allows.
package netproxy

import "context"

// Ask decides about a host no list names.
type Ask func(ctx context.Context, host string, port int) Decision

// Decision is the answer.
type Decision int

// Proxy is a running proxy.
type Proxy struct{}

// Address is where it is reached from inside.
func (p *Proxy) Address() string { return "" }

// Close ends it.
func (p *Proxy) Close() error { return nil }
