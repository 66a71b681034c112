package answer

import (
	"encoding/json"
	"testing"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/tool"
)

const person = `{"type":"object","properties":{"name":{"type":"string","minLength":1},"age":{"type":"integer","minimum":0},
 "tags":{"type":"array","items":{"$ref":"#/$defs/tag"},"maxItems":2},"a/b~c":{"type":"boolean"},"kind":{"enum":["x","y"]},
 "either":{"anyOf":[{"type":"string"},{"type":"null"}]},"code":{"type":"string","pattern":"^[A-Z]+$"}},
 "required":["name","age"],"additionalProperties":false,"$defs":{"tag":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}}`

func TestAccept(t *testing.T) {
	for _, c := range []struct{ schema, in, structured, text string }{
		{person, `{"name":"<A>","age":1e2}`, `{"age":1e2,"name":"<A>"}`, "ok"},
		{person, ` {"tags":[{"id":12345678901234567890}],"name":"é","age":0} `, `{"age":0,"name":"é","tags":[{"id":12345678901234567890}]}`, "ok"},
		{person, `{"name":"A","age":"42"}`, `{"age":42,"name":"A"}`, "ok"},
		{
			person, `{"name":"","age":-1,"tags":[{"id":"x"},{}, {"id":1}],"a/b~c":1,"kind":"z","extra":1,"either":3,"code":"a"}`, "",
			"the answer does not fit the schema:\n" +
				"- /a~1b~0c: expected boolean, got integer 1\n" +
				"- /age: -1 is less than 0\n" +
				"- /code: pattern: \"a\" does not match regular expression \"^[A-Z]+$\"\n" +
				"- /either: it fits none of the alternatives (anyOf)\n" +
				"- /extra: unknown field; the fields are a/b~c, age, code, either, kind, name, tags\n" +
				"- /kind: expected one of \"x\", \"y\", got string \"z\"\n" +
				"- /name: has 0 characters, fewer than 1\n" +
				"- /tags: has 3 items, more than 2\n" +
				"- /tags/0/id: expected integer, got string \"x\"\n" +
				"- /tags/1: the field \"id\" is missing\n" +
				"Correct it and call StructuredOutput again.",
		},
		{person, `{}`, "", "the answer does not fit the schema:\n- (root): the field \"name\" is missing\n- (root): the field \"age\" is missing\nCorrect it and call StructuredOutput again."},
		{person, `{"name":`, "", "the answer does not fit the schema:\n- it is not valid JSON: line 1, column 8: it ends too early\nCorrect it and call StructuredOutput again."},
		{person, `[]`, "", "the answer does not fit the schema:\n- (root): expected object, got array []\nCorrect it and call StructuredOutput again."},
		{`{"type":"array","items":{"$ref":"#/definitions/n"},"definitions":{"n":{"type":"number"}}}`, `{"value":[1,2.50]}`, `[1,2.50]`, "ok"},
		{`{"type":"array","items":{"type":"number"}}`, `{"value":[1,"a"]}`, "", "the answer does not fit the schema:\n- /1: expected number, got string \"a\"\nCorrect it and call StructuredOutput again."},
		{`{"type":"array"}`, `[1]`, "", "the answer does not fit the schema:\n- (root): expected an object with the one field \"value\", which holds the answer\nCorrect it and call StructuredOutput again."},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":"b"}`, `{"a":"b"}`, "ok"},
		{`true`, `{"value":null}`, `null`, "ok"},
	} {
		o, err := New(json.RawMessage(c.schema))
		if err != nil {
			t.Fatalf("%s: %v", c.schema, err)
		}
		r, err := o.Run(t.Context(), json.RawMessage(c.in), tool.Env{})
		if err != nil || r.Text != c.text || string(answerOf(r)) != c.structured || r.IsErr != (c.text != "ok") {
			t.Errorf("%s\n got %s %q %v\nwant %s %q", c.in, answerOf(r), r.Text, err, c.structured, c.text)
		}
	}
}

// A model that calls nothing may write its answer.
func TestWritten(t *testing.T) {
	const a = `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`
	for _, c := range []struct {
		schema, text   string
		once, anywhere string // what is taken; "" for nothing
	}{
		{a, `{"a":1}`, `{"a":1}`, `{"a":1}`},
		{a, "\n```json\n{\"a\": \"1\"}\n```\n", `{"a":1}`, `{"a":1}`},
		{a, "```\n{\n \"a\": 1\n}\n```", `{"a":1}`, `{"a":1}`},
		{a, "Here it is:\n```json\n{\"a\":1}\n```\nAnything else?", "", `{"a":1}`},
		{a, `The answer is {"a":1}.`, "", `{"a":1}`},
		{a, `{"b":1}`, "", ""},
		{a, "such as {\"a\":1} or {\"a\":2}", "", ""},
		{a, "{a:1}", "", ""},
		{a, "I cannot", "", ""},
		{`{"type":"array"}`, `[1]`, `[1]`, `[1]`},
		{`{"type":"array"}`, `{"value":[1]}`, `[1]`, `[1]`},
		{`{"type":"string"}`, `yes`, "", ""},
	} {
		o, err := New(json.RawMessage(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		for anywhere, want := range map[bool]string{false: c.once, true: c.anywhere} {
			got, ok := o.(*output).Written(c.text, anywhere)
			if string(got) != want || ok != (want != "") {
				t.Errorf("%s, %v: %s", c.text, anywhere, got)
			}
		}
	}
}

// What the model is given is always an object schema with the user's inside.
func TestInputSchema(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object"}`:                     `{"type":"object"}`,
		`{"properties":{"a":{}}}`:               `{"properties":{"a":{}},"type":"object"}`,
		`{"type":"string"}`:                     `{"additionalProperties":false,"properties":{"value":{"type":"string"}},"required":["value"],"type":"object"}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{}}}`: `{"$defs":{"a":{}},"additionalProperties":false,"properties":{"value":{"$ref":"#/$defs/a"}},"required":["value"],"type":"object"}`,
	} {
		o, err := New(json.RawMessage(schema))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(o.Spec().Schema); got != want {
			t.Errorf("%s:\n got %s\nwant %s", schema, got, want)
		}
	}
}

func TestBadSchema(t *testing.T) {
	for schema, want := range map[string]string{
		``:                                  "the JSON schema is not valid JSON: it is empty",
		"{\n  \"type\": oops}":              "the JSON schema is not valid JSON: line 2, column 11: invalid character 'o' looking for beginning of value",
		`{"type":"object"} x`:               "",
		`[]`:                                "a JSON schema is an object, such as {\"type\": \"object\", \"properties\": {…}}",
		`{"type":"object"`:                  "the JSON schema is not valid JSON: line 1, column 16: it ends too early",
		`{"type":5}`:                        "",
		`{"type":"strin"}`:                  `the JSON schema at the root: type "strin" is none of array, boolean, integer, null, number, object, string`,
		`{"$ref":"#/$defs/no"}`:             "",
		`{"properties":{"a":{"type":"x"}}}`: "the JSON schema at /properties/a: type \"x\" is none of array, boolean, integer, null, number, object, string",
		`{"$ref":"http://example.com/x"}`:   "the JSON schema at the root: $ref \"http://example.com/x\" leads nowhere; a reference starts with #/ and names a place in this schema",
		`{"$ref":"#"}`:                      "the JSON schema at the root: it refers to itself without end",
		`{"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"}]}}}`:            "the JSON schema at /properties/a: it refers to itself without end",
		`{"properties":{"a":{"pattern":"("}}}`:                                  "",
		`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`: "reading the JSON schema: $schema \"http://json-schema.org/draft-04/schema#\" is not supported; use draft-07 or 2020-12",
	} {
		_, err := New(json.RawMessage(schema))
		if err == nil {
			t.Errorf("%s: accepted", schema)
			continue
		}
		t.Logf("%s → %v", schema, err)
		if want != "" && err.Error() != want {
			t.Errorf("%s:\n got %s\nwant %s", schema, err, want)
		}
	}
}

func TestSpec(t *testing.T) {
	if len(text) > 500 {
		t.Errorf("%d bytes of description", len(text))
	}
}

func FuzzRun(f *testing.F) {
	f.Add(person, `{"name":"A","age":1}`)
	f.Add(`{"properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":{}}}`)
	f.Add(`{"$ref":"#"}`, `{}`)
	f.Add(`{"allOf":[{"$ref":"#"}]}`, `{"value":{}}`)
	f.Fuzz(func(t *testing.T, schema, in string) {
		o, err := New(json.RawMessage(schema))
		if err != nil {
			return
		}
		r, err := o.Run(t.Context(), json.RawMessage(in), tool.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if r.IsErr == json.Valid(answerOf(r)) {
			t.Fatalf("%q %q: error %v, structured %s", schema, in, r.IsErr, answerOf(r))
		}
	})
}

func answerOf(r tool.Result) json.RawMessage {
	a, _ := effect.Of[effect.Answer](r.Effects)
	return a.JSON
}
