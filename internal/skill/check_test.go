package skill

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"---\nname: x\ndescription: d\n---\nDo it.\n":                                     "",
		"---\nname: x\ndescription: d\nlicense: MIT\nmetadata:\n  a: b\n---\n[f](y/z.md)": "8 links",
		"Do it.":                                                                                        "1 there is no front matter",
		"---\ndescription: d\n---\nx":                                                                   "1 name is missing",
		"---\nname: x\n---\nx":                                                                          "1 description is missing",
		"---\nname: X\ndescription: d\n---\nx":                                                          "2 has other characters",
		"---\nname: y\ndescription: d\n---\nx":                                                          "2 not that of its folder",
		"---\nname: -x\ndescription: d\n---\nx":                                                         "2 begins or ends with -",
		"---\nname: x--y\ndescription: d\n---\nx":                                                       "2 two - in a row",
		"---\nname: x\ndescription: ''\n---\nx":                                                         "3 description is empty",
		"---\nname: x\ndescription: [a]\n---\nx":                                                        "3 description is not a text",
		"---\nname: x\ndescription: a: b\n---\nx":                                                       "3 only with quotes",
		"---\nname: x\ndescription: d\nmetadata: [a]\n---\nx":                                           "4 metadata is not a map",
		"---\nname: x\ndescription: d\nmetadata:\n  version: 1.0\n---\nx":                               "5 metadata: version is not a text",
		"---\nname: x\ndescription: d\nalowed-tools: Read\n---\nx":                                      `4 there is no field "alowed-tools" (did you mean allowed-tools`,
		"---\nname: x\ndescription: d\nmodel: opus\n---\nx":                                             "advice 4 model is no field of the specification",
		"---\nname: x\ndescription: d\neffort: ultra\n---\nx":                                           "4 effort is",
		"---\nname: x\ndescription: d\nallowed-tools: [Read]\n---\nx":                                   "advice 4 is a list",
		"---\nname: x\ndescription: d\nallowed-tools: Raed\n---\nx":                                     "advice 4 there is no tool",
		"---\nname: x\ndescription: d\n---\n":                                                           "5 there is no text",
		"---\nname: x\ndescription: d\n---\n" + strings.Repeat("x\n", 600):                              "advice 5 the text has 600 lines",
		"---\nname: x\ndescription: " + strings.Repeat("x", 1025) + "\n---\nx":                          "3 description has 1,025 characters",
		"---\nname: x\ndescription: d\n---\na\nFix $1.":                                                 "advice 6 $1 is the second argument",
		"---\nname: x\ndescription: d\n---\nFix $1 in $0, or \\$1":                                      "",
		"---\nname: x\ndescription: d\n---\n$ARGUMENTS[0] $1":                                           "",
		"---\nname: x\ndescription: d\n---\nIt costs $1.50 or \\$1, $2\n```\nawk '{print $1}'\n```\n":   "",
		"---\nname: x\n\tdescription: d\n---\nx":                                                        "3 no YAML",
		"---\nname: x\ndescription: d\n---\n```\n[a](b.md)\n```\n[c](https://d) [e](#f) [g](../h.md)\n": "",
	} {
		dir := write(t, map[string]string{"x/SKILL.md": text})
		for _, at := range []string{dir, filepath.Join(dir, "x")} {
			n, bad := Check(Place{Dir: at, Kind: Skills})
			if n != 1 {
				t.Errorf("%q: %d skills", text, n)
			}
			said := ""
			for _, p := range bad {
				if p.Used {
					said += "advice "
				}
				said += fmt.Sprintf("%d %s\n", p.Line, p.Text)
			}
			ok := said == "" && want == ""
			if want != "" {
				words := strings.SplitN(want, " ", 2)
				if words[0] == "advice" {
					words = strings.SplitN(words[1], " ", 2)
					ok = strings.HasPrefix(said, "advice "+words[0]+" ")
				} else {
					ok = strings.Contains("\n"+said, "\n"+words[0]+" ")
				}
				ok = ok && strings.Contains(said, words[1])
			}
			if !ok {
				t.Errorf("%.60q in %s: it says %q, want %q", text, filepath.Base(at), said, want)
			}
		}
	}
	n, bad := Check(Place{Dir: write(t, map[string]string{"a/README.md": "x", "b/SKILL.md": md("b"), ".git/x": "y"}), Kind: Skills})
	if n != 1 || len(bad) != 1 || !strings.Contains(bad[0].Text, "without SKILL.md") {
		t.Errorf("%d %v", n, bad)
	}
}

// Commands need no front matter; what of it is not used is said.
func TestCheckCommands(t *testing.T) {
	for text, want := range map[string]string{
		"Do it.": "",
		"---\nmodel: opus\nallowed-tools: [Read]\n---\nDo $0": "",
		"a\nFix $1":                        "2 $1 is the second argument, and the text never has the first, which is $0 true",
		"---\neffort: ultra\n---\nx":       `2 effort is`,
		"---\nalowed-tools: Read\n---\nx":  `2 there is no field "alowed-tools"`,
		"---\nallowed-tools: Raed\n---\nx": "2 allowed-tools: Raed: there is no tool",
		"---\ndescription: a: b\n---\nx":   "2 it is YAML only with quotes",
		"---\ndescription: d\n---\n":       "4 there is no text",
		"[f](gone.md)":                     "1 it links to gone.md",
	} {
		n, bad := Check(Place{Dir: write(t, map[string]string{"x.md": text, "a/y.md": "z", "g.toml": "prompt = 'x'"}), Kind: Commands})
		said := ""
		for _, p := range bad {
			said += fmt.Sprintf("%d %s %v\n", p.Line, p.Text, p.Used)
		}
		if n != 3 || (want == "") != (said == "") || !strings.HasPrefix(said, want) {
			t.Errorf("%q: %d, it says %q, want %q", text, n, said, want)
		}
	}
}
