package matter

import (
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string]struct {
		head, body string
		lines      int
		ok         bool
	}{
		"":                                {},
		"# a":                             {body: "# a"},
		"---\na: b\n---\nbody\n":          {"a: b\n", "body\n", 3, true},
		"---  \na: b\n--- \t\nbody":       {"a: b\n", "body", 3, true},
		"\ufeff---\r\na: b\r\n---\r\nx\r": {"a: b\n", "x\r", 3, true},
		"---\na: b\n---":                  {"a: b\n", "", 3, true},
		"---\n---\n\nx":                   {"", "\nx", 2, true},
		"---\na: b\n----\nx":              {body: "---\na: b\n----\nx"},
		"---\nnever ends":                 {body: "---\nnever ends"},
		"---":                             {body: "---"},
		"\n---\na: b\n---\n":              {body: "\n---\na: b\n---\n"},
	} {
		if head, body, lines, ok := Split(text); head != want.head || body != want.body || lines != want.lines || ok != want.ok {
			t.Errorf("%q: %q %q %d %t", text, head, body, lines, ok)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("---\na: b\n---\nbody")
	f.Fuzz(func(t *testing.T, text string) {
		head, body, lines, ok := Split(text)
		clean := strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
		if !ok {
			if head != "" || body != clean || lines != 0 {
				t.Fatalf("%q: %q %q %d", text, head, body, lines)
			}
			return
		}
		if !strings.HasSuffix(clean, body) || strings.Count(head, "\n")+2 != lines {
			t.Fatalf("%q: %q %q %d", text, head, body, lines)
		}
	})
}
