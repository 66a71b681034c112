// Package answer takes a final answer in a form the user prescribed:
// StructuredOutput, whose input schema is the user's (--json-schema). It
// accepts only what fits the schema and says what does not; how often a model
// may try again is the loop's business.
package answer

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

//go:embed answer.md
var text string

// Name is the tool's name.
const Name = "StructuredOutput"

// maxSchema bounds the user's schema, in bytes.
const maxSchema = 1 << 20

// wrapped is the field that holds the answer when the schema does not
// describe an object: every provider wants an object as a tool's input.
const wrapped = "value"

type output struct {
	spec   tool.Spec
	schema *jsonschema.Schema
	check  *jsonschema.Resolved
	wrap   bool
}

// New returns StructuredOutput for a JSON Schema (draft 7 or 2020-12). The
// error is for the person who wrote the schema and says where it is wrong.
func New(schema json.RawMessage) (tool.Tool, error) {
	if len(schema) > maxSchema {
		return nil, fmt.Errorf("the JSON schema has %d bytes; at most %d", len(schema), maxSchema)
	}
	if err := wellFormed(schema); err != nil {
		return nil, fmt.Errorf("the JSON schema is not valid JSON: %w", err)
	}
	switch bytes.TrimSpace(schema)[0] {
	case '{', 't', 'f':
	default:
		return nil, errors.New("a JSON schema is an object, such as {\"type\": \"object\", \"properties\": {…}}")
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(schema, s); err != nil {
		return nil, fmt.Errorf("reading the JSON schema: %w", withoutPrefix(err))
	}
	if err := survey(s); err != nil {
		return nil, err
	}
	check, err := s.Resolve(nil) // without a loader, so nothing is fetched
	if err != nil {
		return nil, fmt.Errorf("reading the JSON schema: %w", withoutPrefix(err))
	}
	if err := check.Validate(map[string]any{}); err != nil && strings.Contains(err.Error(), "cannot validate version") {
		return nil, fmt.Errorf("reading the JSON schema: $schema %q is not supported; use draft-07 or 2020-12", s.Schema)
	}
	o := &output{schema: s, check: check}
	input, err := o.input(schema)
	if err != nil {
		return nil, fmt.Errorf("reading the JSON schema: %w", err)
	}
	o.spec = tool.Spec{Name: Name, Description: text, Schema: input}
	return o, nil
}

// wellFormed checks that raw is one JSON value; the error says where not.
func wellFormed(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		}
		return fmt.Errorf("%s: there is more after the end", position(raw, d.InputOffset()))
	}
	var se *json.SyntaxError
	switch {
	case errors.As(err, &se):
		return fmt.Errorf("%s: %s", position(raw, se.Offset), se)
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: it ends too early", position(raw, int64(len(raw))))
	}
	return err
}

// position writes a byte offset as line and column.
func position(raw []byte, off int64) string {
	before := raw[:min(max(off-1, 0), int64(len(raw)))]
	line := bytes.Count(before, []byte{'\n'})
	return fmt.Sprintf("line %d, column %d", line+1, len(before)-bytes.LastIndexByte(before, '\n'))
}

// withoutPrefix drops the library's name from its messages.
func withoutPrefix(err error) error {
	return errors.New(strings.TrimPrefix(strings.TrimPrefix(fastjson.InWords(err).Error(), "jsonschema: "), "json: "))
}

// input is the schema the model is given: the user's, or an object around it.
func (o *output) input(schema json.RawMessage) (json.RawMessage, error) {
	s := o.schema
	if s.Type == "object" {
		return schema, nil
	}
	var m map[string]json.RawMessage
	_ = json.Unmarshal(schema, &m) // nil for true and false
	if s.Type == "" && len(s.Types) == 0 && len(s.Properties) > 0 {
		m["type"] = json.RawMessage(`"object"`)
		return json.Marshal(m)
	}
	o.wrap = true
	outer := map[string]any{"type": "object", "required": []string{wrapped}, "additionalProperties": false}
	for _, defs := range []string{"$defs", "definitions", "$schema"} { // where references point
		if d, ok := m[defs]; ok {
			outer[defs] = d
			delete(m, defs)
		}
	}
	outer["properties"] = map[string]any{wrapped: m}
	if m == nil {
		outer["properties"] = map[string]any{wrapped: schema}
	}
	return json.Marshal(outer)
}

// Spec implements tool.Tool.
func (o *output) Spec() tool.Spec { return o.spec }

// Plan implements tool.Tool. What does not fit is Run's to report, so that
// each try counts once.
func (o *output) Plan(json.RawMessage, tool.Env) (tool.Plan, error) {
	return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: Name}, nil
}

// Run implements tool.Tool.
func (o *output) Run(_ context.Context, in json.RawMessage, _ tool.Env) (tool.Result, error) {
	got, wrong := o.accept(in)
	if len(wrong) > 0 {
		return tool.Errorf("the answer does not fit the schema:\n- %s\nCorrect it and call %s again.",
			strings.Join(wrong, "\n- "), Name), nil
	}
	return tool.Result{Text: "ok", Effects: []tool.Effect{effect.Answer{JSON: got}}, View: view.Code{S: fastjson.Indent(got)}}, nil
}

// accept returns the canonical form of an answer (keys sorted, no white
// space, numbers as written), or what is wrong with it.
func (o *output) accept(in json.RawMessage) (json.RawMessage, []string) {
	if err := wellFormed(in); err != nil {
		return nil, []string{"it is not valid JSON: " + err.Error()}
	}
	if o.wrap {
		var m map[string]json.RawMessage
		if json.Unmarshal(in, &m) != nil || m[wrapped] == nil || len(m) != 1 {
			return nil, []string{fmt.Sprintf("(root): expected an object with the one field %q, which holds the answer", wrapped)}
		}
		in = m[wrapped]
	}
	wrong := o.problems(in)
	if len(wrong) > 0 {
		// Numbers and booleans that came as strings are accepted, as for any tool.
		fixed, err := tool.Fit(o.schema, in)
		if err != nil || len(o.problems(fixed)) > 0 {
			return nil, wrong
		}
		in = fixed
	}
	return canonical(in), nil
}

func canonical(in json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(in))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return in // cannot be: it was decoded before
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return in
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
