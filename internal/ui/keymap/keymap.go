package keymap

import (
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/text/order"
)

// A Binding gives a chord a meaning in a context.
type Binding struct {
	Context Context
	Keys    []Key
	Action  Action
	Own     bool // from keybindings.json, not a default
}

// A Map is all bindings. It does not change once made, and serves any number of
// goroutines.
type Map struct {
	by       map[Context]map[string]Binding // by Name of the keys
	prefixes map[Context]map[string]bool    // beginnings of chords
	order    map[Action][]Binding           // best first
}

// Default is the map without keybindings.json.
func Default(t Terminal) *Map { return build(defaults(t)) }

func defaults(t Terminal) []Binding {
	var out []Binding
	seen := map[string]bool{}
	for _, row := range table {
		if t.absent(row.action) {
			continue
		}
		for _, s := range slices.Concat(t.extra(row.action), row.keys) {
			keys, err := Parse(s)
			id := string(row.context) + " " + s
			if err != nil || seen[id] { // no default is malformed: TestDefaults
				continue
			}
			seen[id] = true
			out = append(out, Binding{Context: row.context, Keys: keys, Action: row.action})
		}
	}
	return out
}

// build makes a map; of two bindings of one chord the later counts.
func build(list []Binding) *Map {
	m := &Map{map[Context]map[string]Binding{}, map[Context]map[string]bool{}, map[Action][]Binding{}}
	for _, b := range list {
		if m.by[b.Context] == nil {
			m.by[b.Context], m.prefixes[b.Context] = map[string]Binding{}, map[string]bool{}
		}
		m.by[b.Context][Name(b.Keys)] = b
	}
	for _, b := range list {
		if m.by[b.Context][Name(b.Keys)].Action != b.Action || has(m.order[b.Action], b) {
			continue
		}
		m.order[b.Action] = append(m.order[b.Action], b)
		for n := 1; n < len(b.Keys); n++ {
			m.prefixes[b.Context][Name(b.Keys[:n])] = true
		}
	}
	for a := range m.order { // a person's own keys are the ones to show
		order.By(m.order[a], func(x, y Binding) int {
			switch {
			case x.Own == y.Own:
				return 0
			case x.Own:
				return -1
			}
			return 1
		})
	}
	return m
}

func has(list []Binding, b Binding) bool {
	return slices.ContainsFunc(list, func(o Binding) bool {
		return o.Context == b.Context && Name(o.Keys) == Name(b.Keys)
	})
}

// Hint is the chord to show for an action, "" when it has none.
func (m *Map) Hint(a Action) string {
	if bs := m.order[a]; len(bs) > 0 {
		return Label(bs[0].Keys)
	}
	return ""
}

// Lookup finds what a single key does in a context.
func (m *Map) Lookup(c Context, k Key) (Action, bool) {
	b, ok := m.by[c][k.String()]
	return b.Action, ok
}

// Patience is how long a chord waits for its next key.
const Patience = time.Second

// A Chord is the state between two presses. The zero Chord has seen none.
type Chord struct {
	keys []Key
	held bool // the keys so far mean nothing yet
	till time.Time
}

// A Press is what a key did.
type Press struct {
	// Actions are what the key means, innermost context first: the first that has
	// something to do counts.
	Actions []Action
	// Pending: the key begins or goes on with a chord and has done nothing yet.
	Pending bool
	// Lost is a chord that ended in nothing ("ctrl+x q"); its last key is spent.
	Lost string
}

// Pending is the beginning of a chord that waits, for people ("Ctrl+X …"), and
// until when it does. It is "" when none waits.
func (c Chord) Pending() (label string, till time.Time) {
	if !c.held {
		return "", time.Time{}
	}
	return Label(c.keys) + " …", c.till
}

// Expired drops a chord that has waited too long.
func (c Chord) Expired(now time.Time) Chord {
	if len(c.keys) > 0 && !now.Before(c.till) {
		return Chord{}
	}
	return c
}

// Press takes a key in the contexts that hold, innermost first. A key that is
// bound and also begins a chord ("esc", "esc esc") acts at once, and the chord
// acts when its last key follows in time; such a beginning holds nothing back,
// so that another key means what it always means.
func (m *Map) Press(c Chord, in []Context, k Key, now time.Time) (Chord, Press) {
	c = c.Expired(now)
	if len(c.keys) > 0 {
		next := append(slices.Clone(c.keys), k)
		acts, more := m.find(in, next)
		switch {
		case len(acts) > 0 && more:
			return Chord{next, false, now.Add(Patience)}, Press{Actions: acts}
		case len(acts) > 0:
			return Chord{}, Press{Actions: acts}
		case more:
			return Chord{next, true, now.Add(Patience)}, Press{Pending: true}
		case c.held:
			return Chord{}, Press{Lost: Name(next)}
		}
	}
	acts, more := m.find(in, []Key{k})
	p := Press{Actions: acts, Pending: more && len(acts) == 0}
	if more {
		return Chord{[]Key{k}, p.Pending, now.Add(Patience)}, p
	}
	return Chord{}, p
}

func (m *Map) find(in []Context, keys []Key) (acts []Action, more bool) {
	name := Name(keys)
	for _, c := range in {
		if b, ok := m.by[c][name]; ok && !slices.Contains(acts, b.Action) {
			acts = append(acts, b.Action)
		}
		more = more || m.prefixes[c][name]
	}
	return acts, more
}

// A Row is one line of the help.
type Row struct {
	Context Context
	Action  Action
	Keys    []string // for people
	What    string
	Own     bool
}

// Help lists the actions of the contexts given, or of all, in the table's order.
// Actions without a key are there too.
func (m *Map) Help(in ...Context) []Row {
	var out []Row
	for _, row := range table {
		if len(in) > 0 && !slices.Contains(in, row.context) {
			continue
		}
		r := Row{Context: row.context, Action: row.action, What: row.what}
		for _, b := range m.order[row.action] {
			r.Keys = append(r.Keys, Label(b.Keys))
			r.Own = r.Own || b.Own
		}
		out = append(out, r)
	}
	return out
}

// IsEdit reports whether an action is a command of the editor.
func (a Action) IsEdit() bool { return strings.HasPrefix(string(a), "edit:") }
