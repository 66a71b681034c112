package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/view"
)

// A person at a terminal fills in a form of a server line by line; what does not fit
// is asked for again, and an end of the input is no answer.
func TestFormAtATerminal(t *testing.T) {
	one := 1.0
	form := view.Form{Message: "Who \x1b[31mare you?", Fields: []view.Field{
		{Name: "name", Kind: view.StringField, Required: true},
		{Name: "age", Kind: view.IntegerField, Min: &one},
		{Name: "pet", Kind: view.ChoiceField, Options: []view.FieldOption{{Value: "cat"}, {Value: "dog", Title: "A dog"}}, Default: json.RawMessage(`"cat"`)},
		{Name: "likes", Kind: view.ChoicesField, Options: []view.FieldOption{{Value: "a"}, {Value: "b"}}},
		{Name: "sure", Kind: view.BooleanField},
	}}
	page := view.Form{Message: "Sign", URL: "https://h.example/x"}
	for text, want := range map[string]string{
		"\nEve\nold\n0\n30\n2\n1, b\nperhaps\ny\n\n": `true false {"age":30,"likes":["a","b"],"name":"Eve","pet":"dog","sure":true}`,
		"Eve\n\n\n\n\ny\n":                           `true false {"name":"Eve","pet":"cat"}`,
		"Eve\n\n\n\n\nn\n":                           `false false `,
		"Eve\n":                                      `false true `,
		"\n\n\n\n\n\n\n":                             `false true `,
	} {
		var said bytes.Buffer
		a := &formAsker{sys: System{Stderr: &said}, in: bufio.NewReader(strings.NewReader(text))}
		got, err := a.ask(t.Context(), "s", form)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal([]bool{got.Allow, got.Dismissed})
		have := strings.NewReplacer("[", "", "]", "", ",", " ").Replace(string(b)) + " " + string(got.Values)
		if have != want || strings.Contains(said.String(), "\x1b") {
			t.Errorf("%q: %s, not %s\n%s", text, have, want, said.String())
		}
	}
	for text, yes := range map[string]bool{"y\n": true, "\n": false, "": false} {
		var said bytes.Buffer
		a := &formAsker{sys: System{Stderr: &said}, in: bufio.NewReader(strings.NewReader(text))}
		if got, err := a.ask(t.Context(), "s", page); err != nil || got.Allow != yes || !strings.Contains(said.String(), page.URL) {
			t.Errorf("%q: %+v %v\n%s", text, got, err, said.String())
		}
	}
}
