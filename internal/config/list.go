package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A Setting is one value in force and where it comes from.
type Setting struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"` // null: unset
	Origin Origin          `json:"origin"`
	// Parts are the origins of a list's elements and a map's entries, when
	// they come from several places.
	Parts []Origin `json:"parts,omitempty"`
}

// Settings returns every key of the table with its value, for `config list`. Values
// whose name says they are secret are masked.
func (c *Config) Settings() []Setting {
	var out []Setting
	for _, k := range Table() {
		if strings.Contains(k.Name, "*") {
			continue
		}
		s, _ := c.Setting(k.Name)
		out = append(out, s)
	}
	return out
}

// Setting returns the value of a key or of anything below one:
// "tools.max_parallel", "env.CI", "sandbox". Other spellings of a key and its
// older names are understood. ok is false when no such key exists.
func (c *Config) Setting(key string) (s Setting, ok bool) {
	path, known := Canonical(key)
	if !known {
		return Setting{Key: key}, false
	}
	s = Setting{Key: path, Value: json.RawMessage("null"), Origin: Origin{Scope: Default}}
	n := c.tree.find(path)
	if n == nil {
		return s, true
	}
	n = masked(n, path)
	s.Value, s.Origin = n.json(), n.from
	for _, e := range n.elems {
		s.Parts = append(s.Parts, e.from)
	}
	for _, m := range n.members {
		s.Parts = append(s.Parts, m.from)
	}
	if !slices.ContainsFunc(s.Parts, func(o Origin) bool { return o.File != n.from.File }) {
		s.Parts = nil
	}
	return s, true
}

// Borrowed reports whether the value of a setting that is a text stands in a file of
// another agent (.claude), and where. own is what our own files say, "" where none does.
func (c *Config) Borrowed(key string) (own string, at Origin, other bool) {
	n := c.tree.at(key)
	if n == nil || !c.ccFile(n.from.File) {
		return "", Origin{}, false
	}
	for _, f := range c.Files { // in the order in which they count
		if f.CC || f.State == Ignored {
			continue
		}
		if said := c.said[f.Path].at(key); said != nil && said.kind == '"' {
			own = said.text
		}
	}
	return own, n.from, true
}

// ccFile reports whether a file is one of another agent.
func (c *Config) ccFile(path string) bool {
	return slices.ContainsFunc(c.Files, func(f File) bool { return f.CC && f.Path == path })
}

// find follows a path whose last part may be a name with dots in it, such as
// a host's.
func (n *node) find(path string) *node {
	if n == nil {
		return nil
	}
	if v := n.get(path); v != nil {
		return v
	}
	for i := 0; i < len(path); i++ {
		if path[i] == '.' {
			if v := n.get(path[:i]).find(path[i+1:]); v != nil {
				return v
			}
		}
	}
	return nil
}

// Canonical gives the published spelling of a key's path: "maxTurns" →
// max_turns, "providers.mine.baseUrl" → providers.mine.base_url. ok is false
// when the table has no such place.
func Canonical(key string) (path string, ok bool) {
	segs, ok := known().walk(key)
	return strings.Join(segs, "."), ok
}

// Split cuts a path into names, in their published spelling. Names of maps
// may hold dots, so it goes by the table.
func Split(key string) []string {
	segs, ok := known().walk(key)
	if !ok {
		return strings.Split(key, ".")
	}
	return segs
}

func (s *spec) walk(key string) (path []string, ok bool) {
	at, segs := s, strings.Split(key, ".")
	for i, seg := range segs {
		kid := at.kids[Fold(seg)]
		switch {
		case kid != nil && !strings.Contains(kid.name, "*"):
			at, path = kid, strings.Split(kid.name, ".")
		case at.key != nil && takesNames(at.key.Kind):
			return append(path, at.entry(segs[i:])...), true
		default:
			return []string{key}, false
		}
	}
	return path, key != ""
}

// entry cuts what follows a map's key into the entry's name, which may hold
// dots, and the names inside the entry.
func (s *spec) entry(rest []string) []string {
	if s.key.Kind != Objects {
		return []string{strings.Join(rest, ".")}
	}
	for j := len(rest) - 1; j > 0; j-- {
		kid := (*spec)(nil)
		if s.star != nil {
			kid = s.star.kids[Fold(rest[j])]
		}
		switch {
		case kid != nil: // a key we know; below it, names of a map again
			out := []string{strings.Join(rest[:j], "."), kid.name[strings.LastIndexByte(kid.name, '.')+1:]}
			if j+1 < len(rest) {
				out = append(out, strings.Join(rest[j+1:], "."))
			}
			return out
		case s.star == nil && j == len(rest)-1 && word().MatchString(rest[j]):
			return []string{strings.Join(rest[:j], "."), rest[j]}
		}
	}
	return []string{strings.Join(rest, ".")}
}

// word is a field's name, unlike the last part of a version.
var word = pattern.Lazy(`^[A-Za-z_]+$`)

func takesNames(k Kind) bool {
	switch k {
	case StringMap, Bools, Objects, Object, Anything:
		return true
	case String, Int, Number, Bool, Tokens, Portion, Space, Level, Off, Strings, List:
	}
	return false
}

// Nearest returns a known key spelled almost like the given one, or "".
func Nearest(key string) string {
	at := known()
	path, last := "", key
	for {
		seg, rest, more := strings.Cut(last, ".")
		kid := at.kids[Fold(seg)]
		if !more || kid == nil {
			break
		}
		at, path, last = kid, kid.name, rest
	}
	if n := suggestion(last, at); n != "" {
		return join(path, n)
	}
	return ""
}

// CheckValue says what a key expects when a JSON value does not fit it; nil
// when it fits. It is what writing a setting asks first.
func CheckValue(key string, value []byte) *Problem {
	path, ok := Canonical(key)
	if !ok {
		return &Problem{Severity: Error, Key: key, Message: "no such setting", Nearest: Nearest(key)}
	}
	n, _, err := parse(value, Origin{})
	if err != nil {
		return &Problem{Severity: Error, Key: path, Message: "not a JSON value: " + err.Error()}
	}
	c := checker{}
	c.root((&node{kind: '{'}).set(path, n), known())
	for _, p := range c.problems {
		if p.Severity == Error {
			return &p
		}
	}
	return nil
}

// Parse reads a value given as text on a command line by the kind of its
// key: numbers and lists as such, JSON where it is JSON.
func Parse(key, text string) (json.RawMessage, error) {
	path, _ := Canonical(key)
	t := strings.TrimSpace(text)
	for _, k := range Table() {
		if k.Name == path {
			if quoted := strings.HasPrefix(t, `"`) && k.Kind != Strings; (quoted || k.Kind == Strings && strings.HasPrefix(t, "[")) && json.Valid([]byte(t)) {
				return json.RawMessage(t), nil
			}
			return fastjson.Append(nil, typed(k, text))
		}
	}
	if json.Valid([]byte(t)) {
		return json.RawMessage(t), nil
	}
	return fastjson.Append(nil, text)
}

// A Change is a key whose value differs between two loads. Values whose name
// says they are secret are masked.
type Change struct {
	Key      string
	Old, New json.RawMessage // null: unset
	From     Origin          // where the new value stands, else the old one
	When     When
	Makes    Parts
}

// Makes is what all of these changes make anew.
func Makes(changes []Change) (p Parts) {
	for _, c := range changes {
		p |= c.Makes
	}
	return p
}

// Diff lists what changed from one configuration to the next.
func Diff(was, now *Config) []Change {
	var out []Change
	for _, k := range Table() {
		if strings.Contains(k.Name, "*") {
			continue
		}
		a, b := was.tree.at(k.Name), now.tree.at(k.Name)
		aj, bj := a.json(), b.json()
		if bytes.Equal(aj, bj) {
			continue
		}
		c := Change{Key: k.Name, When: k.When, Makes: k.Makes, Old: masked(a, k.Name).json(), New: masked(b, k.Name).json()}
		switch {
		case b != nil:
			c.From = b.from
		case a != nil:
			c.From = a.from
		}
		out = append(out, c)
	}
	return out
}
