package mention

import (
	"fmt"
	"strings"
	"testing"
)

func TestIn(t *testing.T) {
	for text, want := range map[string]string{
		"see @a.go please":           "a.go 0 0 [@a.go]",
		"@a/b.go:10-20":              "a/b.go 10 20 [@a/b.go:10-20]",
		"@a.go:10.":                  "a.go 10 0 [@a.go:10]",
		"@a.go#L10-L20,":             "a.go 10 20 [@a.go#L10-L20]",
		"@a.go#L10-20":               "a.go 10 20 [@a.go#L10-20]",
		"@a.go#10-20 @b#3":           "a.go 10 20 [@a.go#10-20]|b 3 0 [@b#3]",
		"@a.go:20-10":                "a.go 10 20 [@a.go:20-10]",
		`(@"a b.go"#L3)`:             `a b.go 3 0 [@"a b.go"#L3]`,
		`@"a b.go" c`:                `a b.go 0 0 [@"a b.go"]`,
		`@"never closed`:             "",
		"me@example.com":             "",
		"@":                          "",
		"a @ b":                      "",
		"@dir/ and @b":               "dir/ 0 0 [@dir/]|b 0 0 [@b]",
		"@../x @~/y @/z":             "../x 0 0 [@../x]|~/y 0 0 [@~/y]|/z 0 0 [@/z]",
		"\n@größe.txt:3\n":           "größe.txt 3 0 [@größe.txt:3]",
		"decorators: `@property`":    "property 0 0 [@property]",
		"@a.go:99999999999999999999": "a.go:99999999999999999999 0 0 [@a.go:99999999999999999999]",
	} {
		var got []string
		for _, m := range In(text) {
			got = append(got, fmt.Sprintf("%s %d %d [%s]", m.Path, m.From, m.To, text[m.Start:m.End]))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%q: %q, want %q", text, s, want)
		}
	}
	for _, m := range []Mention{{Path: "a.go"}, {Path: "a b"}, {Path: "a:3"}, {Path: "a#3"}, {Path: "a.", From: 2}, {Path: "ü x", From: 2, To: 9}} {
		again := In(m.String())
		if len(again) != 1 || again[0].Path != m.Path || again[0].From != m.From || again[0].To != m.To {
			t.Errorf("%+v is spelled %s, which is %+v", m, m, again)
		}
	}
	if name, lines := SplitRange("a.go:1-2"); name != "a.go" || lines != ":1-2" {
		t.Errorf("%q %q", name, lines)
	}
}

func TestInCode(t *testing.T) {
	for text, want := range map[string]bool{
		"@": false, "a\n@": false, "`@`": true, "`a` @": false, "`a` `b @`": true, "`\n@": false,
		"```py\n@x\n```": true, "```\na\n```\n@": false, "  ```\n@": true, "~~~\n```\n@": true, "~~~\n```\n~~~\n@": false,
	} {
		if got := InCode(text, strings.IndexByte(text, '@')); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzIn(f *testing.F) {
	f.Add(`a @"b c"#L1-2 @d:3`)
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		for _, m := range In(s) {
			if m.Start < last || m.End > len(s) || s[m.Start] != '@' || m.Path == "" {
				t.Fatalf("%q: %+v", s, m)
			}
			last = m.End
		}
	})
}

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"@finder look in b":        "finder|look in b",
		" \n@finder: look\n in b ": "finder|look\n in b",
		"@finder, @b.go matters":   "finder|@b.go matters",
		`@"be the site" the build`: "be the site|the build",
		"@finder":                  "finder|",
		"@* stop":                  "*|stop",
		"see @finder":              "",
		"@ finder":                 "",
		`@"never closed`:           "",
		"":                         "",
	} {
		name, rest, at, ok := Address(text)
		got := name + "|" + rest
		if !ok {
			got = ""
		}
		if got != want || ok && !strings.HasPrefix(text[at:], rest) {
			t.Errorf("%q: %q at %d, want %q", text, got, at, want)
		}
	}
}
