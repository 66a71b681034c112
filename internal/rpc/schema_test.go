package rpc_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/rpc"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/view"
)

var update = flag.Bool("update", false, "write the golden files")

// schemaFile describes ops, queries, replies and events for who writes a client.
const schemaFile = "../../docs/clients.schema.json"

// views are the shapes by the names of their kinds.
var views = []view.Block{
	view.Text{}, view.Code{}, view.Terminal{}, view.Diff{}, view.Table{}, view.Tasks{}, view.Image{}, view.Questions{}, view.Form{}, view.Meter{},
}

// An object is a schema.
type object = map[string]any

// A describer makes schemas of Go types; structs have one of their own in defs.
type describer struct{ defs object }

func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

func constant(v any) object { return object{"const": v} }

// form is an object with these members, all required.
func form(members object) object {
	return object{"type": "object", "properties": members, "required": sorted(members)}
}

func sorted(members object) []string {
	out := []string{}
	for name := range members {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (d *describer) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[time.Duration]():
		return object{"type": "integer", "description": "nanoseconds"}
	case reflect.TypeFor[ask.Scope]():
		return object{"enum": []string{"watch", "answer", "prompt", "admin"}}
	case reflect.TypeFor[fastjson.Raw](), reflect.TypeFor[json.RawMessage]():
		return object{} // any JSON
	case reflect.TypeFor[[]byte]():
		return object{"type": "string", "contentEncoding": "base64"}
	}
	switch {
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return object{"type": "string"}
	case t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[json.Marshaler]()):
		return object{"type": "object"} // its own matter
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Slice:
		return object{"type": []string{"array", "null"}, "items": d.of(t.Elem())}
	case reflect.Array:
		return object{"type": "array", "items": d.of(t.Elem())}
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": d.of(t.Elem())}
	case reflect.Pointer:
		return object{"anyOf": []object{d.of(t.Elem()), {"type": "null"}}}
	case reflect.Struct:
		name := path.Base(t.PkgPath()) + "." + t.Name()
		if _, known := d.defs[name]; !known {
			d.defs[name] = nil // it may hold itself
			d.defs[name] = d.members(t)
		}
		return ref(name)
	default:
		return object{}
	}
}

// members is the schema of a struct, with the members of those that it embeds.
func (d *describer) members(t reflect.Type) object {
	props, required := object{}, []string{}
	d.add(t, props, &required)
	out := object{"type": "object", "properties": props}
	if len(required) > 0 {
		slices.Sort(required)
		out["required"] = slices.Compact(required)
	}
	return out
}

func (d *describer) add(t reflect.Type, props object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
			continue
		case f.Anonymous && name == "":
			d.add(f.Type, props, required)
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		switch {
		case name == "view" && f.Type == reflect.TypeFor[fastjson.Raw]():
			props[name] = ref("view")
		default:
			props[name] = d.of(f.Type)
		}
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}

// schema describes the whole protocol.
func schema(t *testing.T) []byte {
	t.Helper()
	d := &describer{object{}}
	var ops, queries, events, shapes []object
	for name, typ := range op.Types() {
		ops = append(ops, with(form(object{"v": constant(op.Version), "op": constant(name)}), "with", d.closed(typ)))
	}
	for name, typ := range ask.Types() {
		queries = append(queries, with(form(object{"v": constant(op.Version), "query": constant(name)}), "with", d.closed(typ)))
	}
	for name, typ := range event.Types() {
		e := d.members(typ)
		props := e["properties"].(object)
		props["seq"], props["time"], props["type"] = object{"type": "integer", "minimum": 0}, object{"type": "string", "format": "date-time"}, constant(name)
		required, _ := e["required"].([]string)
		e["required"] = append([]string{"seq", "time", "type"}, required...)
		events = append(events, e)
	}
	for _, b := range views {
		raw, err := view.Marshal(b)
		var w struct{ Kind string }
		if err == nil {
			err = json.Unmarshal(raw, &w)
		}
		if err != nil {
			t.Fatal(err)
		}
		shapes = append(shapes, form(object{"kind": constant(w.Kind), "body": d.of(reflect.TypeOf(b))}))
	}
	shapes = append(shapes, object{"type": "object", "properties": object{"kind": constant("group"), "blocks": object{"type": "array", "items": ref("view")}}, "required": []string{"kind"}})
	d.defs["op"], d.defs["query"], d.defs["event"], d.defs["view"] = object{"oneOf": ops}, object{"oneOf": queries}, object{"oneOf": events}, object{"oneOf": shapes}
	d.defs["reply"] = object{"type": "object", "additionalProperties": false, "properties": object{
		"text": object{"type": "string"}, "shapes": object{"type": "array", "items": ref("view")}, "choices": d.of(reflect.TypeFor[[]ask.Choice]()),
		"names": object{"type": "array", "items": object{"type": "string"}}, "data": object{},
	}}
	for name, typ := range map[string]reflect.Type{
		"hello": reflect.TypeFor[rpc.Hello](), "welcome": reflect.TypeFor[rpc.Welcome](), "card": reflect.TypeFor[rpc.Card](),
		"status": reflect.TypeFor[ask.Facts](), "open": reflect.TypeFor[[]ask.OpenSession](), "sessions": reflect.TypeFor[ask.SessionList](),
		"find": reflect.TypeFor[ask.Saved](), "servers": reflect.TypeFor[[]ask.Server](),
		"models": reflect.TypeFor[[]ask.Model](), "context": reflect.TypeFor[ask.Filling](), "settings": reflect.TypeFor[ask.SettingsNow](), "hooks": reflect.TypeFor[ask.HookSet](),
		"serve": reflect.TypeFor[ask.ServersChanged](), "call": reflect.TypeFor[ask.Called](), "resource": reflect.TypeFor[ask.Called](), "offers": reflect.TypeFor[event.Extended](), "reload": reflect.TypeFor[event.Extended](), "read": reflect.TypeFor[ask.File](), "rules": reflect.TypeFor[ask.RuleSet](), "trust": reflect.TypeFor[ask.Claims](),
	} {
		d.defs[name] = d.of(typ)
	}
	d.defs["message"] = object{"oneOf": messages()}
	var out bytes.Buffer
	out.WriteString(`{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "What adze and its clients send each other (docs/clients.md)", "$ref": "#/$defs/message", "$defs": {` + "\n")
	for i, name := range sorted(d.defs) {
		if i > 0 {
			out.WriteString(",\n")
		}
		fmt.Fprintf(&out, "%q: ", name)
		def := d.defs[name].(object)
		list, of := def["oneOf"].([]object)
		if !of {
			out.Write(compact(t, def))
			continue
		}
		out.WriteString(`{"oneOf": [`)
		for i, o := range list {
			if i > 0 {
				out.WriteString(",")
			}
			out.WriteString("\n  ")
			out.Write(compact(t, o))
		}
		out.WriteString("]}")
	}
	out.WriteString("\n}}\n")
	return out.Bytes()
}

func compact(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// closed is the schema of what an op or a query holds: a member that is not known is
// refused.
func (d *describer) closed(t reflect.Type) object {
	out := d.members(t)
	out["additionalProperties"] = false
	return out
}

// with adds a member that may be left out.
func with(o object, name string, member object) object {
	o["properties"].(object)[name] = member
	o["additionalProperties"] = false
	return o
}

// messages are those of the protocol.
func messages() (out []object) {
	version, id := constant("2.0"), object{"type": []string{"integer", "string"}}
	wireError := with(form(object{"code": object{"type": "integer"}, "message": object{"type": "string"}}), "data",
		object{"type": "object", "properties": object{"code": object{"type": "string"}, "hint": object{"type": "string"}}})
	request := func(method string, params object) {
		out = append(out, form(object{"jsonrpc": version, "id": id, "method": constant(method), "params": params}))
	}
	note := func(method string, params object) {
		out = append(out, with(form(object{"jsonrpc": version, "method": constant(method), "params": params}), "id", object{"not": object{}}))
	}
	request("hello", ref("hello"))
	request("submit", form(object{"session": object{"type": "string"}, "op": ref("op")}))
	request("ask", with(form(object{"query": ref("query")}), "session", object{"type": "string"}))
	request("follow", with(with(form(object{"session": object{"type": "string"}}), "after", object{"type": "integer", "minimum": 0}),
		"detail", object{"enum": []string{event.Durable.String(), event.Notices.String(), event.Everything.String()}}))
	note("cancel", form(object{"id": id}))
	note("event", form(object{"follow": id, "event": ref("event")}))
	note("ended", with(form(object{"follow": id}), "error", wireError))
	out = append(out,
		with(form(object{"jsonrpc": version, "id": id, "result": object{}}), "method", object{"not": object{}}),
		with(form(object{"jsonrpc": version, "id": object{"type": []string{"integer", "string", "null"}}, "error": wireError}), "method", object{"not": object{}}))
	return out
}

// The description of the protocol is made of the types that are used, and a change of it
// is seen.
func TestSchema(t *testing.T) {
	got := schema(t)
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say: go test ./internal/rpc -update writes it", schemaFile)
	}
}

// What the page shows is what is said.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema(t), &s); err != nil {
		t.Fatal(err)
	}
	rules, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(page)) {
		line = strings.Trim(line, "`\n")
		if !strings.HasPrefix(line, `{"jsonrpc"`) {
			continue
		}
		line, _, _ = strings.Cut(line, "`")
		n++
		var v any
		err := json.Unmarshal([]byte(line), &v)
		if err == nil {
			err = rules.Validate(v)
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if n < 10 {
		t.Errorf("only %d messages are shown", n)
	}
}
