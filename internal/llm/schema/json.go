package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// An Object is a JSON object with its members in order. Other values are those of
// encoding/json, with numbers as json.Number.
type Object []Member

// A Member is a name and its value.
type Member struct {
	Key   string
	Value any
}

// Get is the value of a member of v; nil when there is none, or v is no object.
func Get(v any, key string) any {
	o, _ := v.(Object)
	for _, m := range o {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// has reports whether o has a member, whatever its value.
func (o Object) has(key string) bool {
	for _, m := range o {
		if m.Key == key {
			return true
		}
	}
	return false
}

// with returns o with a member set, in its old place or at the end.
func (o Object) with(key string, v any) Object {
	out := make(Object, 0, len(o)+1)
	found := false
	for _, m := range o {
		if m.Key == key {
			m.Value, found = v, true
		}
		out = append(out, m)
	}
	if !found {
		out = append(out, Member{key, v})
	}
	return out
}

// over returns o with all members of another object, as with does with one.
func (o Object) over(other Object) Object {
	out := slices.Concat(o, other)[:len(o)]
	at := make(map[string]int, len(o))
	for i, m := range o {
		at[m.Key] = i
	}
	for _, m := range other {
		if i, known := at[m.Key]; known {
			out[i].Value = m.Value
			continue
		}
		at[m.Key] = len(out)
		out = append(out, m)
	}
	return out
}

// without returns o without these members.
func (o Object) without(keys ...string) Object {
	out := make(Object, 0, len(o))
next:
	for _, m := range o {
		for _, k := range keys {
			if m.Key == k {
				continue next
			}
		}
		out = append(out, m)
	}
	return out
}

// maxDepth bounds how deep values may be nested.
const maxDepth = 200

var errDeep = fmt.Errorf("it is nested more than %d deep", maxDepth)

// Decode reads one JSON value. Of members of one name the last one counts, in
// the place of the first.
func Decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := value(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("there is more behind the value")
	}
	return v, nil
}

func value(dec *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		o, at := Object{}, map[string]int{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := value(dec, depth+1)
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			if i, known := at[name]; known {
				o[i].Value = v
				continue
			}
			at[name] = len(o)
			o = append(o, Member{name, v})
		}
		_, err = dec.Token()
		return o, err
	case json.Delim('['):
		a := []any{}
		for dec.More() {
			v, err := value(dec, depth+1)
			if err != nil {
				return nil, err
			}
			a = append(a, v)
		}
		_, err = dec.Token()
		return a, err
	}
	return tok, nil
}

// appendJSON adds the JSON of a value to dst, without white space.
func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case Object:
		dst = append(dst, '{')
		for i, m := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendJSON(dst, m.Key), ':')
			dst = appendJSON(dst, m.Value)
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, e)
		}
		return append(dst, ']')
	}
	raw, err := json.Marshal(v)
	if err != nil { // it is a string, a number, a truth value or null
		return append(dst, "null"...)
	}
	return append(dst, raw...)
}

// Resolve is what a schema of root refers to, itself when it refers to nothing. ok
// is false for a reference that leads nowhere, or out of root.
func Resolve(root, v any) (_ any, ok bool) {
	for range 8 {
		ref, refers := Get(v, "$ref").(string)
		if !refers {
			return v, true
		}
		if v, ok = at(root, ref); !ok {
			return nil, false
		}
	}
	return nil, false
}

// at is the value that a local reference names.
func at(root any, ref string) (v any, ok bool) {
	path, local := strings.CutPrefix(ref, "#")
	if !local || path != "" && path[0] != '/' {
		return nil, false
	}
	v = root
	if path == "" {
		return v, true
	}
	for step := range strings.SplitSeq(path[1:], "/") {
		o, isObject := v.(Object)
		step = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$").Replace(step)
		if !isObject || !o.has(step) {
			return nil, false
		}
		v = Get(o, step)
	}
	return v, true
}
