package skill

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/order"
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

// Check holds what is in a place to the specification of agentskills.io, strictly: the
// folder of a skill, or one that holds such folders. Of commands, for which nobody
// wrote one, it says what adze does not use. n is how many things it saw. A Problem
// that is Used is advice.
func Check(p Place) (n int, out []Problem) {
	files, bad := p.files()
	out = append(out, bad...)
	for _, f := range files {
		text, bad := p.read(f.path, false)
		if bad != nil {
			out = append(out, *bad)
			continue
		}
		n++
		if filepath.Ext(f.path) == ".toml" { // Gemini's, which has no front matter
			continue
		}
		for _, c := range check(p, f, string(text)) {
			c.File = f.path
			out = append(out, c)
		}
	}
	if _, err := os.Lstat(filepath.Join(p.Dir, skillFile)); err != nil && p.Kind == Skills {
		for _, e := range (&walk{p: p}).names(p.Dir) {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.ContainsFunc(files, func(f found) bool { return f.name == e.Name() }) {
				out = append(out, Problem{File: filepath.Join(p.Dir, e.Name()), Text: "a folder without " + skillFile, Used: true})
			}
		}
	}
	return n, out
}

// check says what of a file keeps to the specification.
func check(p Place, f found, text string) []Problem {
	h, body, first, bad := readHead(text)
	strict := p.Kind == Skills
	switch {
	case bad != nil:
		return []Problem{*bad}
	case first == 1 && strict:
		return []Problem{{Line: 1, Text: "there is no front matter: the file begins with a line of three dashes, name and description follow"}}
	}
	c := checker{h: &h}
	c.syntax()
	for i := range c.out {
		c.out[i].Used = !strict
	}
	if strict {
		c.name(f.name)
		c.text("description", MaxDescription, true)
		c.text("license", 0, false)
		c.text("compatibility", 500, false)
		c.metadata()
	}
	c.tools(strict)
	c.known(strict)
	// What is of the right kind and has a value that nobody knows.
	_ = skillOf(p, f, &h, body)
	for _, n := range h.notes {
		if !slices.ContainsFunc(c.out, func(o Problem) bool { return o.Line == n.Line && !o.Used }) && !strings.Contains(n.Text, "not that of its folder") && n.Line > 0 {
			c.say(n.Line, false, "%s", n.Text)
		}
	}
	if strings.TrimSpace(body) == "" {
		c.say(first, false, "there is no text behind the front matter")
	}
	if n := strings.Count(body, "\n"); n > maxLines && strict {
		c.say(first, true, "the text has %s lines; over %d, put parts of it into files beside it", clip.Thousands(n), maxLines)
	}
	out := append(c.out, missing(f, body, first)...)
	if p.Of == "" {
		out = append(out, second(body, first)...)
	}
	order.By(out, func(a, b Problem) int { return a.Line - b.Line })
	return out
}

// second is where a text has an argument that is not the first, when it never has the
// first: whoever wrote it may have counted from one.
func second(body string, first int) []Problem {
	var out []Problem
	for n, line := range unfenced(body) {
		for _, m := range placeholder().FindAllStringSubmatchIndex(line, -1) {
			group := func(i int) string { return line[max(m[2*i], 0):max(m[2*i+1], 0)] }
			money := group(4) != "" && m[1] < len(line) && line[m[1]] >= '0' && line[m[1]] <= '9'
			switch at, err := strconv.Atoi(group(2) + group(3)); {
			case err != nil || money || line[m[0]] == '\\':
			case at == 0:
				return nil
			case at == 1 && group(3) != "" && out == nil:
				out = []Problem{{Line: n + first, Text: "$1 is the second argument, and the text never has the first, which is $0", Used: true}}
			}
		}
	}
	return out
}

// unfenced are the lines of a text that are in no block of code, with their numbers from 0.
func unfenced(body string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		fence, n := "", -1
		for line := range strings.Lines(body) {
			n++
			if mark := fenceOf(line); mark != "" {
				if fence == "" {
					fence = mark
				} else if len(mark) >= len(fence) {
					fence = ""
				}
			}
			if fence == "" && !yield(n, line) {
				return
			}
		}
	}
}

// A checker compares front matter with the specification, field by field.
type checker struct {
	h   *head
	out []Problem
}

// say adds a problem; used says that adze uses the field all the same.
func (c *checker) say(line int, used bool, format string, args ...any) {
	c.out = append(c.out, Problem{Line: line, Text: fmt.Sprintf(format, args...), Used: used})
}

// syntax finds lines that are YAML only once their values are quoted.
func (c *checker) syntax() {
	top := strings.Join(c.h.raw, "\n")
	fixed := quoted(top)
	err := yaml.Unmarshal([]byte(top), new(yaml.Node))
	if err == nil {
		return
	}
	if fixed == top || yaml.Unmarshal([]byte(fixed), new(yaml.Node)) != nil {
		bad := yamlProblem(err)
		c.say(bad.Line, false, "%s; other agents may not read it: put the description into quotes", bad.Text)
		return
	}
	was, now := strings.Split(top, "\n"), strings.Split(fixed, "\n")
	for i := range was {
		if was[i] != now[i] {
			c.say(i+1+above, false, "it is YAML only with quotes around the value; other agents may not read it")
		}
	}
}

// text checks a field that is a text of at most max characters, 0 for any
// number.
func (c *checker) text(key string, max int, needed bool) {
	n, line := c.h.nodes[key], c.h.line[key]
	if n == nil {
		if needed {
			c.say(1, false, "%s is missing", key)
		}
		return
	}
	switch s := strings.TrimSpace(n.Value); {
	case n.Kind != yaml.ScalarNode:
		c.say(line, false, "%s is not a text", key)
	case s == "":
		c.say(line, false, "%s is empty", key)
	case max > 0 && utf8.RuneCountInString(s) > max:
		c.say(line, false, "%s has %s characters; at most %s are allowed", key, clip.Thousands(utf8.RuneCountInString(s)), clip.Thousands(max))
	}
}

// name checks the name, which is also that of the skill's folder.
func (c *checker) name(folder string) {
	c.text("name", 0, true)
	name := c.h.text1("name")
	if name == "" {
		return
	}
	if why := validName(name); why != "" {
		c.say(c.h.line["name"], false, "the name %q %s", clip.Line(clip.Visible(name), 80), why)
	} else if name != folder {
		c.say(c.h.line["name"], false, "the name %s is not that of its folder, %s", name, folder)
	}
}

// metadata checks that metadata is a map of texts.
func (c *checker) metadata() {
	n := c.h.nodes["metadata"]
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		c.say(c.h.line["metadata"], false, "metadata is not a map")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if v := n.Content[i+1]; v.Kind != yaml.ScalarNode || v.Tag != "!!str" {
			c.say(v.Line+above, false, "metadata: %s is not a text; put it in quotes", clip.Line(clip.Visible(n.Content[i].Value), 60))
		}
	}
}

// tools finds rules about tools that cannot be read or never match.
func (c *checker) tools(strict bool) {
	if n := c.h.nodes["allowed-tools"]; strict && n != nil && n.Kind != yaml.ScalarNode {
		c.say(c.h.line["allowed-tools"], true, "allowed-tools is a list; the specification has one text with spaces between the tools")
	}
	for _, key := range []string{"allowed-tools", "disallowed-tools"} {
		for _, rule := range c.h.list(key) {
			r, err := policy.ParseRule(rule, policy.Allow, "", "", "")
			why := ""
			if err != nil {
				why = err.Error()
			} else {
				why = policy.Dead(r)
			}
			if why != "" {
				c.say(c.h.line[key], true, "%s: %s: %s", key, clip.Line(clip.Visible(rule), 80), why)
			}
		}
	}
}

// known finds fields that the specification does not have.
func (c *checker) known(strict bool) {
	for _, key := range c.h.keys {
		switch {
		case slices.Contains(specified, key):
		case slices.Contains(further, key) && !strict:
		case slices.Contains(further, key):
			c.say(c.h.line[key], true, "%s is no field of the specification; adze and some other agents understand it", key)
		default:
			c.say(c.h.line[key], false, "there is no field %q%s", clip.Line(clip.Visible(key), 60), near.Hint(key, slices.Concat(specified, further)))
		}
	}
}

var linked = pattern.Lazy(`\]\(([^)#?\s]+)[^)]*\)`)

// missing are files that a text links to beside it and that are not there.
func missing(f found, body string, first int) (out []Problem) {
	for n, line := range unfenced(body) {
		for _, m := range linked().FindAllStringSubmatch(line, 20) {
			name := filepath.FromSlash(m[1])
			if strings.Contains(m[1], ":") || !filepath.IsLocal(name) || len(out) >= 20 {
				continue
			}
			if _, err := os.Stat(filepath.Join(f.dir, name)); err != nil {
				out = append(out, Problem{Line: n + first, Text: "it links to " + clip.Line(clip.Visible(m[1]), 100) + ", which is not there"})
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
