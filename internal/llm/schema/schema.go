// Package schema makes JSON Schemas that come from outside, of servers above all,
// ones that every provider takes, or says why that cannot be. What a repair leaves
// out is checked by whoever made the schema. It is pure, and keeps the order of
// members, so that the same schema gives the same bytes.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Bounds of a schema.
const (
	maxBytes = 250_000 // as it comes, and as it is sent
	maxNodes = 20_000  // schemas within it, with those that are referred to in each place
)

// Any is the schema of arguments about which nothing is said.
const Any = `{"type":"object","properties":{}}`

// keys are the names of arguments that providers take: Anthropic refuses others.
var keys = pattern.Lazy(`^[a-zA-Z0-9_.-]{1,64}$`)

// Fit makes a schema of a tool's arguments one that providers take. What they
// refuse, by their documentation or their errors:
//
//   - another type than object at the top (all), or none, or no properties (OpenAI);
//     oneOf, anyOf, allOf at the top (Anthropic, OpenAI), enum and not there (OpenAI)
//   - what is not JSON Schema of 2020-12 (Anthropic): items that are a list, and
//     exclusiveMinimum that is true, as older drafts have it; types that do not exist
//   - arrays without items (OpenAI)
//   - names of arguments other than letters, digits, "_", "." and "-", up to 64 (Anthropic)
//   - references, which many servers do not follow, and recursion, which Gemini cannot say
//
// The error says in plain words, behind "its schema", why the tool must be left out.
func Fit(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return json.RawMessage(Any), nil
	}
	if len(raw) > maxBytes {
		return nil, fmt.Errorf("has %s; at most %s can be sent", clip.Size(int64(len(raw))), clip.Size(maxBytes))
	}
	v, err := Decode(raw)
	switch {
	case errors.Is(err, errDeep):
		return nil, fmt.Errorf("is nested more than %d deep", maxDepth)
	case err != nil:
		return nil, errors.New("is not valid JSON")
	case v == true || v == nil:
		return json.RawMessage(Any), nil
	}
	if _, ok := v.(Object); !ok {
		return nil, errors.New("is no object")
	}
	r := repairer{root: v, left: maxNodes}
	root, _ := r.schema(v, 0).(Object)
	if r.left < 0 {
		return nil, errors.New("is too large when what it refers to is written out")
	}
	if root, err = top(root); err != nil {
		return nil, err
	}
	out := appendJSON(nil, root)
	if len(out) > maxBytes {
		return nil, fmt.Errorf("has %s when what it refers to is written out; at most %s can be sent", clip.Size(int64(len(out))), clip.Size(maxBytes))
	}
	return out, nil
}

// A repairer walks through a schema.
type repairer struct {
	root any
	refs []string // that are being followed
	left int      // schemas that may still come
}

// Keywords by what they hold.
var (
	holdsSchema  = []string{"additionalProperties", "unevaluatedProperties", "unevaluatedItems", "propertyNames", "contains", "not", "if", "then", "else", "items", "additionalItems"}
	holdsSchemas = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
	holdsNamed   = []string{"properties", "patternProperties", "dependentSchemas"}
	holdsText    = []string{"title", "description", "format", "pattern", "contentEncoding", "contentMediaType"}
	holdsNumber  = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
	// dropped say nothing once references are followed.
	dropped = []string{"$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor", "$vocabulary", "$comment", "$defs", "definitions", "$ref"}
	types   = []string{"object", "array", "string", "number", "integer", "boolean", "null"}
)

// schema repairs one schema. What is no schema becomes one that takes anything.
func (r *repairer) schema(v any, depth int) any {
	if r.left--; r.left < 0 || depth > maxDepth {
		return Object{}
	}
	if b, ok := v.(bool); ok {
		return b
	}
	o, ok := v.(Object)
	if !ok {
		return Object{}
	}
	if ref, refers := Get(o, "$ref").(string); refers {
		target, found := at(r.root, ref)
		if !found || slices.Contains(r.refs, ref) { // out of the schema, or into itself
			return r.members(o, depth)
		}
		r.refs = append(r.refs, ref)
		defer func() { r.refs = r.refs[:len(r.refs)-1] }()
		base, ok := r.schema(target, depth+1).(Object)
		if !ok {
			base = Object{}
		}
		return base.over(r.members(o, depth)) // what stands beside a reference counts too
	}
	return r.members(o, depth)
}

// members repairs the members of a schema.
func (r *repairer) members(o Object, depth int) Object {
	o = o.without(dropped...)
	out := make(Object, 0, len(o))
	for _, m := range o {
		v, ok := m.Value, true
		switch {
		case m.Key == "items":
			if list, tuple := v.([]any); tuple { // until draft 2019-09
				if len(list) > 0 && !o.has("prefixItems") {
					out = append(out, Member{"prefixItems", r.list(list, depth)})
				}
				rest := Get(o, "additionalItems")
				if rest == nil {
					rest = Object{}
				}
				v = rest
			}
			v = r.schema(v, depth+1)
		case m.Key == "additionalItems":
			ok = false
		case slices.Contains(holdsSchema, m.Key):
			switch v.(type) {
			case Object, bool:
				v = r.schema(v, depth+1)
			default:
				ok = false
			}
		case slices.Contains(holdsSchemas, m.Key):
			var list []any
			if list, ok = v.([]any); ok {
				v, ok = r.list(list, depth), len(list) > 0
			}
		case slices.Contains(holdsNamed, m.Key):
			var named Object
			if named, ok = v.(Object); ok {
				fixed := make(Object, 0, len(named))
				for _, p := range named {
					fixed = append(fixed, Member{p.Key, r.schema(p.Value, depth+1)})
				}
				v = fixed
			}
		case m.Key == "type":
			v, ok = kind(v)
		case m.Key == "required":
			v, ok = words(v)
		case m.Key == "enum":
			list, isList := v.([]any)
			ok = isList && len(list) > 0
		case slices.Contains(holdsText, m.Key):
			_, ok = v.(string)
		case slices.Contains(holdsNumber, m.Key):
			v, ok = limit(o, m)
		}
		if ok {
			out = append(out, Member{m.Key, v})
		}
	}
	if is(out, "array") && !out.has("items") {
		out = append(out, Member{"items", Object{}})
	}
	return out
}

func (r *repairer) list(list []any, depth int) []any {
	out := make([]any, 0, len(list))
	for _, e := range list {
		out = append(out, r.schema(e, depth+1))
	}
	return out
}

// kind repairs a type. Names that are none say nothing.
func kind(v any) (any, bool) {
	if s, ok := v.(string); ok {
		return s, slices.Contains(types, s)
	}
	list, _ := v.([]any)
	var out []any
	for _, e := range list {
		if s, ok := e.(string); ok && slices.Contains(types, s) && !slices.Contains(out, any(s)) {
			out = append(out, s)
		}
	}
	if len(out) == 1 {
		return out[0], true
	}
	return out, len(out) > 0
}

// words are the different strings of a list. Of a property, draft 3 says true.
func words(v any) (any, bool) {
	list, ok := v.([]any)
	out := make([]any, 0, len(list))
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		if s, isString := e.(string); isString && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out, ok && len(out) > 0
}

// limit repairs a bound. Until draft 4 an exclusive one was true, beside another.
func limit(o Object, m Member) (any, bool) {
	if m.Value == true {
		beside := map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[m.Key]
		n, ok := Get(o, beside).(json.Number)
		return n, ok
	}
	n, ok := m.Value.(json.Number)
	return n, ok
}

// is reports whether a schema has this type, alone or among others.
func is(o Object, name string) bool {
	switch t := Get(o, "type").(type) {
	case string:
		return t == name
	case []any:
		return slices.Contains(t, any(name))
	}
	return false
}

// top repairs what only the schema of all arguments must not have.
func top(o Object) (Object, error) {
	if o.has("type") && !is(o, "object") {
		return nil, fmt.Errorf("describes a %s, and arguments are an object", clip.Line(string(appendJSON(nil, Get(o, "type"))), 100))
	}
	o = o.with("type", "object")
	for _, all := range []bool{true, false} { // what all have first: it holds whichever branch is taken
		for _, word := range []string{"allOf", "anyOf", "oneOf"} {
			list, _ := Get(o, word).([]any)
			if all == (word == "allOf") && list != nil {
				o = merged(o.without(word), list, all)
			}
		}
	}
	o = o.without("enum", "const", "not")
	if _, ok := Get(o, "properties").(Object); !ok {
		o = o.with("properties", Object{})
	}
	return named(o)
}

// merged adds the properties of branches to those of a schema. What is required
// in each branch, or in any of all, is required.
func merged(o Object, branches []any, all bool) Object {
	var props []*choice
	at := map[string]*choice{}
	offer := func(list any) {
		of, _ := list.(Object)
		for _, p := range of {
			c := at[p.Key]
			if c == nil {
				c = &choice{key: p.Key, seen: map[string]bool{}}
				at[p.Key], props = c, append(props, c)
			}
			if raw := string(appendJSON(nil, p.Value)); !c.seen[raw] {
				c.seen[raw] = true
				c.list = append(c.list, p.Value)
			}
		}
	}
	offer(Get(o, "properties"))
	var must []any // of the branches
	n := 0
	for _, b := range branches {
		branch, ok := b.(Object)
		if !ok {
			continue
		}
		for _, word := range []string{"allOf", "anyOf", "oneOf"} { // one level more is enough for what servers write
			if list, nested := Get(branch, word).([]any); nested {
				branch = merged(branch.without(word), list, word == "allOf")
			}
		}
		offer(Get(branch, "properties"))
		required, _ := Get(branch, "required").([]any)
		switch {
		case n == 0 || all:
			must = append(must, required...)
		default:
			in := set(required)
			must = slices.DeleteFunc(must, func(k any) bool { return !in[k] })
		}
		n++
	}
	was, _ := Get(o, "required").([]any)
	required, some := words(slices.Concat(was, must))
	of := make(Object, 0, len(props))
	for _, c := range props {
		of = append(of, Member{c.key, c.value()})
	}
	o = o.with("properties", of)
	if some {
		o = o.with("required", required)
	}
	return o
}

// set has the strings of a list.
func set(list []any) map[any]bool {
	out := make(map[any]bool, len(list))
	for _, e := range list {
		if s, ok := e.(string); ok {
			out[s] = true
		}
	}
	return out
}

// A choice is what the branches say of one property.
type choice struct {
	key  string
	list []any
	seen map[string]bool // by their JSON
}

// value is a schema of what any of them takes.
func (c *choice) value() any {
	if len(c.list) == 1 {
		return c.list[0]
	}
	return Object{{"anyOf", c.list}}
}

// named leaves out arguments whose names a provider refuses, where they can be
// left out, and requirements of ones that are not described.
func named(o Object) (Object, error) {
	props, _ := Get(o, "properties").(Object)
	list, _ := Get(o, "required").([]any)
	required := set(list)
	keep := make(Object, 0, len(props))
	for _, p := range props {
		switch {
		case keys().MatchString(p.Key):
			keep = append(keep, p)
		case required[p.Key]:
			return nil, fmt.Errorf("requires an argument named %q, which providers refuse", clip.Line(clip.Visible(p.Key), 80))
		}
	}
	if len(keep) < len(props) {
		o = o.with("properties", keep)
	}
	return o, nil
}
