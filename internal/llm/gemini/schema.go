package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm/schema"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// keywords are those of JSON Schema that the wire takes, in the order they
// are written. Others are left out; what they said is checked by the tool.
var keywords = []string{
	"type", "title", "description", "format", "nullable", "enum", "properties", "required", "propertyOrdering", "minProperties",
	"maxProperties", "items", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "anyOf",
}

const maxSchemaDepth = 32

// downConvert brings a JSON Schema down to what the wire takes: references
// are resolved, unknown keywords dropped, oneOf becomes anyOf, const an enum,
// a list of types a nullable type or anyOf. It returns nil for a schema
// without properties, which the wire refuses as an object.
func downConvert(raw json.RawMessage) json.RawMessage {
	root, err := schema.Decode(raw)
	if err != nil {
		return nil
	}
	d := converter{root: root}
	var j wire.JSON
	if props, ok := schema.Get(root, "properties").(schema.Object); !ok || len(props) == 0 {
		return nil
	}
	d.write(&j, root, 0)
	return j.Bytes()
}

type converter struct{ root any }

// resolve follows a local reference; one that leads nowhere says nothing.
func (d converter) resolve(v any) any {
	v, _ = schema.Resolve(d.root, v)
	return v
}

func (d converter) write(j *wire.JSON, v any, depth int) {
	o, ok := d.resolve(v).(schema.Object)
	j.Obj()
	defer j.End()
	if !ok || depth > maxSchemaDepth { // true, or too deep: anything goes
		j.Member("type", "STRING")
		return
	}
	o = simplify(o)
	if props, _ := schema.Get(o, "properties").(schema.Object); schema.Get(o, "type") == "object" && len(props) == 0 && depth > 0 {
		writeBag(j, o)
		return
	}
	if untyped(o) { // the wire refuses a request with one such property
		writeAny(j, o)
		return
	}
	for _, k := range keywords {
		m := schema.Get(o, k)
		if m == nil {
			continue
		}
		switch k {
		case "type":
			if s, ok := m.(string); ok {
				j.Member("type", strings.ToUpper(s))
			}
		case "properties":
			j.Key(k)
			j.Obj()
			props, _ := m.(schema.Object)
			for _, p := range props {
				j.Key(p.Key)
				d.write(j, p.Value, depth+1)
			}
			j.End()
		case "items":
			j.Key(k)
			d.write(j, m, depth+1)
		case "anyOf":
			j.Key(k)
			j.Arr()
			list, _ := m.([]any)
			for _, e := range list {
				d.write(j, e, depth+1)
			}
			j.EndArr()
		case "required":
			d.required(j, o, m)
		case "enum":
			writeEnum(j, m)
		case "format":
			if f, ok := m.(string); ok && slices.Contains([]string{"enum", "date-time", "float", "double", "int32", "int64"}, f) {
				j.Member(k, f)
			}
		default:
			j.Key(k)
			writeValue(j, m)
		}
	}
	if schema.Get(o, "type") == "array" && schema.Get(o, "items") == nil {
		j.Key("items")
		j.Obj()
		j.Member("type", "STRING")
		j.End()
	}
}

// types are those that the wire knows, as JSON Schema has them.
var types = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

// untyped reports whether a schema takes a value of any type.
func untyped(o schema.Object) bool {
	t, _ := schema.Get(o, "type").(string)
	return !slices.Contains(types, t) && schema.Get(o, "anyOf") == nil
}

// writeAny asks for a value of any type as text.
func writeAny(j *wire.JSON, o schema.Object) {
	about, _ := schema.Get(o, "description").(string)
	if about != "" {
		about += " "
	}
	j.Member("type", "STRING")
	j.Member("description", about+"(text, or JSON as text)")
}

// writeBag writes an object of which no property is known: the wire refuses
// that, so it is asked for as text.
func writeBag(j *wire.JSON, o schema.Object) {
	about, _ := schema.Get(o, "description").(string)
	if about != "" {
		about += " "
	}
	j.Member("type", "STRING")
	j.Member("description", about+"(a JSON object, as text)")
}

// required names only what properties has: the wire refuses others.
func (d converter) required(j *wire.JSON, o schema.Object, m any) {
	list, _ := m.([]any)
	var keep []string
	for _, e := range list {
		if s, ok := e.(string); ok && schema.Get(schema.Get(o, "properties"), s) != nil {
			keep = append(keep, s)
		}
	}
	if len(keep) == 0 {
		return
	}
	j.Key("required")
	j.Arr()
	for _, s := range keep {
		j.Str(s)
	}
	j.EndArr()
}

// writeEnum writes the strings of an enum; the wire knows no others.
func writeEnum(j *wire.JSON, m any) {
	list, _ := m.([]any)
	for _, e := range list {
		if s, ok := e.(string); !ok || s == "" {
			return
		}
	}
	j.Key("enum")
	j.Arr()
	for _, e := range list {
		j.Str(e.(string))
	}
	j.EndArr()
}

// simplify rewrites what the wire says in another way.
func simplify(o schema.Object) schema.Object {
	out := slices.Clone(o)
	set := func(key string, v any) {
		for i := range out {
			if out[i].Key == key {
				out[i].Value = v
				return
			}
		}
		out = append(out, schema.Member{Key: key, Value: v})
	}
	if one := schema.Get(o, "oneOf"); one != nil && schema.Get(o, "anyOf") == nil {
		set("anyOf", one)
	}
	if all, ok := schema.Get(o, "allOf").([]any); ok && len(all) == 1 {
		if inner, ok := all[0].(schema.Object); ok {
			for _, p := range inner {
				if schema.Get(out, p.Key) == nil {
					set(p.Key, p.Value)
				}
			}
		}
	}
	if c, ok := schema.Get(o, "const").(string); ok {
		set("enum", []any{c})
		if schema.Get(o, "type") == nil {
			set("type", "string")
		}
	}
	list, ok := schema.Get(o, "type").([]any)
	if !ok {
		if schema.Get(out, "type") == nil {
			set("type", implied(out))
		}
		return out
	}
	var rest []any
	for _, t := range list {
		if t == "null" {
			set("nullable", true)
		} else {
			rest = append(rest, t)
		}
	}
	if len(rest) == 1 {
		set("type", rest[0])
		return out
	}
	var any []any
	for _, t := range rest {
		any = append(any, schema.Object{{Key: "type", Value: t}})
	}
	set("type", nil)
	set("anyOf", any)
	return out
}

// implied is the type of a schema that does not say it, nil when it may be any.
func implied(o schema.Object) any {
	if props, ok := schema.Get(o, "properties").(schema.Object); ok && len(props) > 0 {
		return "object"
	}
	if schema.Get(o, "items") != nil {
		return "array"
	}
	if list, ok := schema.Get(o, "enum").([]any); ok && len(list) > 0 && !slices.ContainsFunc(list, func(e any) bool { _, text := e.(string); return !text }) {
		return "string"
	}
	return nil
}

// writeValue writes what a schema names as a value; an object or a float is null.
func writeValue(j *wire.JSON, v any) {
	switch v := v.(type) {
	case string:
		j.Str(v)
	case bool:
		j.Bool(v)
	case json.Number:
		j.Exact(json.RawMessage(v))
	case []any:
		j.Arr()
		for _, e := range v {
			writeValue(j, e)
		}
		j.EndArr()
	default:
		j.Null()
	}
}
