package tool

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// render is json.Marshal for a schema. What schemas of tools consist of is written here: the
// library makes each part of one by reflection several times, which every start would wait for.
func render(s *jsonschema.Schema) ([]byte, error) {
	if raw, ok := appendSchema(nil, s); ok {
		return raw, nil
	}
	return json.Marshal(s)
}

// appendSchema writes a schema as the library does: the same members in the same order. ok is
// false where it has other keywords, or is nothing that the library would write.
func appendSchema(b []byte, s *jsonschema.Schema) (_ []byte, ok bool) {
	if s == nil || s.Type != "" && s.Types != nil {
		return nil, false
	}
	rest := *s
	rest.Type, rest.Types, rest.Properties, rest.PropertyOrder, rest.Items = "", nil, nil, nil, nil
	rest.Description, rest.Enum, rest.Required, rest.AdditionalProperties = "", nil, nil, nil
	rest.Minimum, rest.Maximum, rest.MinItems, rest.MaxItems = nil, nil, nil, nil
	if !reflect.ValueOf(rest).IsZero() {
		nothing := reflect.DeepEqual(s, &jsonschema.Schema{Not: &jsonschema.Schema{}})
		return append(b, "false"...), nothing
	}
	ok = true
	start := len(b)
	name := func(of string) {
		if len(b) == start {
			b = append(b, '{')
		} else {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), of...), `":`...)
	}
	member := func(of string, has bool, v any) {
		if has && ok {
			name(of)
			raw, err := json.Marshal(v)
			b, ok = append(b, raw...), err == nil
		}
	}
	schema := func(of string, has bool, write func([]byte, *jsonschema.Schema) ([]byte, bool), s *jsonschema.Schema) {
		if has && ok {
			name(of)
			b, ok = write(b, s)
		}
	}
	member("type", s.Type != "", s.Type)
	member("type", s.Types != nil, s.Types)
	schema("properties", s.Properties != nil, appendProperties, s)
	schema("items", s.Items != nil, appendSchema, s.Items)
	member("description", s.Description != "", s.Description)
	member("enum", len(s.Enum) > 0, s.Enum)
	member("minimum", s.Minimum != nil, s.Minimum)
	member("maximum", s.Maximum != nil, s.Maximum)
	member("minItems", s.MinItems != nil, s.MinItems)
	member("maxItems", s.MaxItems != nil, s.MaxItems)
	member("required", len(s.Required) > 0, s.Required)
	schema("additionalProperties", s.AdditionalProperties != nil, appendSchema, s.AdditionalProperties)
	if len(b) == start {
		return append(b, "true"...), ok
	}
	return append(b, '}'), ok
}

// appendProperties writes the properties of a schema in its order, those without a place in it
// last.
func appendProperties(b []byte, s *jsonschema.Schema) (_ []byte, ok bool) {
	var names []string
	for _, name := range slices.Concat(s.PropertyOrder, slices.Sorted(maps.Keys(s.Properties))) {
		if _, is := s.Properties[name]; is && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		quoted, _ := json.Marshal(name) // a string always can be
		if b, ok = appendSchema(append(append(b, quoted...), ':'), s.Properties[name]); !ok {
			return nil, false
		}
	}
	twice := slices.Clone(s.PropertyOrder)
	slices.Sort(twice)
	return append(b, '}'), len(slices.Compact(twice)) == len(s.PropertyOrder)
}
