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

// The name of a call is that of what it is about: what cannot be seen is not
// dropped, as that would be the name of something else.
func TestWordsHideNothing(t *testing.T) {
	for title, want := range map[string]string{
		"Write q\u202egnp.exe":                  `q\u202egnp.exe`,
		"Write /etc/passwd\u200b":               `/etc/passwd\u200b`,
		"Read größe.txt":                        "größe.txt",
		"Bash: rm \x1b[8m-r\x1b[0m a\nls":       `rm \x1b[8m-r\x1b[0m a …`,
		"Read " + "e" + "\u0301" + "tat\u00a0x": "e\u0301tat\\u00a0x",
	} {
		if _, got := (&Call{Title: title}).Words(); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}
