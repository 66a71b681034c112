// Package confedit changes settings files: the edit itself is a pure function
// over the text that leaves comments, order and unknown keys alone; around it
// stands a read-modify-write that is atomic and locked across processes. It
// never overwrites a file that does not parse, and knows no single setting.
package confedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/adze-agent/adze/internal/config"
)

// An Op is a kind of change.
type Op int

// Ops. Set replaces a value or adds the key; Unset removes the key; Add puts
// a value at the end of a list unless it is there; Drop takes it out of a list.
const (
	Set Op = iota
	Unset
	Add
	Drop
)

// An Edit is one change. Key is a dotted path as in config.Table; another
// spelling of it that the file uses is kept. Below, where it is set, are
// the names of members on the way down from there, dots and all.
type Edit struct {
	Op    Op
	Key   string
	Below []string
	Value json.RawMessage // standard JSON; not for Unset
}

// Apply returns text with the edits done. Nothing else changes: what is not
// named by an edit keeps its bytes. A blank text is an empty object.
func Apply(text []byte, edits ...Edit) ([]byte, error) {
	bom := bytes.HasPrefix(text, []byte("\ufeff"))
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{\n}\n")
	}
	for _, e := range edits {
		var err error
		if text, err = apply(text, e); err != nil {
			return nil, fmt.Errorf("changing %s: %w", e.Key, err)
		}
	}
	if bom {
		text = append([]byte("\ufeff"), text...)
	}
	return text, nil
}

func apply(text []byte, e Edit) ([]byte, error) {
	if e.Op != Unset && !json.Valid(e.Value) {
		return nil, fmt.Errorf("%q is not JSON", e.Value)
	}
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	path, name := locate(root, e.Key)
	path = slices.Concat(path, e.Below)
	d := doc{text: text}
	for i, seg := range path {
		obj, ok := name.Value.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%s is not an object in the file", strings.Join(path[:i], "."))
		}
		at := find(obj, path[:i], seg)
		if at < 0 {
			return d.missing(name.Value, obj, path[i:], e)
		}
		if i == len(path)-1 && e.Op == Unset {
			return d.removeMember(obj, at), nil
		}
		name = obj.Members[at]
	}
	switch e.Op {
	case Set:
		if same(text[name.Value.StartOffset:name.Value.EndOffset], e.Value) {
			return text, nil
		}
		return d.splice(name.Value.StartOffset, name.Value.EndOffset, d.pretty(e.Value, d.indentAt(name.Name.StartOffset))), nil
	case Unset:
		return text, nil
	case Add, Drop:
		switch list := name.Value.Value.(type) {
		case *hujson.Array:
			return d.list(name.Value, list, e), nil
		case hujson.Literal:
			switch list.Kind() {
			case '"': // reading takes it as a list of one
				return apply(d.splice(name.Value.StartOffset, name.Value.EndOffset, slices.Concat([]byte{'['}, list, []byte{']'})), e)
			case 'n':
				return nil, fmt.Errorf("%s is null in the file, which takes back what other files say there; write a list ([]) in its place first", e.Key)
			}
		}
		return nil, fmt.Errorf("%s is not a list in the file", e.Key)
	}
	return text, nil
}

// missing handles a key that is not there: obj is the innermost object that
// exists, rest the path below it.
func (d doc) missing(v hujson.Value, obj *hujson.Object, rest []string, e Edit) ([]byte, error) {
	value := e.Value
	switch e.Op {
	case Unset, Drop:
		return d.text, nil
	case Add:
		value = append(append([]byte{'['}, value...), ']')
	case Set:
	}
	for i := len(rest) - 1; i > 0; i-- {
		k, err := json.Marshal(rest[i])
		if err != nil {
			return nil, err
		}
		value = fmt.Appendf(nil, "{%s:%s}", k, value)
	}
	return d.addMember(v, obj, rest[0], value), nil
}

// parse reads the text and wants an object.
func parse(text []byte) (hujson.ObjectMember, error) {
	if _, err := config.Depth(text); err != nil {
		return hujson.ObjectMember{}, err
	}
	v, err := hujson.Parse(config.Ended(text))
	if err != nil {
		return hujson.ObjectMember{}, fmt.Errorf("the file does not parse and is left as it is: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return hujson.ObjectMember{}, fmt.Errorf("the file does not hold an object and is left as it is")
	}
	return hujson.ObjectMember{Value: v}, nil
}

// locate returns the path to edit: the published one, or that of an older
// name at the top of the file which means the same.
func locate(root hujson.ObjectMember, key string) ([]string, hujson.ObjectMember) {
	want, known := config.Canonical(key)
	if !known {
		return strings.Split(key, "."), root
	}
	obj, _ := root.Value.Value.(*hujson.Object)
	for _, m := range obj.Members {
		if c, ok := config.Canonical(literal(m.Name)); ok && c == want && c != literal(m.Name) {
			return []string{literal(m.Name)}, root
		}
	}
	return config.Split(want), root
}

// find returns the last member that spells the name at a path, or -1: of two
// the last one counts.
func find(obj *hujson.Object, at []string, name string) int {
	prefix := ""
	if len(at) > 0 {
		prefix = strings.Join(at, ".") + "."
	}
	want, known := config.Canonical(prefix + name)
	folded := config.Fold(name)
	found := -1
	for i, m := range obj.Members {
		have := literal(m.Name)
		if have == name {
			found = i
			continue
		}
		if !known || config.Fold(have) != folded {
			continue
		}
		if c, ok := config.Canonical(prefix + have); ok && c == want {
			found = i
		}
	}
	return found
}

func literal(v hujson.Value) string {
	l, _ := v.Value.(hujson.Literal)
	return l.String()
}

// same compares two values of JSON with comments.
func same(a, b []byte) bool {
	x, errX := hujson.Minimize(bytes.Clone(a))
	y, errY := hujson.Minimize(bytes.Clone(b))
	if errX != nil || errY != nil {
		return false
	}
	if bytes.Equal(x, y) {
		return true
	}
	var s, t string
	return json.Unmarshal(x, &s) == nil && json.Unmarshal(y, &t) == nil && s == t
}
