package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/order"
)

// Whom a message can be for besides agents and sessions.
const (
	Parent = "parent" // the session that started the one which says it
	Main   = "main"   // the session at the root of the tree
	All    = "*"      // all agents that work
	User   = "user"   // the person
)

// reserved are words that no agent can have as its name.
var reserved = []string{Parent, Main, All, User}

// maxName bounds the name of an agent, in bytes, and leastID is how much of a session's ID
// names it, in characters.
const (
	maxName = 64
	leastID = 4
)

// usable reports whether an agent can have a name.
func usable(name string) bool {
	return len(name) <= maxName && !slices.Contains(reserved, name) && !strings.HasPrefix(name, "@") &&
		strings.IndexFunc(name, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }) < 0
}

// An address is a session that a message is for.
type address struct{ session, label string }

// Outside reports whether a word names an open session that is not of the tree.
func (t *Tree) Outside(word string) bool {
	word = bare(word)
	t.mu.Lock()
	here := slices.Contains(reserved, word) || word == t.root || t.find(word) != nil
	t.mu.Unlock()
	if here || t.near == nil {
		return false
	}
	peers, err := t.near.Open(t.life)
	return err != nil || slices.ContainsFunc(named(peers, word), func(p Peer) bool { return p.ID != t.root })
}

// bare is a word without what may stand around it.
func bare(word string) string { return strings.TrimPrefix(strings.TrimSpace(word), "@") }

// address finds whom a session means. peers are the other sessions, where they were asked
// for.
func (t *Tree) address(ctx context.Context, from, word string) (to []address, peers []Peer, err error) {
	word = bare(word)
	t.mu.Lock()
	self, m := t.of(from), t.find(word)
	switch {
	case t.closed:
		err = errOver
	case word == Parent && self == nil:
		err = refused("this session has no parent: a person began it")
	case word == Parent:
		to = []address{t.addressOf(self.Order.Of)}
	case word == Main || word == t.root:
		if to = []address{{t.root, "the main session"}}; from == t.root {
			err = refused("that is you")
		}
	case word == All:
		for _, m := range t.members {
			if m.Works() && m != self {
				to = append(to, t.addressOf(m.Begun.Session))
			}
		}
		order.By(to, func(a, b address) int { return strings.Compare(a.label, b.label) })
		if len(to) == 0 {
			err = refused("no other agent works now; those that have ended: %s", cmp.Or(t.names(), "none"))
		}
	case m != nil && m == self:
		err = refused("that is you")
	case m != nil:
		to = []address{t.addressOf(m.Begun.Session)}
	}
	t.mu.Unlock()
	if len(to) > 0 || err != nil {
		return to, nil, err
	}
	return t.elsewhere(ctx, word)
}

// addressOf is that of a session of the tree. It needs t.mu.
func (t *Tree) addressOf(session string) address {
	if m := t.of(session); m != nil {
		return address{session, "the agent " + m.Label()}
	}
	return address{session, "the main session"}
}

// elsewhere finds a session with a tree of its own.
func (t *Tree) elsewhere(ctx context.Context, word string) (to []address, peers []Peer, err error) {
	if t.near != nil && word != "" {
		if peers, err = t.near.Open(ctx); err != nil {
			return nil, nil, err
		}
	}
	found := named(peers, word)
	switch {
	case len(found) == 1 && found[0].ID == t.root:
		return nil, nil, refused("that is the session that you belong to; its name here is %s", Main)
	case len(found) == 1:
		return []address{{found[0].ID, "the session " + found[0].Label()}}, peers, nil
	case len(found) > 1:
		return nil, nil, refused("%d open sessions are called so; give an id: %s", len(found), labels(found))
	}
	return nil, nil, t.nobody(ctx, word, peers)
}

// named are the sessions that a word names: an ID, at least four characters of its
// beginning, or the title.
func named(peers []Peer, word string) (out []Peer) {
	for _, p := range peers {
		if p.ID == word {
			return []Peer{p}
		}
		if p.Title == word || len(word) >= leastID && strings.HasPrefix(p.ID, word) {
			out = append(out, p)
		}
	}
	return out
}

func labels(peers []Peer) string {
	var out []string
	for _, p := range peers {
		out = append(out, p.Label())
	}
	return strings.Join(out, ", ")
}

// nobody says that a word names nobody who can be reached, and who can.
func (t *Tree) nobody(ctx context.Context, word string, peers []Peer) error {
	if t.near != nil && word != "" {
		if p, ok := t.near.Closed(ctx, word); ok {
			return unopened(p)
		}
	}
	t.mu.Lock()
	agents := t.names()
	t.mu.Unlock()
	others := slices.DeleteFunc(slices.Clone(peers), func(p Peer) bool { return p.ID == t.root })
	return refused("there is no agent and no open session %q. Agents: %s. Other open sessions: %s", clip.Line(clip.Visible(word), 80), cmp.Or(agents, "none"), cmp.Or(labels(others), "none"))
}

// unopened says that a session cannot be reached.
func unopened(p Peer) error {
	if p.Turns {
		return refused("the session %s is open in a process that does not answer, so that nothing can be delivered to it", p.Label())
	}
	return refused("the session %s is open in no process, so that nothing can be delivered to it; a person opens it with: adze --resume %s", p.Label(), hint.Shell(p.ID))
}

// shut says that the receiver of a message is not there any more.
func (t *Tree) shut(ctx context.Context, session string) error {
	if t.near != nil {
		if p, ok := t.near.Closed(ctx, session); ok {
			return unopened(p)
		}
	}
	return refused("the session %s is open nowhere", session)
}

// sender is how a session of the tree is told to another one.
func (t *Tree) sender(from, to string) op.Sender {
	root, _ := t.host.Look(t.root)
	main := Peer{ID: t.root, Title: root.Title}
	t.mu.Lock()
	defer t.mu.Unlock()
	self, other := t.of(from), t.of(to)
	s := op.Sender{ID: from, Name: Main, As: "the main session"}
	if self != nil {
		s.Name, s.As = cmp.Or(self.Name, self.ID), "the agent "+self.Label()
	}
	switch {
	case other != nil && other.Order.Of == from:
		s.Name = Parent
		s.As += ", which started you"
	case other == nil && to != t.root:
		s.As = fmt.Sprintf("the session %s of the same person", main.Label())
		if self != nil {
			s.As = fmt.Sprintf("the agent %s of the session %s of the same person", self.Label(), main.Label())
		}
		s.Name = t.root
	}
	return s
}
