package answer

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/tool"
)

// maxProblems is how many problems one result lists.
const maxProblems = 20

// problems lists what is wrong with an answer, each with the JSON pointer of
// its place. The library decides whether anything is wrong; as it stops at
// the first problem and does not say where in the answer it is, the answer is
// walked once more to name all of them.
func (o *output) problems(in json.RawMessage) []string {
	var v any
	if err := json.Unmarshal(in, &v); err != nil {
		return []string{err.Error()}
	}
	err := o.check.Validate(v)
	if err == nil {
		return nil
	}
	w := walk{root: o.schema}
	w.value(o.schema, v, "", 0)
	if len(w.found) == 0 {
		return []string{"(root): " + message(err)}
	}
	if n := len(w.found) - maxProblems; n > 0 {
		w.found = append(w.found[:maxProblems], fmt.Sprintf("and %d more", n))
	}
	return w.found
}

// walk collects problems.
type walk struct {
	root  *jsonschema.Schema
	found []string
}

func (w *walk) add(at, format string, args ...any) {
	if at == "" {
		at = "(root)"
	}
	if p := at + ": " + fmt.Sprintf(format, args...); !slices.Contains(w.found, p) {
		w.found = append(w.found, p)
	}
}

func (w *walk) value(s *jsonschema.Schema, v any, at string, depth int) {
	if s == nil || depth > 64 {
		return
	}
	if r := local(w.root, s.Ref); r != nil {
		w.value(r, v, at, depth+1)
	}
	for _, a := range s.AllOf {
		w.value(a, v, at, depth+1)
	}
	if want := tool.Types(s); !tool.OfTypes(want, v) {
		w.add(at, "expected %s, got %s", strings.Join(want, " or "), describe(v))
		return // the rest would only repeat it
	}
	w.limits(s, v, at)
	if err := w.leaf(s, v); err != nil {
		w.add(at, "%s", message(err))
	}
	switch v := v.(type) {
	case map[string]any:
		w.object(s, v, at, depth)
	case []any:
		for i, x := range v {
			sub := s.Items
			if i < len(s.PrefixItems) {
				sub = s.PrefixItems[i]
			}
			w.value(sub, x, at+"/"+strconv.Itoa(i), depth+1)
		}
	}
}

func (w *walk) object(s *jsonschema.Schema, v map[string]any, at string, depth int) {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			w.add(at, "the field %q is missing", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		p := at + "/" + escape(name)
		switch sub, known := s.Properties[name]; {
		case known:
			w.value(sub, v[name], p, depth+1)
		case s.AdditionalProperties == nil || len(s.PatternProperties) > 0:
		case never(s.AdditionalProperties):
			w.add(p, "unknown field; the fields are %s", strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "))
		default:
			w.value(s.AdditionalProperties, v[name], p, depth+1)
		}
	}
}

// limits checks what can be said better than the library does.
func (w *walk) limits(s *jsonschema.Schema, v any, at string) {
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return reflect.DeepEqual(e, v) }) {
		var all []string
		for _, e := range s.Enum {
			b, _ := json.Marshal(e) // it came from JSON
			all = append(all, string(b))
		}
		w.add(at, "expected one of %s, got %s", strings.Join(all, ", "), describe(v))
	}
	switch x := v.(type) {
	case float64:
		below := func(limit *float64, strict bool) bool {
			return limit != nil && (x < *limit || strict && x == *limit)
		}
		above := func(limit *float64, strict bool) bool {
			return limit != nil && (x > *limit || strict && x == *limit)
		}
		switch {
		case below(s.Minimum, false):
			w.add(at, "%v is less than %v", x, *s.Minimum)
		case below(s.ExclusiveMinimum, true):
			w.add(at, "%v is not greater than %v", x, *s.ExclusiveMinimum)
		case above(s.Maximum, false):
			w.add(at, "%v is greater than %v", x, *s.Maximum)
		case above(s.ExclusiveMaximum, true):
			w.add(at, "%v is not less than %v", x, *s.ExclusiveMaximum)
		}
	case string:
		w.size(at, "characters", utf8.RuneCountInString(x), s.MinLength, s.MaxLength)
	case []any:
		w.size(at, "items", len(x), s.MinItems, s.MaxItems)
	case map[string]any:
		w.size(at, "fields", len(x), s.MinProperties, s.MaxProperties)
	}
}

func (w *walk) size(at, what string, n int, min, max *int) {
	if min != nil && n < *min {
		w.add(at, "has %d %s, fewer than %d", n, what, *min)
	}
	if max != nil && n > *max {
		w.add(at, "has %d %s, more than %d", n, what, *max)
	}
}

// leaf checks everything about v that does not lie deeper in it, except what
// value, object and limits check themselves.
func (w *walk) leaf(s *jsonschema.Schema, v any) error {
	c := *s
	c.ID, c.Schema, c.Ref, c.Default = "", "", "", nil
	c.AllOf, c.Type, c.Types, c.Required = nil, "", nil, nil
	c.Properties, c.AdditionalProperties, c.Items, c.PrefixItems = nil, nil, nil, nil
	c.Enum, c.Minimum, c.Maximum, c.ExclusiveMinimum, c.ExclusiveMaximum = nil, nil, nil, nil, nil
	c.MinLength, c.MaxLength, c.MinItems, c.MaxItems, c.MinProperties, c.MaxProperties = nil, nil, nil, nil, nil, nil
	if len(s.PatternProperties) > 0 { // these depend on each other
		c.Properties, c.AdditionalProperties = s.Properties, s.AdditionalProperties
	}
	c.Defs, c.Definitions = w.root.Defs, w.root.Definitions // for references in what is left
	r, err := c.CloneSchemas().Resolve(nil)
	if err != nil {
		return nil // it cannot be checked apart from the rest
	}
	return r.Validate(v)
}

// never reports whether s is the schema false.
func never(s *jsonschema.Schema) bool {
	b, err := json.Marshal(s)
	return err == nil && (string(b) == "false" || string(b) == `{"not":{}}` || string(b) == `{"not":true}`)
}

// describe names a value for a message; a short one is shown.
func describe(v any) string {
	b, err := json.Marshal(v)
	if k := tool.TypeOf(v); err == nil && len(b) <= 40 && k != "null" {
		return k + " " + string(b)
	}
	return tool.TypeOf(v)
}

// message drops the library's account of where in the schema it was.
func message(err error) string {
	s := err.Error()
	for strings.HasPrefix(s, "validating ") {
		_, rest, ok := strings.Cut(s, ": ")
		if !ok {
			break
		}
		s = rest
	}
	s, _, _ = strings.Cut(s, "\n")
	switch kind, _, _ := strings.Cut(s, ":"); kind {
	case "anyOf", "oneOf":
		if strings.Contains(s, "did not validate") {
			return "it fits none of the alternatives (" + kind + ")"
		}
		return "it fits more than one of the alternatives (" + kind + ")"
	case "not":
		return "it fits what is excluded (not)"
	}
	return s
}
