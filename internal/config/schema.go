package config

import (
	"encoding/json"
	"strings"
)

// Schema returns the JSON Schema of a settings file (draft 2020-12), made
// from the table. Editors complete and check with it; unknown keys are
// allowed, because a newer version may know them.
func Schema() json.RawMessage {
	root := object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"$id":         "https://github.com/adze-agent/adze/settings.schema.json",
		"title":       "adze settings",
		"description": "Settings of adze. JSON with comments and trailing commas.",
		"type":        "object",
		"properties":  object{"$schema": object{"type": "string"}},
	}
	for _, k := range Table() {
		at := root
		for seg := range strings.SplitSeq(k.Name, ".") {
			at = at.child(seg)
		}
		for name, v := range k.schema() {
			at[name] = v
		}
	}
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil { // only strings, numbers, booleans, lists and maps of them
		return nil
	}
	return append(b, '\n')
}

type object map[string]any

func (o object) child(seg string) object {
	if seg == "*" {
		if c, ok := o["additionalProperties"].(object); ok && c["type"] == "object" {
			return c
		}
		c := object{"type": "object"}
		o["additionalProperties"] = c
		return c
	}
	if o["type"] == nil {
		o["type"] = "object"
	}
	props, ok := o["properties"].(object)
	if !ok {
		props = object{}
		o["properties"] = props
	}
	c, ok := props[seg].(object)
	if !ok {
		c = object{}
		props[seg] = c
	}
	return c
}

// schema describes one key. Null is always allowed: it removes.
func (k Key) schema() object {
	s := object{"description": k.Doc}
	if k.Default != nil {
		s["default"] = k.Default
	}
	str := object{"type": "string"}
	switch k.Kind {
	case String:
		s["type"] = []string{"string", "null"}
		if len(k.Enum) > 0 {
			s["enum"] = nullable(k.Enum)
		}
	case Int:
		s["type"], s["minimum"] = []string{"integer", "null"}, k.Min
	case Number:
		s["type"], s["minimum"] = []string{"number", "null"}, k.Min
	case Bool:
		s["type"] = []string{"boolean", "null"}
	case Tokens:
		s["type"], s["pattern"] = []string{"integer", "string", "null"}, `^\+?[0-9.]+[kKmM]?$`
	case Portion:
		s["type"], s["pattern"] = []string{"integer", "string", "null"}, `^[0-9.]+[kKmM%]?$`
	case Space:
		s["type"], s["pattern"] = []string{"integer", "string", "null"}, `^[0-9.]+ ?([kKmMgGtT]?[bB]?|%)$`
	case Level:
		s["anyOf"] = []object{{"enum": nullable(k.Enum)}, {"type": "integer", "minimum": 0}}
	case Off:
		s["enum"] = []any{true, false, "disable", nil}
	case Strings:
		s["type"], s["items"] = []string{"array", "null"}, str
		if k.Max > 0 {
			s["items"] = object{"type": []string{"integer", "string"}, "minimum": k.Min, "maximum": k.Max, "pattern": `^[0-9]+$`}
			return s
		}
	case StringMap:
		s["type"], s["additionalProperties"] = []string{"object", "null"}, object{"type": []string{"string", "null"}}
	case Bools:
		s["type"], s["additionalProperties"] = []string{"object", "null"}, object{"type": []string{"boolean", "null"}}
	case Objects:
		s["type"], s["additionalProperties"] = []string{"object", "null"}, object{"type": "object"}
	case Object:
		s["type"] = []string{"object", "null"}
	case List:
		s["type"] = []string{"array", "null"}
	case Anything:
	}
	if k.Max > 0 {
		s["maximum"] = k.Max
	}
	return s
}

func nullable(names []string) []any {
	out := make([]any, 0, len(names)+1)
	for _, n := range names {
		out = append(out, n)
	}
	return append(out, nil)
}
