package skill

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestLoose(t *testing.T) {
	for text, want := range map[string]string{
		"name: r\ndescription: Use this agent when: code was written. Examples:\n\n<example>\nContext: The user asks.\nuser: \"Review it: now\"\n</example>\nmodel: inherit\ntools: Read, Grep\n": "name|description|model|tools",
		"name: r\ndescription: a: b\n  <example>\n  c: d\ntools: *\nhooks:\n  Stop:\n    - x\n":                                                                                                   "name|description|tools|hooks",
		"description: a: b\n<x>\nallowed-tools:\n  - Read\n":                                                                                                                                      "description|allowed-tools",
		"description: a: b\n<x>\ntools: [\n  Read\n":                                                                                                                                              "", // a field that is no YAML is not guessed
		"description: a: b\n<x>\ntools: Read\n</x>\ntools: Grep\n":                                                                                                                                "", // which of them counts?
		"description: a: b\n<x>\n  tools: Read\n":                                                                                                                                                 "", // perhaps a field
		"description: a: b\n<x>\n\"disallowedTools\": Write\n":                                                                                                                                    "",
		"description: a: b\n<x>\ndisallowedTools : Write\n":                                                                                                                                       "",
		"description: d\n\tx: y\n":                                                                                                                                                                "", // a tab
		"name: a: b\n<x>\n":                                                                                                                                                                       "",
		"<x>\nname: a\n":                                                                                                                                                                          "",
		"description: a: b\n<x>\ndescription: c\n":                                                                                                                                                "",
		"description: d\narguments:\n  - {name: x\n    description: y\nmodel: m\n":                                                                                                                "description|model", // without it, nothing more is allowed
		"description: d\narguments:\n  - {name: x\n    tools: y\n":                                                                                                                                "",
		"description: d\ndisallowed-tools: [\n  x\n":                                                                                                                                              "",
		"description: d\narguments:\n  - name: id\n    description: an ID (e.g.: B-3)\n    required: true\n  - name: mode\n    description: [a] [b]\n": "description|arguments",
		"description: d\nhooks:\n  Stop: |\n    echo: [a] [b]\n": "description|hooks",
		"description: a: b\n<x>\nlicense: MIT\nx: y":             "description|license|x",
	} {
		h := head{nodes: map[string]*yaml.Node{}, line: map[string]int{}}
		bad := h.read(text)
		if got := strings.Join(h.keys, "|"); got != want || (bad == nil) != (want != "") {
			t.Errorf("%q: %s, %v; want %s", text, got, bad, want)
		}
	}
	h := head{nodes: map[string]*yaml.Node{}, line: map[string]int{}}
	if bad := h.read("name: r\ndescription: Use when: x\n<example>\nContext: y\n</example>\ntools:\n  - Read\n"); bad != nil {
		t.Fatal(bad)
	}
	mended := head{nodes: map[string]*yaml.Node{}, line: map[string]int{}}
	if bad := mended.read("arguments:\n  - name: id\n    description: an ID (e.g.: B-3)\n    required: true\n  - mode\n  - name: a b\nhooks: |\n  x: [a] [b]\n"); bad != nil {
		t.Fatal(bad)
	}
	if names, hint := mended.arguments(); strings.Join(names, "|") != "id|mode|a_b" || hint != "<id> [mode] [a_b]" || mended.nodes["hooks"].Value != "x: [a] [b]\n" {
		t.Errorf("%q %q, %q", names, hint, mended.nodes["hooks"].Value)
	}
	if got := h.oneLine("description", 100); got != "Use when: x <example> Context: y </example>" || h.line["tools"] != 7 || h.nodes["tools"].Content[0].Line != 7 {
		t.Errorf("%q, tools in line %d", got, h.line["tools"])
	}
}

// What is read although it is no YAML never has a field that is not written as one, and
// every line that begins a known field is one.
func FuzzLoose(f *testing.F) {
	f.Add("name: r\ndescription: a: b\n<example>\nc: d\n</example>\ntools: Read\n")
	f.Add("description: a: b\n<x>\n- y\nhooks: {Stop: []}\n")
	f.Add("description: \"a\n\ntools: *\n")
	f.Fuzz(func(t *testing.T, top string) {
		if len(top) > 4096 {
			return
		}
		root, _, ok := loose(top)
		if !ok {
			return
		}
		var keys []string
		for i := 0; i < len(root.Content); i += 2 {
			if keys = append(keys, root.Content[i].Value); slices.Contains(keys[:len(keys)-1], root.Content[i].Value) {
				t.Fatalf("%q: %q twice", top, root.Content[i].Value)
			}
		}
		for line := range strings.Lines(top) {
			if key, _, is := strings.Cut(line, ":"); is && slices.Contains(fieldNames(), key) && !slices.Contains(keys, key) {
				t.Fatalf("%q: the field %s is gone", top, key)
			}
		}
		_, _, _ = Matter("x.md", []byte("---\n"+top+"\n---\nbody"))
	})
}
