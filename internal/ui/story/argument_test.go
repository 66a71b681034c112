package story

import (
	"encoding/json"
	"testing"
)

// A call that never came to a title is named by its first argument.
func TestArgument(t *testing.T) {
	for in, want := range map[string]string{
		`{"command":"rm -r build","description":"x"}`: "rm -r build",
		`{"n": 1, "path": "x"}`:                       `{"n":1,"path":"x"}`,
		`{"list": ["a"]}`:                             `{"list":["a"]}`,
		`["a", "b", "c"]`:                             `["a","b","c"]`,
		`{"s": ""}`:                                   `{"s":""}`,
		`{}`:                                          "",
		`{"half":`:                                    "",
		``:                                            "",
	} {
		if got := argument(json.RawMessage(in)); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
