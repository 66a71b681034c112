// Package fastjson reads and writes JSON on hot paths: the session log and
// streams. It is the one place that knows which library does it, and it holds
// no format of its own.
//
// Names and tags mean what they mean to encoding/json, with these differences:
// names match exactly, nothing is escaped for HTML, and invalid UTF-8 becomes
// U+FFFD instead of an error, in both directions.
package fastjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Raw is a JSON value that is copied as it is, escapes included, without its
// insignificant space.
type Raw = jsontext.Value

// options are the same for both directions. Object members may repeat because
// a model may write such an input, and the last one wins as in encoding/json.
var options = jsonv2.JoinOptions(
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
	jsontext.PreserveRawStrings(true), // a provider's cache is keyed by the bytes of what it is sent again
	jsonv1.FormatDurationAsNano(true),
	jsonv1.OmitEmptyWithLegacySemantics(true),
	jsonv2.FormatNilSliceAsNull(true),
	jsonv2.FormatNilMapAsNull(true),
	jsonv2.Deterministic(true),
	jsonv2.WithMarshalers(jsonv2.MarshalToFunc(writeRaw)),
	jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(readRaw)),
)

// Append adds the JSON of v to dst.
func Append(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	if err := jsonv2.MarshalWrite(b, v, options); err != nil {
		return dst, err
	}
	return b.Bytes(), nil
}

// Unmarshal reads one JSON value into v. Members that v has no place for are
// ignored.
func Unmarshal(raw []byte, v any) error { return jsonv2.Unmarshal(raw, v, options) }

// Valid reports whether raw is exactly one JSON value.
func Valid(raw []byte) bool {
	return jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// writeRaw copies a raw value. One that is not JSON is written as a string of
// its text: a tool's bad bytes must never make an event impossible to store.
func writeRaw(enc *jsontext.Encoder, v json.RawMessage) error {
	if len(v) == 0 {
		return enc.WriteToken(jsontext.Null)
	}
	if !Valid(v) {
		return enc.WriteToken(jsontext.String(string(v)))
	}
	return enc.WriteValue(jsontext.Value(v))
}

// readRaw copies a raw value without decoding it twice.
func readRaw(dec *jsontext.Decoder, v *json.RawMessage) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*v = append(json.RawMessage(nil), raw...)
	return nil
}

// Indent is raw on lines for people; as it is, where it is no JSON.
func Indent(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// Find returns the value at a path of names in a JSON object, and the offset at
// which it begins; nil when there is none. Of names that repeat the last one
// counts. What is beside the path is read over and not kept.
func Find(raw []byte, path ...string) (value Raw, offset int, err error) {
	for _, name := range path {
		var at int
		if raw, at, err = member(raw, name); raw == nil || err != nil {
			return nil, 0, err
		}
		offset += at
	}
	return raw, offset, nil
}

// member returns the value of one name of an object, and where it begins.
func member(raw []byte, name string) (value Raw, offset int, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, 0, err
	}
	for dec.PeekKind() == '"' {
		t, err := dec.ReadToken()
		if err != nil {
			return nil, 0, err
		}
		if t.String() != name {
			if err := dec.SkipValue(); err != nil {
				return nil, 0, err
			}
			continue
		}
		v, err := dec.ReadValue()
		if err != nil {
			return nil, 0, err
		}
		end := int(dec.InputOffset())
		value, offset = raw[end-len(v):end], end-len(v)
	}
	_, err = dec.ReadToken() // the closing bracket, or what is wrong
	return value, offset, err
}

// MapStrings copies a JSON value with every string in it, names too, replaced
// by f of it. Numbers and order stay as they are.
func MapStrings(raw []byte, f func(string) string) ([]byte, error) {
	both := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	var out bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewReader(raw), both...), jsontext.NewEncoder(&out, both...)
	for {
		t, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
		}
		if err != nil {
			return nil, err
		}
		if t.Kind() == '"' {
			t = jsontext.String(f(t.String()))
		}
		if err := enc.WriteToken(t); err != nil {
			return nil, err
		}
	}
}

// What Walk finds wrong with a value that is JSON otherwise.
var (
	ErrDeep  = errors.New("the JSON is too deep")
	ErrTwice = errors.New("the JSON has two members of one name in an object")
)

// Walk reads exactly one JSON value and hands the name of each member to f, with
// the number of objects and arrays that it is in. It ends with an error of f,
// ErrDeep for more than max levels, ErrTwice, or what else is wrong with raw.
func Walk(raw []byte, max int, f func(depth int, name string) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowInvalidUTF8(true))
	for values := 0; ; {
		t, err := d.ReadToken()
		if err == nil && d.StackDepth() == 0 {
			values++
		}
		switch {
		case errors.Is(err, io.EOF) && values == 1:
			return nil
		case values > 1:
			return errors.New("there is more after the JSON")
		case errors.Is(err, jsontext.ErrDuplicateName):
			return ErrTwice
		case err != nil:
			return err
		case d.StackDepth() > max:
			return ErrDeep
		case t.Kind() != '"':
			continue
		}
		if in, n := d.StackIndex(d.StackDepth()); in == '{' && n%2 == 1 {
			if err := f(d.StackDepth(), t.String()); err != nil {
				return err
			}
		}
	}
}

// Each hands the values of all members of a name to f, wherever they are but within
// each other. It ends where raw is no JSON. f does not keep what it is handed.
func Each(raw []byte, name string, f func(Raw)) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return
		}
		if in, n := d.StackIndex(d.StackDepth()); t.Kind() != '"' || in != '{' || n%2 == 0 || t.String() != name {
			continue
		}
		v, err := d.ReadValue()
		if err != nil {
			return
		}
		f(v)
	}
}

// Names are those of the members of an object, as they follow each other; nil of
// what is none.
func Names(raw []byte) (out []string) {
	_ = Walk(raw, math.MaxInt, func(depth int, name string) error { // what follows an error is not there
		if depth == 1 {
			out = append(out, name)
		}
		return nil
	})
	return out
}

// Where says where in a text the parser, which failed with err, stopped: "line 3,
// column 5: invalid …". An error that knows no place stays as it is.
func Where(raw []byte, err error) error {
	line, column, ok := Place(raw, err)
	if !ok {
		return err
	}
	text := strings.TrimPrefix(err.Error(), "jsontext: ")
	if i := strings.LastIndex(text, " after offset "); i > 0 {
		text = text[:i]
	}
	return fmt.Errorf("line %d, column %d: %s", line, column, text)
}

// Place is the line and the column, both from 1 and in bytes, where a parser stopped.
func Place(raw []byte, err error) (line, column int, ok bool) {
	var offset int64
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var text *jsontext.SyntacticError
	var meaning *jsonv2.SemanticError
	switch {
	case errors.As(err, &syntax):
		offset = max(0, syntax.Offset-1)
	case errors.As(err, &kind):
		offset = kind.Offset
	case errors.As(err, &text):
		offset = text.ByteOffset
	case errors.As(err, &meaning):
		offset = meaning.ByteOffset
	default:
		return 0, 0, false
	}
	before := raw[:min(max(0, offset), int64(len(raw)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n'), true
}

// InWords says what is wrong with JSON as encoding/json or Unmarshal found it, by the
// names of its fields and without those of Go's types.
func InWords(err error) error {
	var wrong *json.UnmarshalTypeError
	var meaning *jsonv2.SemanticError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &wrong):
	case errors.As(err, &meaning) && meaning.GoType != nil:
		field := strings.ReplaceAll(strings.TrimPrefix(string(meaning.JSONPointer), "/"), "/", ".")
		wrong = &json.UnmarshalTypeError{Value: kindNames[meaning.JSONKind], Type: meaning.GoType, Field: field}
		if meaning.JSONKind == '0' && kindOf(meaning.GoType) == kinds["number"] {
			wrong.Value += " as it is written"
		}
	case errors.As(err, &syntax) && errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("unexpected end of JSON input")
	case errors.As(err, &syntax):
		return errors.New(strings.TrimPrefix(syntax.Error(), "jsontext: "))
	default:
		return err
	}
	text := "expected " + kindOf(wrong.Type)
	kind, _, which := strings.Cut(wrong.Value, " ")
	if found := kinds[kind]; found != "" { // other libraries have their own words there
		text += ", found " + found
		if which { // "number 3.5" where a whole one is meant, or a smaller one
			text += " that is not whole or too large"
		}
	}
	if field := strings.TrimPrefix(wrong.Field, "."); field != "" {
		text = field + ": " + text
	}
	return errors.New(text)
}

// kinds are the kinds of JSON in plain words.
var kinds = map[string]string{"string": "a text", "number": "a number", "bool": "true or false", "array": "a list", "object": "an object"}

// kindNames are the names that encoding/json has for the kinds of jsontext.
var kindNames = map[jsontext.Kind]string{'"': "string", '0': "number", 't': "bool", 'f': "bool", '[': "array", '{': "object"}

// kindOf is the kind of JSON that fits a type.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.String:
		return kinds["string"]
	case reflect.Bool:
		return kinds["bool"]
	case reflect.Slice, reflect.Array:
		return kinds["array"]
	case reflect.Map, reflect.Struct:
		return kinds["object"]
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return kinds["number"]
	default:
		return "something else"
	}
}
