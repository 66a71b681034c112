package workflow

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/text/clip"
)

// checkSchema reports why nothing can be an answer of this form, as far as that is plain.
func checkSchema(raw json.RawMessage) error {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("schema is no JSON Schema: %s", clip.Line(err.Error(), 200))
	}
	if s.Type != "object" {
		return errors.New("the schema of an answer begins with type: 'object'")
	}
	if _, err := s.Resolve(nil); err != nil {
		return fmt.Errorf("schema is no JSON Schema: %s", clip.Line(err.Error(), 200))
	}
	return possible(&s, "schema")
}

// possible looks for fields that are required and ruled out.
func possible(s *jsonschema.Schema, at string) error {
	if closed(s.AdditionalProperties) && len(s.PatternProperties) == 0 {
		for _, name := range s.Required {
			if s.Properties[name] == nil {
				return fmt.Errorf("%s cannot be met: the field %q is required, and additionalProperties: false rules it out", at, clip.Visible(name))
			}
		}
	}
	if s.Items != nil {
		if err := possible(s.Items, at+".items"); err != nil && s.MinItems != nil && *s.MinItems > 0 {
			return err
		}
	}
	for _, name := range s.Required {
		p := s.Properties[name]
		if p == nil {
			continue
		}
		if closed(p) {
			return fmt.Errorf("%s cannot be met: the field %q is required, and its schema is false", at, clip.Visible(name))
		}
		if err := possible(p, at+"."+clip.Visible(name)); err != nil {
			return err
		}
	}
	return nil
}

// closed reports whether a schema is false, which nothing meets.
func closed(s *jsonschema.Schema) bool { return s != nil && s.Not != nil && isTrue(s.Not) }

func isTrue(s *jsonschema.Schema) bool {
	raw, err := json.Marshal(s)
	return err == nil && (string(raw) == "true" || string(raw) == "{}")
}
