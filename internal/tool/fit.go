package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Fit checks raw against a tool's schema and returns it with harmless
// differences repaired: numbers and booleans that came as strings ("42",
// "true"), null for an absent field, an array or object that came as a string
// of JSON. The error is for the model: it names the field, what was found and
// what is expected.
func Fit(s *jsonschema.Schema, raw json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if len(bytes.TrimSpace(raw)) == 0 {
		v = map[string]any{}
	} else if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("arguments are not valid JSON: %w", err)
	} else if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("arguments are not valid JSON: there is more after the object")
	}
	v, err := fit(s, v, "")
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func fit(s *jsonschema.Schema, v any, at string) (any, error) {
	v = coerce(s, v)
	if !accepts(s, v) {
		return nil, fmt.Errorf("%s: expected %s, got %s", name(at), strings.Join(Types(s), " or "), TypeOf(v))
	}
	if err := checkEnum(s, v, at); err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case map[string]any:
		return fitObject(s, x, at)
	case []any:
		if s.Items != nil {
			for i := range x {
				y, err := fit(s.Items, x[i], fmt.Sprintf("%s[%d]", at, i))
				if err != nil {
					return nil, err
				}
				x[i] = y
			}
		}
		if s.MinItems != nil && len(x) < *s.MinItems {
			return nil, fmt.Errorf("%s: expected at least %d items, got %d", name(at), *s.MinItems, len(x))
		}
		if s.MaxItems != nil && len(x) > *s.MaxItems {
			return nil, fmt.Errorf("%s: expected at most %d items, got %d", name(at), *s.MaxItems, len(x))
		}
	case json.Number:
		f, _ := x.Float64()
		if s.Minimum != nil && f < *s.Minimum || s.Maximum != nil && f > *s.Maximum {
			return nil, fmt.Errorf("%s: %s is out of range%s", name(at), x, bounds(s))
		}
	}
	return v, nil
}

func fitObject(s *jsonschema.Schema, x map[string]any, at string) (any, error) {
	for _, k := range slices.Sorted(maps.Keys(x)) {
		p, known := s.Properties[k]
		if !known {
			if s.Properties == nil || s.AdditionalProperties == nil {
				continue
			}
			return nil, fmt.Errorf("unknown field %q; the fields are %s", join(at, k), strings.Join(fields(s), ", "))
		}
		if x[k] == nil && !slices.Contains(s.Required, k) {
			delete(x, k)
			continue
		}
		y, err := fit(p, x[k], join(at, k))
		if err != nil {
			return nil, err
		}
		x[k] = y
	}
	for _, k := range s.Required {
		if _, ok := x[k]; !ok {
			return nil, fmt.Errorf("field %q is missing; it is required", join(at, k))
		}
	}
	return x, nil
}

// coerce turns a string into the number, boolean, array or object the schema
// wants, when it is one.
func coerce(s *jsonschema.Schema, v any) any {
	if n, ok := v.(json.Number); ok && slices.Contains(Types(s), "integer") {
		return whole(n)
	}
	str, ok := v.(string)
	if !ok || accepts(s, v) {
		return v
	}
	for _, k := range Types(s) {
		switch k {
		case "integer", "number":
			t := strings.TrimSpace(str)
			if _, err := strconv.ParseFloat(t, 64); err == nil && json.Valid([]byte(t)) {
				return whole(json.Number(t))
			}
		case "boolean":
			switch strings.ToLower(strings.TrimSpace(str)) {
			case "true":
				return true
			case "false":
				return false
			}
		case "array", "object":
			d := json.NewDecoder(strings.NewReader(str))
			d.UseNumber()
			var in any
			if d.Decode(&in) == nil && !d.More() && accepts(s, in) {
				return in
			}
		}
	}
	return v
}

// whole writes a number without a fraction as digits alone, which is how an
// integer of Go is read: 3.0 and 3e2 are integers too.
func whole(n json.Number) json.Number {
	if !strings.ContainsAny(string(n), ".eE") || TypeOf(n) != "integer" {
		return n
	}
	f, _ := n.Float64()
	i, _ := big.NewFloat(f).Int(nil)
	return json.Number(i.String())
}

func accepts(s *jsonschema.Schema, v any) bool { return OfTypes(Types(s), v) }

func checkEnum(s *jsonschema.Schema, v any, at string) error {
	if len(s.Enum) == 0 || slices.ContainsFunc(s.Enum, func(e any) bool { return same(e, v) }) {
		return nil
	}
	all := make([]string, 0, len(s.Enum))
	for _, e := range s.Enum {
		all = append(all, fmt.Sprint(e))
	}
	return fmt.Errorf("%s: %v is not one of %s", name(at), v, strings.Join(all, ", "))
}

// same compares a value of a schema with one of a call: a schema that was
// made by hand has numbers of Go.
func same(e, v any) bool {
	if n, ok := v.(json.Number); ok {
		v, _ = n.Float64()
	}
	a, err := json.Marshal(e)
	if err != nil {
		return false
	}
	b, err := json.Marshal(v)
	return err == nil && bytes.Equal(a, b)
}

func bounds(s *jsonschema.Schema) string {
	out := ""
	if s.Minimum != nil {
		out += fmt.Sprintf(", at least %v", *s.Minimum)
	}
	if s.Maximum != nil {
		out += fmt.Sprintf(", at most %v", *s.Maximum)
	}
	return out
}

func fields(s *jsonschema.Schema) []string { return slices.Sorted(maps.Keys(s.Properties)) }

func name(at string) string {
	if at == "" {
		return "arguments"
	}
	return "field " + strconv.Quote(at)
}

func join(at, k string) string {
	if at == "" {
		return k
	}
	return at + "." + k
}
