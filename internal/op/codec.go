package op

import (
	"bytes"
	"fmt"
	"iter"
	"reflect"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Version is that of the JSON form. It grows when a member changes its
// meaning or a new one may not be ignored.
const Version = 1

// MaxBytes bounds an op in its JSON form: a prompt's images in base64 are the
// most of it.
const MaxBytes = 64 << 20

// codec is the one table of names; names never change.
var codec = Codec[Op]{Noun: "op", Kinds: []Kind[Op]{
	KindOf[Op, Prompt]("prompt"),
	KindOf[Op, Notify]("notify"),
	KindOf[Op, Shell]("shell"),
	KindOf[Op, Unqueue]("unqueue"),
	KindOf[Op, Interrupt]("interrupt"),
	KindOf[Op, Attach]("attach"),
	KindOf[Op, Detach]("detach"),
	KindOf[Op, Answer]("answer"),
	KindOf[Op, SetModel]("set_model"),
	KindOf[Op, SetEffort]("set_effort"),
	KindOf[Op, SetMode]("set_mode"),
	KindOf[Op, Background]("background"),
	KindOf[Op, StopTask]("stop_task"),
	KindOf[Op, Rewind]("rewind"),
	KindOf[Op, Compact]("compact"),
	KindOf[Op, Goal]("goal"),
	KindOf[Op, Rename]("rename"),
	KindOf[Op, Revoke]("revoke"),
}}

// Name is what o is called in JSON, "" for nil.
func Name(o Op) string { return codec.Name(o) }

// Marshal gives the JSON form of o, on one line: {"v":1,"op":"rename","with":{"title":"x"}}.
func Marshal(o Op) ([]byte, error) { return codec.Marshal(o) }

// Types are the types of all ops by their names.
func Types() iter.Seq2[string, reflect.Type] { return codec.Types() }

// Unmarshal reads what Marshal wrote; an error is a Refusal.
func Unmarshal(raw []byte) (Op, error) { return codec.Unmarshal(raw) }

// A Kind ties the name of a type in JSON to the type.
type Kind[T any] struct {
	Name   string
	typ    reflect.Type
	decode func(jsontext.Value) (T, error)
}

// KindOf is the row of the type V, which is one of the sum T.
func KindOf[T any, V any](name string) Kind[T] {
	return Kind[T]{name, reflect.TypeFor[V](), func(raw jsontext.Value) (T, error) {
		var v V
		err := jsonv2.Unmarshal(raw, &v, jsonv2.RejectUnknownMembers(true))
		out, _ := any(v).(T)
		return out, err
	}}
}

// A Codec is the JSON form of a sealed sum that clients send: of ops here, of
// queries in package ask.
type Codec[T any] struct {
	Noun  string // "op" or "query": the member that has the name
	Kinds []Kind[T]
}

// Types are the types of the sum by their names, for who describes the form.
func (c Codec[T]) Types() iter.Seq2[string, reflect.Type] {
	return func(yield func(string, reflect.Type) bool) {
		for _, k := range c.Kinds {
			if !yield(k.Name, k.typ) {
				return
			}
		}
	}
}

// Name is what v is called in JSON, "" where it is none of the sum.
func (c Codec[T]) Name(v T) string {
	for _, k := range c.Kinds {
		if k.typ == reflect.TypeOf(v) {
			return k.Name
		}
	}
	return ""
}

// envelope is the JSON form: {"v":1,"op":"rename","with":{"title":"x"}}.
type envelope struct {
	Version int            `json:"v"`
	Op      string         `json:"op,omitempty"`
	Query   string         `json:"query,omitempty"`
	With    jsontext.Value `json:"with,omitempty"`
}

// name is the member of e that has the name.
func (c Codec[T]) name(e *envelope) *string {
	if c.Noun == "op" {
		return &e.Op
	}
	return &e.Query
}

// Marshal gives the JSON form of v, on one line.
func (c Codec[T]) Marshal(v T) ([]byte, error) {
	e := envelope{Version: Version}
	*c.name(&e) = c.Name(v)
	if *c.name(&e) == "" {
		return nil, fmt.Errorf("%T has no name as %s", v, c.Noun)
	}
	with, err := jsonv2.Marshal(v, jsonv2.FormatNilSliceAsNull(true))
	if err != nil {
		return nil, fmt.Errorf("write the %s %s: %w", c.Noun, c.Name(v), err)
	}
	if !bytes.Equal(with, []byte("{}")) {
		e.With = with
	}
	return jsonv2.Marshal(e)
}

// Unmarshal reads what Marshal wrote. Names match exactly. What this version
// does not know, a newer form, a name or a member, is a Refusal that names it,
// because half of an op must not be carried out.
func (c Codec[T]) Unmarshal(raw []byte) (none T, err error) {
	if len(raw) > MaxBytes {
		return none, &Refusal{Code: Malformed, Text: fmt.Sprintf("%s of %d bytes is too large; at most %d are taken", c.Noun, len(raw), MaxBytes)}
	}
	var e envelope
	if err := jsonv2.Unmarshal(raw, &e, jsonv2.RejectUnknownMembers(true)); err != nil {
		return none, &Refusal{Code: Malformed, Text: "this is no " + c.Noun + ": " + err.Error()}
	}
	if e.Version != Version {
		return none, &Refusal{Code: Unsupported, Text: fmt.Sprintf("the %s has version %d of the form, and this program reads version %d", c.Noun, e.Version, Version)}
	}
	for _, k := range c.Kinds {
		if k.Name != *c.name(&e) {
			continue
		}
		if len(e.With) == 0 {
			e.With = jsontext.Value("{}")
		}
		v, err := k.decode(e.With)
		if err != nil {
			return none, &Refusal{Code: Malformed, Text: fmt.Sprintf("the %s %s cannot be read: %v", c.Noun, k.Name, err)}
		}
		return v, nil
	}
	return none, &Refusal{Code: Unsupported, Text: fmt.Sprintf("there is no %s %q", c.Noun, *c.name(&e))}
}
