package view_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/view"
)

// blocks has every kind, with every field set and with none.
func blocks() []view.Block {
	return []view.Block{
		view.Text{S: "a\n<b> & é 🙂"}, view.Text{},
		view.Code{Path: "a.go", First: 7, S: "x := 1\n"}, view.Code{},
		view.Terminal{Command: "ls", Output: "a\nb", Exit: 2, Dropped: 1 << 40, Note: "timed out after 2m0s"}, view.Terminal{},
		view.Diff{Path: "a.go", Unified: "@@ -1 +1 @@\n-a\n+b\n", Added: 1, Removed: 2, Created: true}, view.Diff{},
		view.Table{Head: []string{"a", "b"}, Rows: [][]string{{"1", "2"}, {"", "3"}}}, view.Table{},
		view.Tasks{Items: []view.Task{{Text: "t", Active: "doing t", Status: view.InProgress}, {Text: "u", Status: view.Pending}, {Text: "v", Status: view.Completed}}}, view.Tasks{},
		view.Image{Media: "image/png", Data: []byte{0, 1, 0xff}, Alt: "a dot"}, view.Image{},
		view.Questions{Items: []view.Question{{Text: "q?", Header: "h", Options: []view.Option{{Label: "l", About: "d"}, {Label: "m"}}, Multi: true}}}, view.Questions{},
		view.Form{Server: "f", Message: "m", URL: "https://a", Fields: []view.Field{
			{Name: "n", Title: "t", About: "a", Kind: view.ChoicesField, Required: true, Default: json.RawMessage(`["x"]`), Options: []view.FieldOption{{Value: "x", Title: "X"}}},
			{Name: "o", Kind: view.NumberField, Min: new(float64), Max: new(float64)}, {Name: "p", Kind: view.StringField, Format: "email"},
		}, Schema: json.RawMessage(`{"type":"object","properties":{}}`)}, view.Form{},
		view.Group{Blocks: []view.Block{view.Text{S: "a"}, view.Group{Blocks: []view.Block{view.Code{S: "b"}}}, view.Group{}}}, view.Group{},
		nil,
	}
}

func TestEveryBlockComesBack(t *testing.T) {
	kinds := map[string]bool{}
	for _, b := range blocks() {
		raw, err := view.Marshal(b)
		if err != nil {
			t.Fatalf("%+v: %v", b, err)
		}
		if !json.Valid(raw) {
			t.Errorf("%+v: not JSON: %s", b, raw)
		}
		got, err := view.Unmarshal(raw)
		if err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%#v came back as %#v, %v", b, got, err)
		}
		var w struct{ Kind string }
		if b != nil && (json.Unmarshal(raw, &w) != nil || w.Kind == "") {
			t.Errorf("%+v has no kind: %s", b, raw)
		}
		kinds[w.Kind] = true
	}
	if len(kinds) != 11 { // ten kinds, and nil
		t.Errorf("the kinds are %v", kinds)
	}
}

// A log that a newer version wrote can still be shown.
func TestUnknownKindSaysSo(t *testing.T) {
	for raw, want := range map[string]view.Block{
		`{"kind":"hologram","body":{"z":1}}`: view.Text{S: "[hologram: written by a newer version of adze]"},
		`{"kind":"group","blocks":[{"kind":"text","body":{"s":"a"}},{"kind":"new"}]}`: view.Group{Blocks: []view.Block{
			view.Text{S: "a"}, view.Text{S: "[new: written by a newer version of adze]"}}},
		`{"kind":"text","body":{"s":"a","future":true}}`: view.Text{S: "a"},
		``: nil, `null`: nil,
	} {
		got, err := view.Unmarshal(json.RawMessage(raw))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v", raw, got, err)
		}
	}
}

func TestBrokenBlocksAreErrors(t *testing.T) {
	for _, raw := range []string{`{`, `[]`, `{"kind":1}`, `{"kind":"code","body":[]}`, `{"kind":"code"}`, `{"kind":"group","blocks":[{"kind":"table","body":1}]}`} {
		if got, err := view.Unmarshal(json.RawMessage(raw)); err == nil || !strings.HasPrefix(err.Error(), "read view") {
			t.Errorf("%s: %#v, %v", raw, got, err)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, b := range blocks() {
		raw, err := view.Marshal(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := view.Unmarshal(raw)
		if err != nil {
			return
		}
		again, err := view.Marshal(b)
		if err != nil {
			t.Fatalf("%s was read as %#v, which cannot be written: %v", raw, b, err)
		}
		c, err := view.Unmarshal(again)
		if err != nil {
			t.Fatalf("%s was written as %s: %v", raw, again, err)
		}
		last, err := view.Marshal(c)
		if err != nil || string(last) != string(again) {
			t.Fatalf("%s, then %s, %v", again, last, err)
		}
	})
}
