package answer

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/tool"
)

// kinds are the values of "type" (JSON Schema Validation, 6.1.1).
var kinds = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// A surveyor looks for what would make a schema fit nothing, or fail later:
// an unknown type, a pattern that is no regular expression, a reference to
// elsewhere, and one that leads back to itself without going deeper into the
// answer, on which validation would never end.
type surveyor struct {
	root  *jsonschema.Schema
	state map[*jsonschema.Schema]int // 1: its loops are being looked for, 2: it has none
}

// survey names the first fault and its place.
func survey(s *jsonschema.Schema) error {
	return surveyor{s, map[*jsonschema.Schema]int{}}.look(s, "")
}

func (y surveyor) look(s *jsonschema.Schema, at string) error {
	if err := y.own(s, at); err != nil {
		where := at
		if where == "" {
			where = "the root"
		}
		return fmt.Errorf("the JSON schema at %s: %w", where, err)
	}
	for _, sub := range parts(s) {
		if err := y.look(sub.schema, at+"/"+sub.at); err != nil {
			return err
		}
	}
	return nil
}

func (y surveyor) own(s *jsonschema.Schema, at string) error {
	for _, k := range tool.Types(s) {
		if !slices.Contains(kinds, k) {
			return fmt.Errorf("type %q is none of %s", k, strings.Join(kinds, ", "))
		}
	}
	if _, err := regexp.Compile(s.Pattern); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	for _, re := range slices.Sorted(maps.Keys(s.PatternProperties)) {
		if _, err := regexp.Compile(re); err != nil {
			return fmt.Errorf("patternProperties: %w", err)
		}
	}
	switch {
	case s.DynamicRef != "" || at != "" && s.ID != "":
		return errors.New("$dynamicRef, and $id below the root, are not supported")
	case s.Ref != "" && local(y.root, s.Ref) == nil:
		return fmt.Errorf("$ref %q leads nowhere; a reference starts with #/ and names a place in this schema", s.Ref)
	}
	return y.loop(s)
}

// loop follows what applies to the same value.
func (y surveyor) loop(s *jsonschema.Schema) error {
	switch y.state[s] {
	case 1:
		return errors.New("it refers to itself without end")
	case 2:
		return nil
	}
	y.state[s] = 1
	next := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, []*jsonschema.Schema{s.Not, s.If, s.Then, s.Else})
	if s.Ref != "" {
		next = append(next, local(y.root, s.Ref))
	}
	for _, d := range s.DependentSchemas {
		next = append(next, d)
	}
	for _, n := range next {
		if n == nil {
			continue
		}
		if err := y.loop(n); err != nil {
			return err
		}
	}
	y.state[s] = 2
	return nil
}

// A part is a schema inside another, and its place there.
type part struct {
	at     string
	schema *jsonschema.Schema
}

// parts lists the schemas directly inside s, in a fixed order.
func parts(s *jsonschema.Schema) []part {
	out := []part{
		{"items", s.Items}, {"additionalItems", s.AdditionalItems}, {"unevaluatedItems", s.UnevaluatedItems},
		{"additionalProperties", s.AdditionalProperties}, {"unevaluatedProperties", s.UnevaluatedProperties},
		{"propertyNames", s.PropertyNames}, {"contains", s.Contains}, {"not", s.Not}, {"if", s.If}, {"then", s.Then}, {"else", s.Else},
	}
	for _, l := range []struct {
		at   string
		list []*jsonschema.Schema
	}{{"prefixItems", s.PrefixItems}, {"items", s.ItemsArray}, {"allOf", s.AllOf}, {"anyOf", s.AnyOf}, {"oneOf", s.OneOf}} {
		for i, sub := range l.list {
			out = append(out, part{l.at + "/" + strconv.Itoa(i), sub})
		}
	}
	for _, m := range []struct {
		at  string
		set map[string]*jsonschema.Schema
	}{
		{"properties", s.Properties}, {"patternProperties", s.PatternProperties}, {"dependentSchemas", s.DependentSchemas},
		{"dependencies", s.DependencySchemas}, {"$defs", s.Defs}, {"definitions", s.Definitions},
	} {
		for _, key := range slices.Sorted(maps.Keys(m.set)) {
			out = append(out, part{m.at + "/" + escape(key), m.set[key]})
		}
	}
	return slices.DeleteFunc(out, func(p part) bool { return p.schema == nil })
}

// escape writes a name as a step of a JSON pointer (RFC 6901).
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// local follows a reference inside the schema; nil when it leads nowhere.
func local(root *jsonschema.Schema, ref string) *jsonschema.Schema {
	frag, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	path, err := url.PathUnescape(frag)
	if err != nil {
		return nil
	}
	s := root
	for path != "" {
		i := slices.IndexFunc(parts(s), func(p part) bool {
			rest, ok := strings.CutPrefix(path, "/"+p.at)
			return ok && (rest == "" || rest[0] == '/')
		})
		if i < 0 {
			return nil
		}
		p := parts(s)[i]
		path, s = path[1+len(p.at):], p.schema
	}
	return s
}
