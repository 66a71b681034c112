package config

import "testing"

// A comment may end a file without a line feed, and be all there is in it.
func TestCommentsEndFiles(t *testing.T) {
	for text, model := range map[string]string{
		`{"model":"m"} // end`: "m", `{"model":"m"} // end` + "\n": "m", `{"model":"m"} /* end */`: "m", "// nothing yet": "", "/* nothing */ // yet\n": "",
		`{"model":"http://m"}`: "http://m", `{"model":"m"}// a // b`: "m",
	} {
		c := load(t, options(disk{userFile: text}))
		if c.Model != model || len(c.Problems) > 0 {
			t.Errorf("%q: model %q, %s", text, c.Model, problems(c))
		}
	}
	for _, text := range []string{`{"model":"m" // end`, `{"model":"m"} /* end`, "// a\n{", `{"model":"// m`} {
		if c := load(t, options(disk{userFile: text})); len(c.Problems) == 0 {
			t.Errorf("%q: no problem", text)
		}
	}
}
