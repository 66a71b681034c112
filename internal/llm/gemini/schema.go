package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

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
	root, ok := decode(raw)
	if !ok {
		return nil
	}
	d := converter{root: root}
	var j wire.JSON
	if props, ok := member(root, "properties").(object); !ok || len(props) == 0 {
		return nil
	}
	d.write(&j, root, 0)
	return j.Bytes()
}

// An object keeps the order of its members.
type object []pair

type pair struct {
	key   string
	value any
}

func member(v any, key string) any {
	o, _ := v.(object)
	for _, p := range o {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

func decode(raw []byte) (any, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := value(dec, 0)
	return v, err == nil
}

func value(dec *json.Decoder, depth int) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		o := object{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := value(dec, depth+1)
			if err != nil {
				return nil, err
			}
			o = append(o, pair{key.(string), v})
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

type converter struct{ root any }

// resolve follows a local reference.
func (d converter) resolve(v any) any {
	for range 8 {
		ref, ok := member(v, "$ref").(string)
		if !ok || !strings.HasPrefix(ref, "#/") {
			return v
		}
		at := d.root
		for _, step := range strings.Split(ref[2:], "/") {
			at = member(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
		v = at
	}
	return v
}

func (d converter) write(j *wire.JSON, v any, depth int) {
	o, ok := d.resolve(v).(object)
	j.Obj()
	defer j.End()
	if !ok || depth > maxSchemaDepth { // true, or too deep: anything goes
		j.Member("type", "STRING")
		return
	}
	o = simplify(o)
	for _, k := range keywords {
		m := member(o, k)
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
			props, _ := m.(object)
			for _, p := range props {
				j.Key(p.key)
				d.write(j, p.value, depth+1)
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
			plain(j, m)
		}
	}
	if member(o, "type") == "array" && member(o, "items") == nil {
		j.Key("items")
		j.Obj()
		j.Member("type", "STRING")
		j.End()
	}
}

// required names only what properties has: the wire refuses others.
func (d converter) required(j *wire.JSON, o object, m any) {
	list, _ := m.([]any)
	var keep []string
	for _, e := range list {
		if s, ok := e.(string); ok && member(member(o, "properties"), s) != nil {
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
func simplify(o object) object {
	out := slices.Clone(o)
	set := func(key string, v any) {
		for i := range out {
			if out[i].key == key {
				out[i].value = v
				return
			}
		}
		out = append(out, pair{key, v})
	}
	if one := member(o, "oneOf"); one != nil && member(o, "anyOf") == nil {
		set("anyOf", one)
	}
	if all, ok := member(o, "allOf").([]any); ok && len(all) == 1 {
		if inner, ok := all[0].(object); ok {
			for _, p := range inner {
				if member(out, p.key) == nil {
					set(p.key, p.value)
				}
			}
		}
	}
	if c, ok := member(o, "const").(string); ok {
		set("enum", []any{c})
		if member(o, "type") == nil {
			set("type", "string")
		}
	}
	types, ok := member(o, "type").([]any)
	if !ok {
		return out
	}
	var rest []any
	for _, t := range types {
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
		any = append(any, object{{"type", t}})
	}
	set("type", nil)
	set("anyOf", any)
	return out
}

func plain(j *wire.JSON, v any) {
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
			plain(j, e)
		}
		j.EndArr()
	default:
		j.Null()
	}
}
