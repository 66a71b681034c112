package importer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A table is an object of a settings file. Each value of it is read by itself: one
// of a wrong kind is named in wrong, and loses nothing else.
type table struct {
	of    map[string]any // as encoding/json or toml make it
	wrong *[]string
}

// tableOf is a value of a file as an object.
func tableOf(v any) table {
	t := table{wrong: new([]string)}
	var ok bool
	if t.of, ok = v.(map[string]any); !ok {
		t.refuse("", "an object", v)
	}
	return t
}

// problem says what of a table is wrong, "" when nothing is.
func (t table) problem() string { return strings.Join(*t.wrong, "; ") }

func (t table) refuse(key, want string, v any) {
	what := expected(want, v)
	if key != "" {
		what = key + ": " + what
	}
	if !slices.Contains(*t.wrong, what) { // read twice
		*t.wrong = append(*t.wrong, what)
	}
}

func expected(want string, found any) string { return "expected " + want + ", found " + kind(found) }

// kind is what a value is, in plain words.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case json.Number, int64, float64:
		return "a number"
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a date" // of TOML
}

// get is a value, nil for one that is not there or null. Capitals do not count
// where no name fits as it is written, as some of the programs read it.
func (t table) get(key string) any {
	if v, ok := t.of[key]; ok {
		return v
	}
	for _, k := range slices.Sorted(maps.Keys(t.of)) {
		if strings.EqualFold(k, key) {
			return t.of[k]
		}
	}
	return nil
}

func (t table) text(key string) string {
	v := t.get(key)
	s, ok := v.(string)
	if v != nil && !ok {
		t.refuse(key, "a text", v)
	}
	return s
}

// flag is true or false, unset where it is not there.
func (t table) flag(key string, unset bool) bool {
	v := t.get(key)
	b, ok := v.(bool)
	switch {
	case v == nil:
		return unset
	case !ok:
		t.refuse(key, "true or false", v)
	}
	return b
}

// number is one that an int of 64 bits has room for a thousand times over.
func (t table) number(key string) (n float64) {
	const most = 1e15
	switch v := t.get(key).(type) {
	case nil:
	case json.Number:
		f, err := v.Float64()
		if n = f; err != nil || f < -most || f > most {
			t.refuse(key, "a number of a usual size", v)
			return 0
		}
	case int64:
		n = float64(v)
	case float64: // of TOML, which has numbers that are none
		if n = v; !(v >= -most && v <= most) {
			t.refuse(key, "a number of a usual size", v)
			return 0
		}
	default:
		t.refuse(key, "a number", v)
	}
	return n
}

// texts is a list that has nothing but texts.
func (t table) texts(key string) (out []string) {
	list := t.rules(key)
	if what := list.problem(); what != "" {
		*t.wrong = append(*t.wrong, what)
		return nil
	}
	for _, x := range list {
		out = append(out, x.text)
	}
	return out
}

// pairs are texts by name. Numbers, true and false count as what they look like,
// as in adze's own settings.
func (t table) pairs(key string) map[string]string {
	v := t.get(key)
	m, ok := v.(map[string]any)
	if !ok {
		if v != nil {
			t.refuse(key, "an object", v)
		}
		return nil
	}
	out := make(map[string]string, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch x := m[name].(type) {
		case string:
			out[name] = x
		case json.Number, bool, int64:
			out[name] = fmt.Sprint(x)
		case float64:
			out[name] = strconv.FormatFloat(x, 'f', -1, 64)
		default:
			t.refuse(key+"."+name, "a text", x)
		}
	}
	return out
}

// table is an object in an object; one that is not there has nothing.
func (t table) table(key string) table {
	v := t.get(key)
	m, ok := v.(map[string]any)
	if v != nil && !ok {
		t.refuse(key, "an object", v)
	}
	return table{of: m, wrong: new([]string)}
}

// A named object is one of several.
type named struct {
	name string
	table
}

// each are the objects of an object by their names. One that is no object is there
// with its problem, so that it can be named.
func (t table) each(key string) (out []named) {
	in := t.table(key)
	for _, name := range slices.Sorted(maps.Keys(in.of)) {
		out = append(out, named{name, tableOf(in.of[name])})
	}
	return out
}

// rows are the entries of a list of texts: theirs names one, and why says that it
// is no text.
type rows []row

type row struct{ text, theirs, why string }

// problem says which are no texts, "" when all are.
func (r rows) problem() string {
	var out []string
	for _, x := range r {
		if x.why != "" {
			out = append(out, x.theirs+": "+x.why)
		}
	}
	return strings.Join(out, "; ")
}

// rules are the entries of a list of texts. What is wrong stays an entry, and so is
// the list itself when it is none: nothing that forbids may be lost in silence.
func (t table) rules(key string) (out rows) {
	v := t.get(key)
	list, ok := v.([]any)
	switch {
	case v == nil:
		return nil
	case !ok:
		return rows{{theirs: key, why: expected("a list of texts", v)}}
	}
	for i, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, row{s, key + " " + s, ""})
		} else {
			out = append(out, row{"", fmt.Sprintf("%s[%d]", key, i), expected("a text", x)})
		}
	}
	return out
}

// server is one of MCP in the words that adze shares with others.
func (t table) server() server {
	return server{
		Type: t.text("type"), Command: t.text("command"), Args: t.texts("args"), Env: t.pairs("env"),
		URL: t.text("url"), Headers: t.pairs("headers"), Timeout: int(t.number("timeout")),
	}
}
