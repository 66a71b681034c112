package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/view"
)

func bound(n float64) *float64 { return &n }

func TestFieldCheck(t *testing.T) {
	colours := []view.FieldOption{{Value: "r", Title: "Red"}, {Value: "g"}, {Value: "b"}}
	for name, c := range map[string]struct {
		f    view.Field
		good []string
		bad  map[string]string // what is said of it
	}{
		"text":   {view.Field{Kind: view.StringField, Min: bound(1), Max: bound(3)}, []string{`"a"`, `"äöü"`}, map[string]string{`""`: "at least 1 character", `"abcd"`: "at most 3 characters", `1`: "text", `null`: "text", `{`: "text"}},
		"email":  {view.Field{Kind: view.StringField, Format: "email"}, []string{`"a@b.c"`}, map[string]string{`"a"`: "e-mail", `"A <a@b.c>"`: "e-mail"}},
		"uri":    {view.Field{Kind: view.StringField, Format: "uri"}, []string{`"https://a/b"`, `"mailto:a@b"`}, map[string]string{`"a/b"`: "address"}},
		"date":   {view.Field{Kind: view.StringField, Format: "date"}, []string{`"2026-02-28"`}, map[string]string{`"2026-02-30"`: "date"}},
		"time":   {view.Field{Kind: view.StringField, Format: "date-time"}, []string{`"2026-02-28T01:02:03+01:00"`}, map[string]string{`"2026-02-28"`: "date and time"}},
		"other":  {view.Field{Kind: view.StringField, Format: "hostname"}, []string{`"?"`}, nil},
		"number": {view.Field{Kind: view.NumberField, Min: bound(-1.5), Max: bound(2)}, []string{`-1.5`, `2`, `0.1`}, map[string]string{`-2`: "at least -1.5", `3`: "at most 2", `"1"`: "number", `true`: "number"}},
		"whole":  {view.Field{Kind: view.IntegerField}, []string{`3`, `-4`, `1e3`}, map[string]string{`1.5`: "whole number"}},
		"switch": {view.Field{Kind: view.BooleanField}, []string{`true`, `false`}, map[string]string{`"yes"`: "yes or no", `null`: "yes or no"}},
		"one":    {view.Field{Kind: view.ChoiceField, Options: colours}, []string{`"r"`, `"g"`}, map[string]string{`"Red"`: "choices", `["r"]`: "choices"}},
		"some": {view.Field{Kind: view.ChoicesField, Options: colours, Min: bound(1), Max: bound(2)}, []string{`["r"]`, `["b","g"]`},
			map[string]string{`[]`: "at least 1 choice", `["r","g","b"]`: "at most 2 choices", `["r","r"]`: "once", `["x"]`: "offered", `"r"`: "list"}},
		"unknown": {view.Field{Kind: "date"}, nil, map[string]string{`1`: "not known"}},
	} {
		for _, raw := range c.good {
			if err := c.f.Check(json.RawMessage(raw)); err != nil {
				t.Errorf("%s: %s: %v", name, raw, err)
			}
		}
		for raw, want := range c.bad {
			if err := c.f.Check(json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: %v, not %q", name, raw, err, want)
			}
		}
	}
}

func TestFormCheck(t *testing.T) {
	f := view.Form{Fields: []view.Field{{Name: "n", Title: "Name", Kind: view.StringField, Required: true}, {Name: "a", Kind: view.IntegerField}}}
	for raw, want := range map[string]string{
		`{"n":"x"}`: "", `{"n":"x","a":3}`: "", ``: "JSON object", `[]`: "JSON object", `null`: "JSON object",
		`{"a":3}`: "Name: a value is needed", `{"n":"x","a":"3"}`: "a: a number", `{"n":"x","z":1}`: `no field "z"`,
	} {
		err := f.Check(json.RawMessage(raw))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, not %q", raw, err, want)
		}
	}
	if err := (view.Form{URL: "https://a"}).Check(nil); err != nil {
		t.Errorf("a page has no values: %v", err)
	}
}
