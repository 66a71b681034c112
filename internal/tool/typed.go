package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// Typed adapts two plain functions over a decoded input to a Tool. Make one
// with New, which derives the schema from In: field names from json tags, a
// field without omitempty or omitzero is required, descriptions from
// jsonschema tags.
type Typed[In any] struct {
	spec   Spec
	schema *jsonschema.Schema
	plan   func(In, Env) (Plan, error)
	run    func(context.Context, In, Env) (Result, error)
}

// New panics when In has no schema, which a test of the tool finds at once.
func New[In any](spec Spec, plan func(In, Env) (Plan, error), run func(context.Context, In, Env) (Result, error)) Typed[In] {
	sch, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", spec.Name, err))
	}
	return NewWithSchema(spec, sch, plan, run)
}

// NewWithSchema is New with a schema made by hand (enums, bounds).
func NewWithSchema[In any](spec Spec, sch *jsonschema.Schema, plan func(In, Env) (Plan, error), run func(context.Context, In, Env) (Result, error)) Typed[In] {
	if sch.Type == "object" && sch.Properties == nil {
		sch.Properties = map[string]*jsonschema.Schema{} // OpenAI refuses an object without
	}
	raw, err := render(sch)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", spec.Name, err))
	}
	spec.Schema = raw
	return Typed[In]{spec: spec, schema: sch, plan: plan, run: run}
}

// Spec implements Tool.
func (t Typed[In]) Spec() Spec { return t.spec }

// Plan implements Tool.
func (t Typed[In]) Plan(raw json.RawMessage, env Env) (Plan, error) {
	in, err := t.decode(raw)
	if err != nil {
		return Plan{}, err
	}
	return t.plan(in, env)
}

// Run implements Tool.
func (t Typed[In]) Run(ctx context.Context, raw json.RawMessage, env Env) (Result, error) {
	in, err := t.decode(raw)
	if err != nil {
		return Result{Text: err.Error(), IsErr: true}, nil
	}
	return t.run(ctx, in, env)
}

func (t Typed[In]) decode(raw json.RawMessage) (In, error) {
	var in In
	fixed, err := Fit(t.schema, raw)
	if err != nil {
		return in, err
	}
	if err := json.Unmarshal(fixed, &in); err != nil {
		return in, fmt.Errorf("arguments do not fit the schema: %w", err)
	}
	return in, nil
}
