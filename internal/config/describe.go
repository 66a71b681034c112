package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Keys returns the keys of the table that a path names: the key itself, those of a
// section, or the key of the map that the path leads into ("env.CI" → env,
// "providers.mine.base_url" → providers.*.base_url). None: there is no such path.
func Keys(path string) (out []Key) {
	if _, ok := Canonical(path); !ok {
		return nil
	}
	of, holds := Split(path), Key{}
	for _, k := range Table() {
		segs := strings.Split(k.Name, ".")
		switch common(segs, of) {
		case len(of):
			out = append(out, k)
		case len(segs): // the path leads into it
			holds = k
		}
	}
	if len(out) == 0 && holds.Name != "" {
		out = append(out, holds)
	}
	return out
}

// common is how many names of a key and of a path agree from the beginning.
func common(key, path []string) (n int) {
	for n < len(key) && n < len(path) && (key[n] == path[n] || key[n] == "*") {
		n++
	}
	return n
}

// Takes says in words what values a key takes.
func (k Key) Takes() string {
	switch k.Kind {
	case String:
		if len(k.Enum) > 0 {
			return oneOf(k.Enum)
		}
		return "a text"
	case Int, Number, Bool, Tokens, Portion, Space, Level, Off:
		return scalar(&node{kind: '{'}, k)
	case Strings:
		switch {
		case k.Max > 0:
			return fmt.Sprintf("a list of numbers from %s to %s", plain(k.Min), plain(k.Max))
		case k.Paths:
			return "a list of folders"
		}
		return "a list of texts"
	case StringMap:
		return "an object of names and texts"
	case Bools:
		return "an object of names with true or false"
	case Objects:
		return "an object of names and objects"
	case Object:
		return "an object"
	case List:
		return "a list of objects"
	case Anything:
	}
	return "a list, or an object"
}

// From says which files may set a key.
func (k Key) From() string {
	switch k.Guard {
	case Person:
		return "your own and managed files"
	case Own:
		return "any but .adze/settings.json of a project"
	case Tighten:
		return "any; a project's only if it is stricter"
	case Admin:
		return "managed files"
	case Free:
	}
	return "any"
}

// Unset is the value that counts where nothing sets the key, as JSON, or "".
func (k Key) Unset() string {
	if k.Default == nil {
		return ""
	}
	var b bytes.Buffer
	if json.NewEncoder(&b).Encode(k.Default) != nil { // defaults are texts, numbers and booleans
		return ""
	}
	return strings.TrimSpace(b.String())
}

// plain writes a number without an exponent.
func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
