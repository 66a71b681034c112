package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/mention"
)

// maxPosted bounds a message of a person, in bytes.
const maxPosted = 100_000

// Post sends what a prompt of a person says in a session of the tree to the agent or the
// session that it names first ("@finder look in b"). told is what became of it, for people;
// "" where it is for this session, because it names nobody, or a file, which the names are
// that other reports. The error is an op.Refusal where it could not be delivered.
func (t *Tree) Post(ctx context.Context, from string, p op.Prompt, other func(name string) bool) (told string, err error) {
	name, text, at, ok := mention.Address(p.Text)
	if !ok || other(name) || !t.reaches(ctx, from, name) {
		return "", nil
	}
	switch {
	case text == "":
		return "", undelivered("%s is told nothing: write behind the name what it is to know", clip.Visible(name))
	case len(p.Images)+len(p.With) > 0:
		return "", undelivered("a message has words only, and no pictures or documents: name their files in it")
	case len(text) > maxPosted:
		return "", undelivered("a message has at most %s: put what is long into a file, and name that", clip.Size(maxPosted))
	}
	typed := op.Span{From: max(0, p.Typed.From-at), To: min(len(text), p.Typed.To-at)}
	if typed.To <= typed.From {
		typed = op.Span{} // nobody typed it: it is evidence for whoever reads it
	}
	if m, ok := t.Find(bare(name)); ok && m.Plans && strings.EqualFold(text, "approve") {
		text, typed = approval, op.Span{}
	}
	got, err := t.Send(ctx, from, Letter{To: name, Text: text, Typed: typed, Input: p.ID})
	if err != nil {
		return "", undelivered("nothing was sent: %s", err)
	}
	var lines []string
	lost := 0
	for _, r := range got {
		if r.How == event.MessageReturned {
			lost++
		}
		lines = append(lines, fmt.Sprintf("to %s: %s", r.To, r.said()))
	}
	all := strings.Join(lines, "\n")
	if lost == len(got) {
		return "", undelivered("%s", all)
	}
	return fmt.Sprintf("%q %s", clip.Line(clip.Clean(text), 200), all), nil
}

func undelivered(format string, args ...any) error {
	return &op.Refusal{Code: op.Undelivered, Text: fmt.Sprintf(format, args...)}
}

// reaches reports whether a word names somebody whom a person can send a message from a
// session of the tree: an agent, or another open session of theirs.
func (t *Tree) reaches(ctx context.Context, from, word string) bool {
	word = bare(word)
	t.mu.Lock()
	m, child := t.find(word), t.of(from) != nil
	t.mu.Unlock()
	switch {
	case word == "":
		return false
	case m != nil, word == All, child && (word == Parent || word == Main):
		return true
	case t.near == nil:
		return false
	}
	peers, _ := t.near.Open(ctx) // a session that does not answer cannot be sent anything
	return slices.ContainsFunc(named(peers, word), func(p Peer) bool { return p.ID != t.root })
}

// A Receiver is somebody whom a person can send a message.
type Receiver struct {
	Name  string // that it is written by
	About string // what it does
}

// Receivers are all whom a person can send a message from a session of the tree: its agents,
// those that work first, then other open sessions.
func (t *Tree) Receivers(ctx context.Context, from string) (out []Receiver) {
	var ended []Receiver
	for _, m := range t.List("") {
		r := Receiver{m.called(), "agent: " + clip.Line(clip.Clean(m.Title), 80) + ": " + m.state()}
		switch {
		case m.Begun.Session == from:
		case m.Works():
			out = append(out, r)
		default:
			ended = append(ended, r)
		}
	}
	out = append(out, ended...)
	if t.near == nil {
		return out
	}
	peers, _ := t.near.Open(ctx) // as for reaches
	for _, p := range peers {
		if p.ID != t.root {
			name := p.Title
			if name == "" || strings.ContainsAny(name, "\"\n") { // it cannot be written behind "@"
				name = p.ID
			}
			out = append(out, Receiver{Name: name, About: "session in " + p.Dir + ": " + p.Doing})
		}
	}
	return out
}
