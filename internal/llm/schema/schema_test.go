package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/schema"
)

func TestFit(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", ``, schema.Any},
		{"anything", `true`, schema.Any},
		{"null", `null`, schema.Any},
		{"an empty schema", `{}`, `{"type":"object","properties":{}}`},
		{"an object of anything", `{"type":"object"}`, `{"type":"object","properties":{}}`},
		{"no type", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"string"}},"type":"object"}`},
		{"types", `{"type":["object","null"]}`, `{"type":"object","properties":{}}`},
		{"what is right stays as it is, in its order", `{"type":"object","required":["b"],"properties":{"b":{"enum":["x",1,null],"default":{"$ref":"#/x"}},"a":{"type":"integer","minimum":1,"description":"d"}},"additionalProperties":false}`, ""},
		{"a reference", `{"$schema":"s","type":"object","properties":{"p":{"$ref":"#/$defs/P","description":"mine"}},"$defs":{"P":{"type":"string","description":"its"}}}`, `{"type":"object","properties":{"p":{"type":"string","description":"mine"}}}`},
		{"a reference to a property", `{"type":"object","properties":{"p":{"type":"string"},"q":{"$ref":"#/properties/p"}}}`, `{"type":"object","properties":{"p":{"type":"string"},"q":{"type":"string"}}}`},
		{"a reference at the top", `{"$ref":"#/definitions/In","definitions":{"In":{"type":"object","properties":{"a":{}}}}}`, `{"type":"object","properties":{"a":{}}}`},
		{"references with signs", `{"type":"object","properties":{"p":{"$ref":"#/$defs/a~1b~0c"}},"$defs":{"a/b~c":{"type":"null"}}}`, `{"type":"object","properties":{"p":{"type":"null"}}}`},
		{"references that lead nowhere", `{"type":"object","properties":{"p":{"$ref":"#/$defs/none"},"q":{"$ref":"https://example.com/s.json","type":"string"},"r":{"$ref":"#anchor"}}}`, `{"type":"object","properties":{"p":{},"q":{"type":"string"},"r":{}}}`},
		{"a tree", `{"type":"object","properties":{"root":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/N"}}}}}}`, `{"type":"object","properties":{"root":{"type":"object","properties":{"kids":{"type":"array","items":{}}}}}}`},
		{"a schema in itself", `{"type":"object","properties":{"p":{"$ref":"#"}}}`, `{"type":"object","properties":{"p":{"type":"object","properties":{"p":{}}}}}`},
		{"one of several at the top", `{"oneOf":[{"properties":{"id":{"type":"string"},"n":{"type":"integer"}},"required":["id","n"]},{"properties":{"name":{"type":"string"},"n":{"type":"string"}},"required":["name","n"]}],"description":"d"}`, `{"description":"d","type":"object","properties":{"id":{"type":"string"},"n":{"anyOf":[{"type":"integer"},{"type":"string"}]},"name":{"type":"string"}},"required":["n"]}`},
		{"any of at the top, beside properties", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}],"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`},
		{"all of at the top", `{"allOf":[{"$ref":"#/$defs/A"},{"properties":{"b":{"type":"string"}},"required":["b"]}],"$defs":{"A":{"properties":{"a":{"type":"string"}},"required":["a"]}}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`},
		{"nested at the top", `{"oneOf":[{"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}]}`, `{"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]}`},
		{"three different ones", `{"oneOf":[{"properties":{"k":{"const":1}}},{"properties":{"k":{"const":2}}},{"properties":{"k":{"const":3}}},{"properties":{"k":{"const":2}}}]}`, `{"type":"object","properties":{"k":{"anyOf":[{"const":1},{"const":2},{"const":3}]}}}`},
		{"enum and not at the top", `{"type":"object","properties":{},"enum":[{}],"not":{"required":["x"]}}`, `{"type":"object","properties":{}}`},
		{"a list of another draft", `{"type":"object","properties":{"p":{"type":"array","items":[{"type":"string"},{"type":"number"}],"additionalItems":false}}}`, `{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"items":false}}}`},
		{"bounds of another draft", `{"type":"object","properties":{"p":{"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":"9","exclusiveMaximum":false}}}`, `{"type":"object","properties":{"p":{"type":"number","minimum":0,"exclusiveMinimum":0}}}`},
		{"required of another draft", `{"type":"object","properties":{"p":{"type":"string","required":true}},"required":["p",3,"p"]}`, `{"type":"object","properties":{"p":{"type":"string"}},"required":["p"]}`},
		{"types that are none", `{"type":"object","properties":{"p":{"type":"any"},"q":{"type":["string","file","string"]},"r":{"type":3}}}`, `{"type":"object","properties":{"p":{},"q":{"type":"string"},"r":{}}}`},
		{"arrays without items", `{"type":"object","properties":{"p":{"type":"array"},"q":{"type":["array","null"]}}}`, `{"type":"object","properties":{"p":{"type":"array","items":{}},"q":{"type":["array","null"],"items":{}}}}`},
		{"no schemas", `{"type":"object","properties":{"p":"string","q":null,"r":[1],"s":{"items":"x","anyOf":[],"properties":[],"enum":[],"title":3,"additionalProperties":"no"}}}`, `{"type":"object","properties":{"p":{},"q":{},"r":{},"s":{"items":{}}}}`},
		{"names that are refused", `{"type":"object","properties":{"ok-1_.":{},"with space":{},"` + strings.Repeat("l", 65) + `":{}}}`, `{"type":"object","properties":{"ok-1_.":{}}}`},
		{"the same name twice", `{"type":"object","properties":{"a":{"type":"string"},"b":{},"a":{"type":"null"}}}`, `{"type":"object","properties":{"a":{"type":"null"},"b":{}}}`},
	} {
		got, err := schema.Fit(json.RawMessage(c.in))
		if c.want == "" {
			c.want = c.in
		}
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s %v\nwant %s", c.name, got, err, c.want)
			continue
		}
		if again, err := schema.Fit(got); err != nil || string(again) != string(got) {
			t.Errorf("%s: a second time it is %s %v", c.name, again, err)
		}
		if err := llmtest.Parameters(got); err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
}

// What cannot be repaired says why.
func TestUnfit(t *testing.T) {
	bomb := `{"type":"object","properties":{"p":{"$ref":"#/$defs/a0"}},"$defs":{`
	for i := range 30 {
		n := string(rune('a'+i%26)) + string(rune('0'+i/26))
		next := string(rune('a'+(i+1)%26)) + string(rune('0'+(i+1)/26))
		bomb += `"` + n + `":{"type":"object","properties":{"x":{"$ref":"#/$defs/` + next + `"},"y":{"$ref":"#/$defs/` + next + `"}}},`
	}
	bomb += `"end":{}}}`
	for in, want := range map[string]string{
		`"x"`: "is no object", `[]`: "is no object", `false`: "is no object", `{`: "is not valid JSON", `{} {}`: "is not valid JSON",
		`{"type":"string"}`:                                          `describes a "string", and arguments are an object`,
		`{"type":["array","null"]}`:                                  `describes a ["array","null"], and arguments are an object`,
		strings.Repeat(`{"a":`, 500):                                 "is nested more than 200 deep",
		`{"description":"` + strings.Repeat("x", 300_000) + `"}`:     "at most 250.0 KB can be sent",
		`{"properties":{"a b":{}},"required":["a b"]}`:               `requires an argument named "a b", which providers refuse`,
		`{"properties":{"\u001b[31m":{}},"required":["\u001b[31m"]}`: `requires an argument named`,
		bomb: "is too large when what it refers to is written out",
	} {
		if got, err := schema.Fit(json.RawMessage(in)); err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%.60s is %.200s %v, want %s", in, got, err, want)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add(`{"oneOf":[{"properties":{"id":{"$ref":"#/$defs/x"}},"required":["id"]}],"$defs":{"x":{"type":["string",3],"items":[{}]}}}`)
	f.Add(`{"allOf":[{"$ref":"#"},true],"properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"}}}`)
	f.Fuzz(func(t *testing.T, in string) {
		got, err := schema.Fit(json.RawMessage(in))
		if err != nil {
			return
		}
		if err := llmtest.Parameters(got); err != nil {
			t.Fatalf("%v\n%s", err, got)
		}
		if again, err := schema.Fit(got); err != nil || string(again) != string(got) {
			t.Fatalf("%s\nbecomes %s %v", got, again, err)
		}
	})
}

// A schema may have thousands of branches that all say something else of one
// property: that takes milliseconds, not minutes.
func TestManyBranches(t *testing.T) {
	var b strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&b, `,{"properties":{"a":{"const":%d}}}`, i)
	}
	got, err := schema.Fit(json.RawMessage(`{"oneOf":[{}` + b.String() + `]}`))
	if err != nil || strings.Count(string(got), `"const"`) != 6000 || llmtest.Parameters(got) != nil {
		t.Errorf("%.200s %v", got, err)
	}
}
