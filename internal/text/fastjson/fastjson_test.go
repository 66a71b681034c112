package fastjson_test

import (
	"encoding/json"
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
