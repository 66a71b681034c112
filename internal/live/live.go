// Package live knows the sessions that run in processes of this machine and user: it has
// other processes reach those of this one, and finds those of others. A connection that breaks
// while the other process lives is made again (Link). Where a process listens, nothing but it
// and package rpc knows.
package live

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/rpc"
)

// patience is how long a process may take to say which sessions it has.
const patience = 2 * time.Second

// leastID is how much of a session's ID names it, in characters.
const leastID = 4

// dir is the folder of sockets in the state folder.
func dir(state string) string { return filepath.Join(state, "run") }

// Listen lets other processes of the same user reach the sessions of c, with the scope
// ask.Admin, until the returned function is called. state is the state folder.
func Listen(ctx context.Context, c client.Client, state, version string) (stop func(), err error) {
	l, err := rpc.Listen(ctx, dir(state), lease.ThisProcess(), rpc.Config{Client: c, Version: version, Scope: ask.Admin})
	if err != nil {
		return nil, err
	}
	return l.Close, nil
}

// A Session runs in another process, to which Client is connected.
type Session struct {
	ask.OpenSession
	PID    int
	Client *Link
}

// A List is the sessions that run. Close ends the connections to them.
type List []Session

// Find connects to every process that has sessions, as a client of this name. mute are the
// processes that did not answer.
func Find(ctx context.Context, state, name string, scope ask.Scope) (out List, mute []int, err error) {
	cards, err := rpc.Find(dir(state), lease.ThisProcess())
	found, lost := make([]List, len(cards)), make([]error, len(cards))
	var all sync.WaitGroup
	for i, card := range cards {
		all.Go(func() { found[i], lost[i] = of(ctx, dir(state), card, rpc.Hello{Name: name, Scope: &scope}) })
	}
	all.Wait()
	for i := range cards {
		out = append(out, found[i]...)
		if lost[i] != nil && !errors.Is(lost[i], client.ErrUnreachable) { // else it is just ending
			mute = append(mute, cards[i].PID)
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	return out, mute, err
}

// of are the sessions of one process.
func of(ctx context.Context, dir string, card rpc.Card, h rpc.Hello) (List, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := dial(within, dir, card, h)
	if err != nil {
		return nil, err
	}
	var open []ask.OpenSession
	r, err := c.Ask(within, "", ask.Open{})
	if err == nil {
		open, err = ask.Data[[]ask.OpenSession](r)
	}
	if err != nil || len(open) == 0 {
		_ = c.Close()
		return nil, err
	}
	var out List
	for _, s := range open {
		out = append(out, Session{s, card.PID, c})
	}
	return out, nil
}

// Close ends the connections.
func (l List) Close() {
	for _, s := range l {
		_ = s.Client.Close()
	}
}

// Named are those that a word names: an ID, at least four characters of its beginning, or
// the title.
func (l List) Named(word string) (out List) {
	for _, s := range l {
		if s.ID == word {
			return List{s}
		}
		if len(word) >= leastID && strings.HasPrefix(s.ID, word) || s.Title == word {
			out = append(out, s)
		}
	}
	return out
}

// In are those that work in a folder or repository.
func (l List) In(dir, root string) List {
	return slices.DeleteFunc(slices.Clone(l), func(s Session) bool { return s.Dir != dir && (s.Root != root || root == "") })
}
