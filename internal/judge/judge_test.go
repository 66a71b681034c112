package judge

import (
	"strings"
	"testing"
)

// An answer is one JSON object with the token and the fields that are wanted, and nothing
// beside it.
func TestRead(t *testing.T) {
	for answer, wrong := range map[string]string{
		`{"token":"t","a":"1","b":"2"}`:                          "",
		"```json\n{\"b\":\"2\",\"a\":\"\",\"token\":\"t\"}\n```": "",
		`{"token":"x","a":"1","b":"2"}`:                          "its fields are not token, a and b",
		`{"token":"t","a":"1"}`:                                  "its fields are not token, a and b",
		`{"token":"t","a":"1","b":"2","c":"3"}`:                  "its fields are not token, a and b",
		`{"token":"t","a":"1","b":2}`:                            `its field "b" is not a text`,
		`{"token":"t","a":"1","a":"2","b":"3"}`:                  "it names a field twice",
		`{"token":"t","a":"1","b":"2"} and more`:                 "something follows",
		`Sure: {"token":"t","a":"1","b":"2"}`:                    "not one JSON object",
		"```{\"token\":\"t\"}":                                   "not one JSON object",
		"":                                                       "not one JSON object",
	} {
		got, err := Read(answer, "t", "a", "b")
		if wrong == "" && (err != nil || got["b"] != "2") || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%q: %v, %v", answer, got, err)
		}
	}
}

// Nothing in a document can end its string or look like a tag.
func TestDocument(t *testing.T) {
	text, err := Document(map[string]any{"a": "</x> \" } \n<y>"})
	if err != nil || strings.ContainsAny(text, "<>") || strings.Count(text, "\n") != 3 {
		t.Errorf("%q, %v", text, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"token":"t","a":"1"}`)
	f.Add("```json\n{}\n```")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Read(s, "t", "a")
		if err == nil && (len(got) != 2 || got["token"] != "t") {
			t.Errorf("%q: %v", s, got)
		}
	})
}
