package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/schema"
)

var argument = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// Parameters reports what of a schema a provider refuses: Anthropic, OpenAI, or a
// server that speaks like one of them.
func Parameters(raw []byte) error {
	v, err := schema.Decode(raw)
	if err != nil {
		return err
	}
	if schema.Get(v, "type") != "object" {
		return errors.New(`input_schema.type: Input should be 'object'`)
	}
	props, ok := schema.Get(v, "properties").(schema.Object)
	if !ok {
		return errors.New("object schema missing properties")
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf", "enum", "not"} {
		if schema.Get(v, word) != nil {
			return fmt.Errorf("schema must not have %s at the top level", word)
		}
	}
	for _, p := range props {
		if !argument.MatchString(p.Key) {
			return fmt.Errorf("property keys should match %v: %q", argument, p.Key)
		}
	}
	return within(v)
}

// within checks a schema and those in it.
func within(v any) error {
	if _, ok := v.(bool); ok {
		return nil
	}
	o, ok := v.(schema.Object)
	if !ok {
		return fmt.Errorf("%v is no schema", v)
	}
	var types []any
	for _, m := range o {
		switch x := m.Value.(type) {
		case string:
			if m.Key == "type" {
				types = []any{x}
			}
			if m.Key == "$ref" {
				return fmt.Errorf("a reference to %q", x)
			}
		case bool:
			if m.Key == "exclusiveMinimum" || m.Key == "exclusiveMaximum" || m.Key == "required" {
				return fmt.Errorf("%s is of another draft", m.Key)
			}
		case []any:
			switch m.Key {
			case "type":
				types = x
			case "items":
				return errors.New("items is a list")
			case "anyOf", "oneOf", "allOf", "prefixItems":
				if len(x) == 0 {
					return fmt.Errorf("%s is empty", m.Key)
				}
				for _, e := range x {
					if err := within(e); err != nil {
						return err
					}
				}
			}
		case schema.Object:
			switch m.Key {
			case "properties", "patternProperties":
				for _, p := range x {
					if err := within(p.Value); err != nil {
						return fmt.Errorf("%s: %w", p.Key, err)
					}
				}
			case "items", "additionalProperties", "not":
				if err := within(x); err != nil {
					return err
				}
			}
		}
	}
	for _, t := range types {
		if s, ok := t.(string); !ok || !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, s) {
			return fmt.Errorf("%v is no type", t)
		}
	}
	if slices.Contains(types, any("array")) && schema.Get(o, "items") == nil {
		return errors.New("array schema missing items")
	}
	return nil
}

// geminiWords are the keywords of a schema that Gemini knows.
var geminiWords = []string{
	"type", "title", "description", "format", "nullable", "enum", "properties", "required", "propertyOrdering", "minProperties", "maxProperties",
	"items", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "anyOf", "example", "default",
}

// geminiParameters reports what of a schema Gemini refuses.
func geminiParameters(v any) error {
	o, ok := v.(schema.Object)
	if !ok {
		return fmt.Errorf("%v is no schema", v)
	}
	props, _ := schema.Get(o, "properties").(schema.Object)
	for _, m := range o {
		if !slices.Contains(geminiWords, m.Key) {
			return fmt.Errorf("unknown name %q", m.Key)
		}
		switch m.Key {
		case "type":
			s, _ := m.Value.(string)
			if !slices.Contains([]string{"OBJECT", "ARRAY", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "NULL"}, s) {
				return fmt.Errorf("invalid value at type: %v", m.Value)
			}
			if s == "OBJECT" && len(props) == 0 {
				return errors.New("properties: should be non-empty for OBJECT type")
			}
			if s == "ARRAY" && schema.Get(o, "items") == nil {
				return errors.New("items: missing field")
			}
		case "required", "enum":
			list, _ := m.Value.([]any)
			for _, e := range list {
				s, isString := e.(string)
				if !isString || s == "" || m.Key == "required" && schema.Get(props, s) == nil {
					return fmt.Errorf("%s: %v", m.Key, e)
				}
			}
		case "items":
			if err := geminiParameters(m.Value); err != nil {
				return err
			}
		case "anyOf":
			list, _ := m.Value.([]any)
			for _, e := range list {
				if err := geminiParameters(e); err != nil {
					return err
				}
			}
		}
	}
	for _, p := range props {
		if err := geminiParameters(p.Value); err != nil {
			return fmt.Errorf("%s: %w", p.Key, err)
		}
	}
	return nil
}

// parameters checks the schemas of all tools of a request.
func parameters(body []byte) error {
	type spec struct {
		Name         string
		InputSchema  json.RawMessage `json:"input_schema"`
		Parameters   json.RawMessage
		Function     *spec
		Declarations []spec `json:"functionDeclarations"`
	}
	var req struct{ Tools []spec }
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	for _, t := range req.Tools {
		for _, d := range t.Declarations {
			if len(d.Parameters) == 0 {
				continue
			}
			v, err := schema.Decode(d.Parameters)
			if err == nil {
				err = geminiParameters(v)
			}
			if err != nil {
				return fmt.Errorf("tool %s: %w", d.Name, err)
			}
		}
		if t.Declarations != nil {
			continue
		}
		if t.Function != nil {
			t = *t.Function
		}
		if err := Parameters(slices.Concat(t.InputSchema, t.Parameters)); err != nil {
			return fmt.Errorf("tool %s: %w", t.Name, err)
		}
	}
	return nil
}

// schemas: what servers give as schemas, once it was repaired, is nothing that a
// provider refuses a request for.
func schemas(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say("ok")})
	r := f.ask("hello")
	for i, raw := range []string{
		``, `true`, `{"type":"object"}`, `{"type":"object","properties":{"o":{"type":"object"},"p":{"type":"object","additionalProperties":{"type":"string"}},"q":{}}}`,
		`{"oneOf":[{"properties":{"id":{"type":"string"},"n":{"type":"integer"}},"required":["id"]},{"properties":{"n":{"type":"string"}},"required":["n"]}]}`,
		`{"type":"object","properties":{"root":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/N"}}}}}}`,
		`{"type":"object","properties":{"a":{"type":"array"},"t":{"type":"array","items":[{"type":"string"}]},"e":{"enum":["x",1,null,""]},"u":{"type":["string","number","null"]},"c":{"const":5}},"required":["a","gone"]}`,
		`{"type":"object","properties":{"n":{"type":"number","exclusiveMinimum":true,"minimum":0,"multipleOf":0.5},"s":{"type":"string","format":"uuid","pattern":"^(?=x)","contentMediaType":"text/plain"},"any":{"type":"any"},"not":{"not":{"type":"string"}},"when":{"if":{},"then":{}}}}`,
		`{"type":"object","properties":{"with space":{},"union":{"anyOf":[{"type":"object"},{"type":"array"},{"type":"null"}]},"all":{"allOf":[{"type":"object","properties":{"x":{}}},{"required":["x"]}]}},"patternProperties":{"^x":{}},"minProperties":1}`,
	} {
		fixed, err := schema.Fit(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		r.Tools = append(r.Tools, llm.Spec{Name: fmt.Sprintf("mcp__s__t%d", i), Description: "does it", Schema: fixed})
	}
	if g := f.send(t, r); g.Err != nil {
		t.Fatal(g.Err)
	}
	if err := parameters(f.body(0)); err != nil {
		t.Errorf("%v\n%s", err, f.body(0))
	}
}
