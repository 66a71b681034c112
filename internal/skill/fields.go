package skill

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/matter"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A head is the fields of front matter, leniently: a value of another kind than
// was meant is a note, and the others count.
type head struct {
	nodes map[string]*yaml.Node
	keys  []string // in the order they stand in
	line  map[string]int
	raw   []string // the lines of the front matter
	notes []Problem
}

// above is how many lines stand before the first field of front matter.
const above = 1

// readHead splits a file. err says, in a line, why the front matter cannot be used.
func readHead(text string) (h head, body string, first int, err *Problem) {
	top, body, lines, ok := matter.Split(text)
	h = head{nodes: map[string]*yaml.Node{}, line: map[string]int{}}
	if !ok {
		// A rule drawn at the top has an empty line below it.
		if rest, ok := strings.CutPrefix(body, "---\n"); ok && strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]) != "" {
			return h, body, 1, &Problem{Line: 1, Text: "the front matter has no end: a line of three dashes is missing"}
		}
		return h, body, 1, nil
	}
	if len(top) > maxHead {
		return h, body, lines + 1, &Problem{Line: 1, Text: "the front matter is over " + clip.Size(maxHead)}
	}
	return h, body, lines + 1, h.read(top)
}

func (h *head) read(top string) *Problem {
	h.raw = strings.Split(top, "\n")
	if root, ok := plain(top); ok {
		h.fields(root)
		return nil
	}
	var doc yaml.Node
	err := yaml.Unmarshal([]byte(top), &doc)
	var again yaml.Node
	if err != nil { // people write values that YAML wants in quotes
		if fixed := quoted(top); fixed != top && yaml.Unmarshal([]byte(fixed), &again) == nil && len(again.Content) == 1 && again.Content[0].Kind == yaml.MappingNode && !talk(again.Content[0].Content) {
			doc, err = again, nil
		}
	}
	if err != nil {
		if root, left, ok := loose(top); ok {
			h.fields(root)
			for _, f := range left {
				h.note(f.Line+above, "%s is no YAML, and is not used", f.Value)
			}
			return nil
		}
		if len(again.Content) != 1 || again.Content[0].Kind != yaml.MappingNode {
			return yamlProblem(err)
		}
		doc = again
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return &Problem{Line: root.Line + above, Text: "the front matter is no list of fields (name: value)"}
	}
	h.fields(root)
	return nil
}

// fields takes over those of a mapping.
func (h *head) fields(root *yaml.Node) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := root.Content[i].Value
		if _, twice := h.nodes[key]; twice { // the parser of YAML says so only when it decodes
			if slices.Contains(fieldNames(), key) { // of others nothing is read
				h.note(root.Content[i].Line+above, "%s stands here twice; the first one counts", clip.Line(clip.Visible(key), 60))
			}
			continue
		}
		h.nodes[key], h.line[key] = root.Content[i+1], root.Content[i].Line+above
		h.keys = append(h.keys, key)
	}
}

var yamlLine = pattern.Lazy(`^(?:yaml: )?(?:line ([0-9]+): )?(.*)$`)

// yamlProblem is an error of the parser with the line of the file.
func yamlProblem(err error) *Problem {
	m := yamlLine().FindStringSubmatch(strings.SplitN(err.Error(), "\n", 2)[0])
	n, _ := strconv.Atoi(m[1])
	if n > 0 {
		n += above
	}
	return &Problem{Line: n, Text: "the front matter is no YAML: " + clip.Line(clip.Visible(m[2]), 200)}
}

// simpleField is a line with a field and its value: its place, which may be that of an item
// of a list, its name, its value.
var simpleField = pattern.Lazy(`^( *(?:- +)?)([A-Za-z][A-Za-z0-9_-]*):[ \t]+(\S.*?)[ \t]*$`)

// quoted puts values that stand on one line with their field into quotes, where
// YAML would take them for something else: "description: Use when: …",
// "argument-hint: [file] [mode]", "tools: *". The lines of a text in a block stay.
func quoted(top string) string {
	lines := strings.Split(top, "\n")
	block := -1 // the place of the field whose block this is
	for i, line := range lines {
		in := len(line) - len(strings.TrimLeft(line, " "))
		if block >= 0 && (in > block || in == len(line)) {
			continue
		}
		block = -1
		m := simpleField().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if strings.HasPrefix(m[3], "|") || strings.HasPrefix(m[3], ">") {
			block = len(m[1])
			continue
		}
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], strings.Repeat(" ", len(m[1])+1)) && strings.TrimSpace(lines[i+1]) != "" {
			continue // it goes on in the next line
		}
		var v struct {
			X yaml.Node `yaml:"x"`
		}
		if yaml.Unmarshal([]byte("x: "+m[3]), &v) == nil && v.X.Kind != yaml.AliasNode {
			continue
		}
		lines[i] = m[1] + m[2] + ": '" + strings.ReplaceAll(m[3], "'", "''") + "'"
	}
	return strings.Join(lines, "\n")
}

func (h *head) note(line int, format string, args ...any) {
	if len(h.notes) < 20 {
		h.notes = append(h.notes, Problem{Line: line, Text: fmt.Sprintf(format, args...), Used: true})
	}
}

func (h *head) has(key string) bool { return h.nodes[key] != nil }

// text is a field of one line or more, cleaned. A list or a map is a note.
func (h *head) text(key string) string {
	n := h.nodes[key]
	if n == nil || n.Tag == "!!null" {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		h.note(h.line[key], "%s is not a text", key)
		return ""
	}
	return clip.Clean(strings.TrimSpace(n.Value))
}

// oneLine is a text on one line of at most max characters.
func (h *head) oneLine(key string, max int) string {
	s := strings.Join(strings.Fields(clip.Visible(strings.Join(strings.Fields(h.text(key)), " "))), " ")
	if cut := clip.Line(s, max); cut != s {
		h.note(h.line[key], "%s has more than %d characters; the rest is not used", key, max)
		return cut
	}
	return s
}

// written is a field as it stands in its line: people write hints for arguments
// in brackets, which YAML takes for a list.
func (h *head) written(key string, max int) string {
	n := h.nodes[key]
	if n == nil || n.Kind == yaml.ScalarNode {
		return h.oneLine(key, max)
	}
	if i := h.line[key] - above - 1; i >= 0 && i < len(h.raw) {
		_, rest, _ := strings.Cut(h.raw[i], ":")
		if rest = strings.TrimSpace(rest); rest != "" {
			return clip.Line(clip.Visible(rest), max)
		}
	}
	return clip.Line(clip.Visible(strings.Join(h.list(key), " ")), max)
}

// flag is yes or no; anything else is a note, and def.
func (h *head) flag(key string, def bool) bool {
	n := h.nodes[key]
	if n == nil || n.Tag == "!!null" {
		return def
	}
	switch strings.ToLower(n.Value) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0":
		return false
	}
	h.note(h.line[key], "%s is neither true nor false", key)
	return def
}

// list is a list, or a text with its words or entries with commas between them.
func (h *head) list(key string) (out []string) {
	n := h.nodes[key]
	switch {
	case n == nil || n.Tag == "!!null":
		return nil
	case n.Kind == yaml.ScalarNode:
		return words(n.Value)
	case n.Kind == yaml.SequenceNode:
		for _, e := range n.Content {
			if e.Kind != yaml.ScalarNode {
				h.note(e.Line+above, "%s holds something that is not a text", key)
				continue
			}
			if s := strings.TrimSpace(clip.Clean(e.Value)); s != "" {
				out = append(out, s)
			}
		}
		return bounded(h, key, out)
	}
	h.note(h.line[key], "%s is not a list", key)
	return nil
}

// arguments are the names in "arguments": texts, or objects that have a name. hint is how
// they are shown that objects name: <needed> [other].
func (h *head) arguments() (names []string, hint string) {
	n := h.nodes["arguments"]
	if n == nil || n.Kind != yaml.SequenceNode || !slices.ContainsFunc(n.Content, func(e *yaml.Node) bool { return e.Kind == yaml.MappingNode }) {
		return h.list("arguments"), ""
	}
	var shown []string
	for _, e := range n.Content {
		var arg struct {
			Name     string
			Required bool
		}
		if e.Kind == yaml.ScalarNode {
			arg.Name = e.Value
		} else if e.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(e.Content); i += 2 {
				switch v := e.Content[i+1].Value; e.Content[i].Value {
				case "name":
					arg.Name = v
				case "required":
					arg.Required = v == "true"
				}
			}
		}
		name := strings.Join(strings.Fields(clip.Visible(arg.Name)), "_")
		if name == "" {
			h.note(e.Line+above, "arguments holds something that has no name")
			name = "?" // the others keep their numbers
		}
		names = append(names, name)
		if arg.Required {
			shown = append(shown, "<"+name+">")
		} else {
			shown = append(shown, "["+name+"]")
		}
	}
	return bounded(h, "arguments", names), clip.Line(strings.Join(shown, " "), 200)
}

// maxList bounds a list of front matter.
const maxList = 200

func bounded(h *head, key string, list []string) []string {
	if len(list) > maxList {
		h.note(h.line[key], "%s has more than %d entries; the rest is not used", key, maxList)
		list = list[:maxList]
	}
	return list
}

// globs is a list of patterns, in which a brace holds its commas.
func (h *head) globs(key string) (out []string) {
	n := h.nodes[key]
	list := []string(nil)
	if n != nil && n.Kind == yaml.ScalarNode {
		list = split(n.Value, "{", "}", ",")
	} else {
		list = h.list(key)
	}
	for _, g := range list {
		if g = strings.TrimPrefix(g, "./"); g != "" {
			out = append(out, g)
		}
	}
	return bounded(h, key, out)
}

// words splits rules and names at commas and spaces that stand outside of
// parentheses: "Bash(git add:*), Read Grep".
func words(s string) []string {
	out := split(clip.Clean(s), "(", ")", ", \t\n")
	return out[:min(len(out), maxList)]
}

// split splits at any of seps outside of brackets.
func split(s, open, shut, seps string) (out []string) {
	depth, from := 0, 0
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i : i+1]; {
		case c == open:
			depth++
		case c == shut && depth > 0:
			depth--
		case depth == 0 && strings.Contains(seps, c):
			add(s[from:i])
			from = i + 1
		}
	}
	add(s[from:])
	return out
}

// number is a whole number from 1.
func (h *head) number(key string) (int, bool) {
	n := h.nodes[key]
	if n == nil || n.Tag == "!!null" {
		return 0, true
	}
	i, err := strconv.Atoi(n.Value)
	return i, err == nil && i > 0 && i < math.MaxInt32
}

// dict is a map of texts.
func (h *head) dict(key string) map[string]string {
	n := h.nodes[key]
	if n == nil || n.Kind != yaml.MappingNode {
		if n != nil && n.Tag != "!!null" {
			h.note(h.line[key], "%s is not a map", key)
		}
		return nil
	}
	out := map[string]string{}
	for i := 0; i+1 < len(n.Content) && len(out) < maxList; i += 2 {
		if v := n.Content[i+1]; v.Kind == yaml.ScalarNode {
			out[clip.Clean(n.Content[i].Value)] = clip.Clean(v.Value)
		}
	}
	return out
}

// json is a field as JSON, nil when it is not there.
func (h *head) json(key string) json.RawMessage {
	n := h.nodes[key]
	if n == nil || n.Tag == "!!null" {
		return nil
	}
	v, err := jsonValue(n, 0)
	if err == nil {
		if b, err := json.Marshal(v); err == nil {
			return b
		}
	}
	h.note(h.line[key], "%s is not used: it cannot be written as JSON", key)
	return nil
}

// jsonValue is a node as values of JSON. Aliases are refused, which keeps a small file
// from becoming a large value.
func jsonValue(n *yaml.Node, depth int) (any, error) {
	if depth > 20 {
		return nil, fmt.Errorf("line %d: too deep", n.Line)
	}
	switch n.Kind {
	case yaml.ScalarNode:
		var v any
		err := n.Decode(&v)
		switch v.(type) {
		case string, bool, int, int64, uint64, float64, nil:
			return v, err
		}
		return n.Value, err // a date
	case yaml.SequenceNode:
		out := []any{}
		for _, c := range n.Content {
			v, err := jsonValue(c, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := jsonValue(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			out[n.Content[i].Value] = v
		}
		return out, nil
	}
	return nil, fmt.Errorf("line %d: an alias", n.Line)
}

// choice is one of several words, "" otherwise, with a note.
func (h *head) choice(key string, of ...string) string {
	s := h.oneLine(key, 60)
	if s == "" || slices.Contains(of, s) {
		return s
	}
	h.note(h.line[key], "%s is %q, which does nothing; it can be %s", key, s, strings.Join(of, ", "))
	return ""
}

// Matter reads a skill, a command, an agent or an output style as it is read when
// it is used, for those who show what it would do: its fields as JSON, and the
// commands that it runs. path tells TOML from Markdown. bad says why it is not used
// at all.
func Matter(path string, text []byte) (fields map[string]json.RawMessage, runs []string, bad *Problem) {
	fields = map[string]json.RawMessage{}
	if of := agentDialect(path); of != "" {
		h, _, _, bad := agentHead(of, named(path), text)
		for k := range h.nodes {
			if v := h.json(k); v != nil {
				fields[k] = v
			}
		}
		return fields, nil, bad
	}
	if strings.HasSuffix(strings.ToLower(path), ".toml") {
		s, _, bad := parseTOML(Place{Text: map[string]string{path: string(text)}}, found{path: path}, text)
		if bad != nil {
			return fields, nil, bad
		}
		c := s.(Skill)
		if b, err := json.Marshal(c.Description); err == nil {
			fields["description"] = b
		}
		body, err := c.Body()
		if err != nil {
			return fields, nil, &Problem{Text: err.Error()}
		}
		return fields, Runs(c.Expand(body, Use{})), nil
	}
	h, body, _, bad := readHead(string(text))
	for _, k := range h.keys {
		if v := h.json(k); v != nil {
			fields[k] = v
		} else if b, err := json.Marshal(h.nodes[k].Value); err == nil {
			fields[k] = b
		}
	}
	return fields, Runs(commandsIn(body)), bad
}
