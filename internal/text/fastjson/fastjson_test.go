package fastjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/text/fastjson"
)

type sample struct {
	S     string          `json:"s,omitempty"`
	N     int             `json:"n,omitempty"`
	D     time.Duration   `json:"d,omitempty"`
	Bytes []byte          `json:"bytes,omitempty"`
	Raw   json.RawMessage `json:"raw,omitempty"`
	Rows  []string        `json:"rows"`
}

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		name string
		in   sample
		want string
	}{
		{"empty values are left out, a nil slice is null", sample{}, `{"rows":null}`},
		{"nothing is escaped for HTML", sample{S: "<a & b>"}, `{"s":"<a & b>","rows":null}`},
		{"invalid UTF-8", sample{S: "a\xffb"}, `{"s":"a�b","rows":null}`},
		{"durations are nanoseconds, bytes base64", sample{D: time.Second, Bytes: []byte("hi")}, `{"d":1000000000,"bytes":"aGk=","rows":null}`},
		{"raw is compacted and may repeat names", sample{Raw: json.RawMessage(`{ "a": 1.50, "a": 2 }`)}, `{"raw":{"a":1.50,"a":2},"rows":null}`},
		{"raw that is not JSON is a string", sample{Raw: json.RawMessage(`{"a":`)}, `{"raw":"{\"a\":","rows":null}`},
	} {
		got, err := fastjson.Append([]byte("x"), c.in)
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("%s: got %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestUnmarshal(t *testing.T) {
	var v sample
	line := []byte(`{"other":[1,{"x":2}],"s":"a` + "\xff" + `\ud800b","d":5,"raw":{"k":[1]},"bytes":"aGk="}`)
	if err := fastjson.Unmarshal(line, &v); err != nil {
		t.Fatal(err)
	}
	if v.S != "a��b" || v.D != 5 || string(v.Raw) != `{"k":[1]}` || string(v.Bytes) != "hi" {
		t.Errorf("got %+v", v)
	}
	clear(line)
	if string(v.Raw) != `{"k":[1]}` {
		t.Error("the raw value shares the line's memory")
	}
	if fastjson.Unmarshal([]byte(`{"s":1}`), &v) == nil || fastjson.Unmarshal([]byte(`{} x`), &v) == nil {
		t.Error("wrong types or trailing bytes were taken")
	}
}

func TestMapStrings(t *testing.T) {
	in := `{"a": ["x", 1.50, null, true, {"x": "y\n\"x"}], "a": -0}`
	got, err := fastjson.MapStrings([]byte(in), func(s string) string { return strings.ReplaceAll(s, "x", `"z`) })
	if want := `{"a":["\"z",1.50,null,true,{"\"z":"y\n\"\"z"}],"a":-0}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := fastjson.MapStrings([]byte(`{"a":`), strings.ToLower); err == nil {
		t.Error("a cut value was taken")
	}
}

func TestIndent(t *testing.T) {
	for in, want := range map[string]string{`{"a":[1,"<é>"]}`: "{\n  \"a\": [\n    1,\n    \"<é>\"\n  ]\n}", `{}`: `{}`, `{"a":`: `{"a":`, ``: ``} {
		if got := fastjson.Indent([]byte(in)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	const doc = `{"a":1, "projects": {"/x": {"m": {"k": [1, 2]}}, "/y":{}}, "m" : "s\u00e9", "m":{"last":true}}`
	for _, c := range []struct {
		doc  string
		path []string
		want string
		bad  bool
	}{
		{doc, []string{"projects", "/x", "m"}, `{"k": [1, 2]}`, false},
		{doc, []string{"m"}, `{"last":true}`, false},
		{doc, []string{"projects", "/z", "m"}, "", false},
		{doc, []string{"a", "m"}, "", false},
		{doc, nil, doc, false},
		{"", []string{"m"}, "", false},
		{"[1]", []string{"m"}, "", false},
		{`{"m":{},"x":}`, []string{"m"}, "", true},
		{`{"m":{}`, []string{"m"}, "", true},
		{`{"M":{}}`, []string{"m"}, "", false},
	} {
		got, at, err := fastjson.Find([]byte(c.doc), c.path...)
		if err == nil && string(got) != c.want || (err != nil) != c.bad {
			t.Errorf("%s %v: %s %v", c.doc, c.path, got, err)
		}
		if err == nil && got != nil && !strings.HasPrefix(c.doc[at:], string(got)) {
			t.Errorf("%s %v: it is not at %d", c.doc, c.path, at)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add(`{"a":{"b":[1]}}`)
	f.Add(`{"a":1,"a":{"b":2}} x`)
	f.Fuzz(func(t *testing.T, s string) {
		got, at, err := fastjson.Find([]byte(s), "a", "b")
		if err == nil && got != nil && (!fastjson.Valid(got) || s[at:at+len(got)] != string(got)) {
			t.Fatalf("%q: %q at %d", s, got, at)
		}
	})
}

func TestWalk(t *testing.T) {
	var got []string
	err := fastjson.Walk([]byte(` {"a":[{"b":"c","d":{}}],"e":"\ud800"} `), 4, func(depth int, name string) error {
		got = append(got, fmt.Sprint(depth, name))
		return nil
	})
	if want := "1a 3b 3d 1e"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%v, %v; want %s", got, err, want)
	}
	stop := errors.New("stop")
	for raw, want := range map[string]error{
		`[[[[]]]]`: nil, `[[[[[]]]]]`: fastjson.ErrDeep, `{"a":{"b":1,"c":2,"b":3}}`: fastjson.ErrTwice, `{"a":1,"\u0061":2}`: fastjson.ErrTwice,
		`{"stop":1}`: stop, `{"a":"stop"}`: nil, `1`: nil,
	} {
		err := fastjson.Walk([]byte(raw), 4, func(_ int, name string) error {
			if name == "stop" {
				return stop
			}
			return nil
		})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", raw, err, want)
		}
	}
	for _, raw := range []string{``, ` `, `{`, `{} {}`, `{"a"}`, `x`, `[1,]`} {
		if err := fastjson.Walk([]byte(raw), 4, func(int, string) error { return nil }); err == nil {
			t.Errorf("%q was taken", raw)
		}
	}
}

func TestWhere(t *testing.T) {
	text := []byte("{\n  \"a\": 1,\n  oops\n}\n")
	var v struct{ A string }
	for name, err := range map[string]error{"standard": json.Unmarshal(text, &v), "ours": fastjson.Unmarshal(text, &v)} {
		if got := fastjson.Where(text, err).Error(); !strings.HasPrefix(got, "line 3, column 3: invalid character 'o'") || strings.Contains(got, "offset") {
			t.Errorf("%s: %s", name, got)
		}
	}
	wrong := []byte("{\n \"A\": 5}")
	for name, err := range map[string]error{"standard": json.Unmarshal(wrong, &v), "ours": fastjson.Unmarshal(wrong, &v)} {
		if got := fastjson.Where(wrong, err).Error(); !strings.HasPrefix(got, "line 2, column ") {
			t.Errorf("a value of another kind, %s: %s", name, got)
		}
	}
	if err := errors.New("it is gone"); fastjson.Where(text, err) != err {
		t.Errorf("%v", fastjson.Where(text, err))
	}
}

func TestInWords(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`: "a: expected a text, found a number", `{"b":"x"}`: "b: expected a number, found a text", `{"c":[]}`: "c: expected true or false, found a list",
		`{"d":true}`: "d: expected a list, found true or false", `{"e":{"f":{}}}`: "e.f: expected a text, found an object", `[]`: "expected an object, found a list",
		`{"g":1.5}`: "g: expected a number, found a number that is not whole or too large", `{`: "unexpected end of JSON input", `{}`: "",
	} {
		var v struct {
			A string   `json:"a"`
			B float64  `json:"b"`
			C *bool    `json:"c"`
			D []string `json:"d"`
			E struct {
				F string `json:"f"`
			} `json:"e"`
			G int `json:"g"`
		}
		got := ""
		if err := fastjson.InWords(json.Unmarshal([]byte(in), &v)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q instead of %q", in, got, want)
		}
		got = ""
		if err := fastjson.InWords(fastjson.Unmarshal([]byte(in), &v)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s, read by Unmarshal: %q instead of %q", in, got, want)
		}
	}
}

func TestEachAndNames(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":{"x":1},"b":[{"x":{"x":2,"z":1}}],"c":"x"}`: `1 {"x":2,"z":1}`, `{"x":"x"}`: `"x"`, `["x",1]`: ``, `{"x":`: ``, ``: ``, `{"x":1} {"x":2}`: `1 2`,
	} {
		var got []string
		fastjson.Each([]byte(in), "x", func(v fastjson.Raw) { got = append(got, string(v)) })
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", in, got)
		}
	}
	for in, want := range map[string]string{`{"z":{"y":1},"a":[{"b":2}]}`: "z a", `[{"a":1}]`: "", `"a"`: "", `{`: "", ``: ""} {
		if got := strings.Join(fastjson.Names([]byte(in)), " "); got != want {
			t.Errorf("%s: %q", in, got)
		}
	}
}
