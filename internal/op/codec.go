package op

import (
	"bytes"
	"fmt"
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

// A kind ties the name of an op in JSON to its Go type.
type kind struct {
	name   string
	typ    reflect.Type
	decode func(jsontext.Value) (Op, error)
}

// kinds is the one table of names; names never change.
var kinds = []kind{
	kindOf[Prompt]("prompt"),
	kindOf[Notify]("notify"),
	kindOf[Shell]("shell"),
	kindOf[Unqueue]("unqueue"),
	kindOf[Interrupt]("interrupt"),
	kindOf[Attach]("attach"),
	kindOf[Detach]("detach"),
	kindOf[Answer]("answer"),
	kindOf[SetModel]("set_model"),
	kindOf[SetEffort]("set_effort"),
	kindOf[SetMode]("set_mode"),
	kindOf[Background]("background"),
	kindOf[StopTask]("stop_task"),
	kindOf[Rewind]("rewind"),
	kindOf[Compact]("compact"),
	kindOf[Rename]("rename"),
	kindOf[Revoke]("revoke"),
}

func kindOf[T Op](name string) kind { return kind{name, reflect.TypeFor[T](), decode[T]} }

func decode[T Op](raw jsontext.Value) (Op, error) {
	var o T
	err := jsonv2.Unmarshal(raw, &o, jsonv2.RejectUnknownMembers(true))
	return o, err
}

// envelope is the JSON form: {"v":1,"op":"rename","with":{"title":"x"}}.
type envelope struct {
	Version int            `json:"v"`
	Op      string         `json:"op"`
	With    jsontext.Value `json:"with,omitempty"`
}

// Name is what o is called in JSON, "" for nil.
func Name(o Op) string {
	for _, k := range kinds {
		if k.typ == reflect.TypeOf(o) {
			return k.name
		}
	}
	return ""
}

// Marshal gives the JSON form of o, on one line.
func Marshal(o Op) ([]byte, error) {
	name := Name(o)
	if name == "" {
		return nil, fmt.Errorf("write an op: %T has no name", o)
	}
	with, err := jsonv2.Marshal(o, jsonv2.FormatNilSliceAsNull(true))
	if err != nil {
		return nil, fmt.Errorf("write the op %s: %w", name, err)
	}
	if bytes.Equal(with, []byte("{}")) {
		with = nil
	}
	return jsonv2.Marshal(envelope{Version, name, with})
}

// Unmarshal reads what Marshal wrote. Names match exactly. What this version
// does not know, a newer form, an op or a member, is a Refusal that names it,
// because half of an op must not be carried out.
func Unmarshal(raw []byte) (Op, error) {
	if len(raw) > MaxBytes {
		return nil, &Refusal{Code: Malformed, Text: fmt.Sprintf("an op of %d bytes is too large; at most %d are taken", len(raw), MaxBytes)}
	}
	var e envelope
	if err := jsonv2.Unmarshal(raw, &e, jsonv2.RejectUnknownMembers(true)); err != nil {
		return nil, &Refusal{Code: Malformed, Text: "this is no op: " + err.Error()}
	}
	if e.Version != Version {
		return nil, &Refusal{Code: Unsupported, Text: fmt.Sprintf("the op has version %d of the form, and this program reads version %d", e.Version, Version)}
	}
	for _, k := range kinds {
		if k.name != e.Op {
			continue
		}
		if len(e.With) == 0 {
			e.With = jsontext.Value("{}")
		}
		o, err := k.decode(e.With)
		if err != nil {
			return nil, &Refusal{Code: Malformed, Text: fmt.Sprintf("the op %s cannot be read: %v", e.Op, err)}
		}
		return o, nil
	}
	return nil, &Refusal{Code: Unsupported, Text: fmt.Sprintf("there is no op %q", e.Op)}
}
