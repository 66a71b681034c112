package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/tool"
)

type inner struct {
	Path string `json:"path"`
	N    int    `json:"n,omitempty"`
}

type input struct {
	S     string            `json:"s"`
	N     int               `json:"n,omitempty"`
	F     float64           `json:"f,omitempty"`
	B     bool              `json:"b,omitempty"`
	P     *int              `json:"p,omitempty"`
	List  []int             `json:"list,omitempty"`
	Deep  []inner           `json:"deep,omitempty"`
	In    *inner            `json:"in,omitempty"`
	Map   map[string]string `json:"map,omitempty"`
	Mode  string            `json:"mode,omitempty"`
	Size  int               `json:"size,omitempty"`
	Few   []string          `json:"few,omitempty"`
	Count int               `json:"count,omitempty"`
}

func schema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.For[input](nil)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi, one, two := 1.0, 10.0, 1, 2
	s.Properties["mode"].Enum = []any{"fast", "slow"}
	s.Properties["count"].Enum = []any{1, 2.0, []any{"x"}}
	s.Properties["size"].Minimum, s.Properties["size"].Maximum = &lo, &hi
	s.Properties["few"].MinItems, s.Properties["few"].MaxItems = &one, &two
	return s
}

func TestFit(t *testing.T) {
	s := schema(t)
	for _, c := range []struct{ name, in, want, err string }{
		{name: "as it should be", in: `{"s":"x","n":1,"b":true}`, want: `{"b":true,"n":1,"s":"x"}`},
		{name: "a number as a string", in: `{"s":"x","n":"42"}`, want: `{"n":42,"s":"x"}`},
		{name: "with space around", in: `{"s":"x","n":" -7 "}`, want: `{"n":-7,"s":"x"}`},
		{name: "a fraction as a string", in: `{"s":"x","f":"1.5"}`, want: `{"f":1.5,"s":"x"}`},
		{name: "a whole number with a fraction", in: `{"s":"x","n":3.0}`, want: `{"n":3,"s":"x"}`},
		{name: "the same as a string", in: `{"s":"x","n":"3e2"}`, want: `{"n":300,"s":"x"}`},
		{name: "an integer for a number", in: `{"s":"x","f":2}`, want: `{"f":2,"s":"x"}`},
		{name: "a large integer keeps its digits", in: `{"s":"x","n":9007199254740993}`, want: `{"n":9007199254740993,"s":"x"}`},
		{name: "a boolean as a string", in: `{"s":"x","b":"true"}`, want: `{"b":true,"s":"x"}`},
		{name: "as Python writes it", in: `{"s":"x","b":"False"}`, want: `{"b":false,"s":"x"}`},
		{name: "a string stays a string", in: `{"s":"42"}`, want: `{"s":"42"}`},
		{name: "a string that looks like JSON, too", in: `{"s":"[1]"}`, want: `{"s":"[1]"}`},
		{name: "a list as a string", in: `{"s":"x","list":"[1, \"2\"]"}`, want: `{"list":[1,2],"s":"x"}`},
		{name: "an object as a string", in: `{"s":"x","in":"{\"path\":\"p\",\"n\":\"1\"}"}`, want: `{"in":{"n":1,"path":"p"},"s":"x"}`},
		{name: "nested", in: `{"s":"x","deep":[{"path":"a"},{"path":"b","n":"2"}]}`, want: `{"deep":[{"path":"a"},{"n":2,"path":"b"}],"s":"x"}`},
		{name: "null for what may be absent", in: `{"s":"x","n":null,"b":null,"list":null}`, want: `{"s":"x"}`},
		{name: "a map of any names", in: `{"s":"x","map":{"a":"b"}}`, want: `{"map":{"a":"b"},"s":"x"}`},
		{name: "a lone surrogate", in: `{"s":"a\ud83d"}`, want: `{"s":"a` + "\ufffd" + `"}`},
		{name: "the name of the mode", in: `{"s":"x","mode":"fast"}`, want: `{"mode":"fast","s":"x"}`},
		{name: "a number of an enum", in: `{"s":"x","count":2}`, want: `{"count":2,"s":"x"}`},
		{name: "within bounds", in: `{"s":"x","size":10,"few":["a"]}`, want: `{"few":["a"],"size":10,"s":"x"}`},

		{name: "nothing", in: ``, err: `field "s" is missing; it is required`},
		{name: "missing", in: `{"n":1}`, err: `field "s" is missing; it is required`},
		{name: "missing below", in: `{"s":"x","deep":[{"path":"a"},{"n":1}]}`, err: `field "deep[1].path" is missing; it is required`},
		{name: "null for what is required", in: `{"s":null}`, err: `field "s": expected string, got null`},
		{name: "unknown", in: `{"s":"x","t":1}`, err: `unknown field "t"; the fields are b, count, deep, f, few, in, list, map, mode, n, p, s, size`},
		{name: "unknown below", in: `{"s":"x","in":{"path":"p","q":1}}`, err: `unknown field "in.q"; the fields are n, path`},
		{name: "wrong case", in: `{"S":"x"}`, err: `unknown field "S"`},
		{name: "wrong kind", in: `{"s":1}`, err: `field "s": expected string, got integer`},
		{name: "no number", in: `{"s":"x","n":"many"}`, err: `field "n": expected integer, got string`},
		{name: "no JSON number", in: `{"s":"x","n":"0x10"}`, err: `field "n": expected integer, got string`},
		{name: "a fraction for an integer", in: `{"s":"x","n":1.5}`, err: `field "n": expected integer, got number`},
		{name: "a fraction in a list", in: `{"s":"x","list":[1,"2.5"]}`, err: `field "list[1]": expected integer, got number`},
		{name: "no boolean", in: `{"s":"x","b":"yes"}`, err: `field "b": expected boolean, got string`},
		{name: "one number for a boolean", in: `{"s":"x","b":1}`, err: `field "b": expected boolean, got integer`},
		{name: "none of the modes", in: `{"s":"x","mode":"warp"}`, err: `field "mode": warp is not one of fast, slow`},
		{name: "none of the numbers", in: `{"s":"x","count":3}`, err: `field "count": 3 is not one of 1, 2, [x]`},
		{name: "too small", in: `{"s":"x","size":0}`, err: `field "size": 0 is out of range, at least 1, at most 10`},
		{name: "too large", in: `{"s":"x","size":"11"}`, err: `field "size": 11 is out of range`},
		{name: "too few", in: `{"s":"x","few":[]}`, err: `field "few": expected at least 1 items, got 0`},
		{name: "too many", in: `{"s":"x","few":["a","b","c"]}`, err: `field "few": expected at most 2 items, got 3`},
		{name: "no object", in: `[1]`, err: `arguments: expected object, got array`},
		{name: "a bare string", in: `"x"`, err: `arguments: expected object, got string`},
		{name: "null", in: `null`, err: `arguments: expected object, got null`},
		{name: "the whole as a string", in: `"{\"s\":\"x\"}"`, want: `{"s":"x"}`},
		{name: "cut off", in: `{"s":"x`, err: `arguments are not valid JSON`},
		{name: "more than one", in: `{"s":"x"}{"s":"y"}`, err: `arguments are not valid JSON: there is more after the object`},
		{name: "a bracket too many", in: `{"s":"x"}}`, err: `arguments are not valid JSON`},
	} {
		got, err := tool.Fit(s, json.RawMessage(c.in))
		switch {
		case c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err)):
			t.Errorf("%s: %s gives %s, %v, want the error %s", c.name, c.in, got, err, c.err)
		case c.err == "" && (err != nil || !sameJSON(t, got, c.want)):
			t.Errorf("%s: %s gives %s, %v, want %s", c.name, c.in, got, err, c.want)
		}
	}
}

// sameJSON compares with the order of fields and no rounding of numbers.
func sameJSON(t *testing.T, got json.RawMessage, want string) bool {
	t.Helper()
	var a, b map[string]json.RawMessage
	if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		return false
	}
	for k := range b {
		if string(a[k]) != string(b[k]) {
			return false
		}
	}
	return len(a) == len(b)
}

// What Fit lets through is JSON that Go's reader takes for the input, and Fit
// has nothing more to repair in it.
func FuzzFit(f *testing.F) {
	for _, s := range []string{
		`{"s":"x","n":"42","b":"true","list":"[1]","deep":[{"path":"a"}],"in":"{}"}`, `{"s":"x","n":1e400,"f":"1e400"}`, `{"s":"x","n":3e18}`,
		`{"s":"x","p":null}`, `{"s":"\ud800"}`, `[[[[`, ``, `{"s":"x","count":[["x"]]}`, `{"s":"x","map":{"a":1}}`, `{"s":"x","n":-0.0}`,
	} {
		f.Add([]byte(s))
	}
	s := schema(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := tool.Fit(s, raw)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an error without a word")
			}
			return
		}
		again, err := tool.Fit(s, got)
		if err != nil || string(again) != string(got) {
			t.Fatalf("%s became %s, then %s, %v", raw, got, again, err)
		}
		var in input
		d := json.NewDecoder(strings.NewReader(string(got)))
		d.DisallowUnknownFields()
		if err := d.Decode(&in); err != nil && !strings.Contains(err.Error(), "cannot unmarshal number") {
			t.Fatalf("%s became %s, which Go does not read: %v", raw, got, err)
		}
	})
}
