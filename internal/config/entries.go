package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// An Entry is one entry of a map of objects in a file, such as a server.
type Entry struct {
	Name string
	JSON json.RawMessage // standard JSON
	Origin
	// Problem is why it cannot be used: it, or a name in it, is given twice, and
	// nobody can say which is meant. "" is none.
	Problem string
}

// Entries reads a map of objects: what stands under the name key at the top of a
// JSON text, with comments and trailing commas. In each entry all else is as it
// was written. There is no error for a text that has no such key.
func Entries(text []byte, at Origin, key string) ([]Entry, error) {
	if blank(text) {
		return nil, nil
	}
	b := newBuilder(text, at)
	v, err := b.value()
	if err != nil {
		return nil, err
	}
	top, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("it holds no object")
	}
	var out []Entry
	for _, m := range top.Members {
		if literalString(m.Name.Value) != key {
			continue
		}
		list, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			if line := b.origin(m.Name.StartOffset).Line; line > 0 { // 0: it is of no file
				return nil, fmt.Errorf("line %d: %q is no object", line, key)
			}
			return nil, fmt.Errorf("%q is no object", key)
		}
		for _, x := range list.Members {
			out = append(out, b.entry(x))
		}
	}
	return onlyOnce(out), nil
}

// entry reads one entry.
func (b *builder) entry(m hujson.ObjectMember) Entry {
	b.problems = nil
	e := Entry{Name: literalString(m.Name.Value), Origin: b.origin(m.Name.StartOffset)}
	e.JSON = b.build(m.Value).json()
	if len(b.problems) > 0 {
		twice := b.problems[0]
		e.Problem = fmt.Sprintf("%q is given twice in it, again in line %d", twice.Key, twice.Line)
	}
	return e
}

// onlyOnce says of entries with one name that nobody knows which is meant. The
// first stands for all.
func onlyOnce(list []Entry) (out []Entry) {
	at := map[string]int{}
	for _, e := range list {
		if i, twice := at[e.Name]; twice {
			out[i].Problem = fmt.Sprintf("the same file has another one of this name in line %d", e.Line)
			continue
		}
		at[e.Name] = len(out)
		out = append(out, e)
	}
	return out
}

// ServerEntries are the entries of the setting mcpServers, each with the layer
// that it is from: first those that count, then those of weaker layers that have
// the name of one of them, the strongest first.
func (c *Config) ServerEntries() (out []Entry) {
	for _, m := range c.tree.get("mcpServers").all() {
		out = append(out, Entry{Name: m.name, JSON: m.value.json(), Origin: m.from})
	}
	for _, m := range slices.Backward(c.covered) {
		out = append(out, Entry{Name: m.name, JSON: m.value.json(), Origin: m.from})
	}
	return out
}

// lay puts a layer over what weaker ones said. The entries of some maps are
// replaced as a whole: of two servers with one name, one counts and not a
// mixture of both.
func (l *loader) lay(n *node) {
	const whole = "mcpServers"
	for _, m := range n.get(whole).all() {
		old := l.tree.get(whole)
		if v := old.get(m.name); v != nil && m.value.kind != 'n' {
			at := slices.IndexFunc(old.members, func(o member) bool { return o.name == m.name })
			l.out.covered = append(l.out.covered, old.members[at])
			l.tree = l.tree.with(member{whole, old.from, old.with(member{name: m.name})})
		}
	}
	l.tree = merge(l.tree, n)
}

func (n *node) all() []member {
	if n == nil {
		return nil
	}
	return n.members
}
