package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// specified are the fields of the specification, and further those that agents
// add to it.
var (
	specified = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
	further   = []string{
		"when_to_use", "argument-hint", "arguments", "disable-model-invocation", "user-invocable", "disallowed-tools", "model", "effort",
		"context", "agent", "background", "hooks", "paths", "shell",
	}
)

// maxLines is how long the specification wants a skill's text to be at most.
const maxLines = 500

// Check holds what is in a folder to the specification of agentskills.io, strictly:
// the folder of a skill, or one that holds such folders. n is how many skills it
// saw. A Problem that is Used is advice.
func Check(dir string) (n int, out []Problem) {
	p := Place{Dir: dir, Kind: Skills}
	files, bad := p.files()
	out = append(out, bad...)
	for _, f := range files {
		text, bad := p.read(f.path, false)
		if bad != nil {
			out = append(out, *bad)
			continue
		}
		n++
		for _, c := range check(f, string(text)) {
			c.File = f.path
			out = append(out, c)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, skillFile)); err != nil {
		for _, e := range (&walk{p: p}).names(dir) {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.ContainsFunc(files, func(f found) bool { return f.name == e.Name() }) {
				out = append(out, Problem{File: filepath.Join(dir, e.Name()), Text: "a folder without " + skillFile, Used: true})
			}
		}
	}
	return n, out
}

func check(f found, text string) (out []Problem) {
	say := func(line int, used bool, format string, args ...any) {
		out = append(out, Problem{Line: line, Text: fmt.Sprintf(format, args...), Used: used})
	}
	h, body, first, bad := readHead(text)
	switch {
	case bad != nil:
		return []Problem{*bad}
	case first == 1:
		say(1, false, "there is no front matter: the file begins with a line of three dashes, name and description follow")
		return out
	}
	top := strings.Join(h.raw, "\n")
	if fixed := quoted(top); fixed != top && yaml.Unmarshal([]byte(top), new(yaml.Node)) != nil {
		was, now := strings.Split(top, "\n"), strings.Split(fixed, "\n")
		for i := range was {
			if was[i] != now[i] {
				say(i+1+above, false, "it is YAML only with quotes around the value; other agents may not read it")
			}
		}
	}
	text1 := func(key string, max int, needed bool) {
		n := h.nodes[key]
		if n == nil {
			if needed {
				say(1, false, "%s is missing", key)
			}
			return
		}
		switch s := strings.TrimSpace(n.Value); {
		case n.Kind != yaml.ScalarNode:
			say(h.line[key], false, "%s is not a text", key)
		case s == "":
			say(h.line[key], false, "%s is empty", key)
		case max > 0 && utf8.RuneCountInString(s) > max:
			say(h.line[key], false, "%s has %s characters; at most %s are allowed", key, clip.Thousands(utf8.RuneCountInString(s)), clip.Thousands(max))
		}
	}
	text1("name", 0, true)
	if name := h.text1("name"); name != "" {
		if why := validName(name); why != "" {
			say(h.line["name"], false, "the name %q %s", clip.Line(clip.Visible(name), 80), why)
		} else if name != f.name {
			say(h.line["name"], false, "the name %s is not that of its folder, %s", name, f.name)
		}
	}
	text1("description", MaxDescription, true)
	text1("license", 0, false)
	text1("compatibility", 500, false)
	if n := h.nodes["metadata"]; n != nil {
		if n.Kind != yaml.MappingNode {
			say(h.line["metadata"], false, "metadata is not a map")
		} else {
			for i := 0; i+1 < len(n.Content); i += 2 {
				if v := n.Content[i+1]; v.Kind != yaml.ScalarNode || v.Tag != "!!str" {
					say(v.Line+above, false, "metadata: %s is not a text; put it in quotes", clip.Line(clip.Visible(n.Content[i].Value), 60))
				}
			}
		}
	}
	if n := h.nodes["allowed-tools"]; n != nil && n.Kind != yaml.ScalarNode {
		say(h.line["allowed-tools"], true, "allowed-tools is a list; the specification has one text with spaces between the tools")
	}
	for _, key := range []string{"allowed-tools", "disallowed-tools"} {
		for _, rule := range h.list(key) {
			r, err := policy.ParseRule(rule, policy.Allow, "", "", "")
			why := ""
			if err != nil {
				why = err.Error()
			} else {
				why = policy.Dead(r)
			}
			if why != "" {
				say(h.line[key], true, "%s: %s: %s", key, clip.Line(clip.Visible(rule), 80), why)
			}
		}
	}
	for _, key := range h.keys {
		switch {
		case slices.Contains(specified, key):
		case slices.Contains(further, key):
			say(h.line[key], true, "%s is no field of the specification; adze and some other agents understand it", key)
		default:
			say(h.line[key], false, "there is no field %q%s", clip.Line(clip.Visible(key), 60), near.Hint(key, slices.Concat(specified, further)))
		}
	}
	// What is of the right kind and has a value that nobody knows.
	_ = skillOf(Place{Kind: Skills}, f, &h, body)
	for _, n := range h.notes {
		if !slices.ContainsFunc(out, func(o Problem) bool { return o.Line == n.Line && !o.Used }) && !strings.Contains(n.Text, "not that of its folder") && n.Line > 0 {
			say(n.Line, false, "%s", n.Text)
		}
	}
	if strings.TrimSpace(body) == "" {
		say(first, false, "there is no text behind the front matter")
	}
	if n := strings.Count(body, "\n"); n > maxLines {
		say(first, true, "the text has %s lines; over %d, put parts of it into files beside it", clip.Thousands(n), maxLines)
	}
	out = append(out, missing(f, body, first)...)
	slices.SortStableFunc(out, func(a, b Problem) int { return a.Line - b.Line })
	return out
}

var linked = pattern.Lazy(`\]\(([^)#?\s]+)[^)]*\)`)

// missing are files that a text links to beside it and that are not there.
func missing(f found, body string, first int) (out []Problem) {
	fence := ""
	n := first - 1
	for line := range strings.Lines(body) {
		n++
		if mark := fenceOf(line); mark != "" {
			if fence == "" {
				fence = mark
			} else if len(mark) >= len(fence) {
				fence = ""
			}
		}
		if fence != "" {
			continue
		}
		for _, m := range linked().FindAllStringSubmatch(line, 20) {
			name := filepath.FromSlash(m[1])
			if strings.Contains(m[1], ":") || !filepath.IsLocal(name) || len(out) >= 20 {
				continue
			}
			if _, err := os.Stat(filepath.Join(f.dir, name)); err != nil {
				out = append(out, Problem{Line: n, Text: "it links to " + clip.Line(clip.Visible(m[1]), 100) + ", which is not there"})
			}
		}
	}
	return out
}

// BadName says what is wrong with a skill's name, "" when nothing is.
func BadName(name string) string { return validName(name) }

// Template is the file of a new skill.
func Template(name, about string) string {
	if about = clip.Line(clip.Visible(about), MaxDescription); about == "" {
		about = "What it does, and when to use it. Only this is seen before it is used."
	}
	return "---\nname: " + name + "\ndescription: '" + strings.ReplaceAll(about, "'", "''") + `'
---
# ` + name + `

1. What to do first, and how to see that it worked.
2. What to do then. "$ARGUMENTS" is what stands behind the name.

Put long texts and scripts into files beside this one, and name them here.
`
}
