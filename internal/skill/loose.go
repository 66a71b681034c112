package skill

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// prose are the fields that are words for people and models. Only they may be text
// that is no YAML: what a field allows, forbids or runs is never guessed.
var prose = []string{"description", "when_to_use"}

// spare are fields without which a definition may do no more, and is for nobody else.
var spare = []string{"arguments", "argument-hint", "license", "compatibility", "metadata", "allowed-tools", "model", "effort"}

// fieldNames are the fields that something is read of.
func fieldNames() []string {
	return slices.Concat(specified, further, agentFields, []string{"keep-coding-instructions"})
}

// loose reads front matter in which words for people are no YAML, as agents that write
// definitions leave it: a description without quotes that has colons in it, and goes on
// over lines with examples and tags. Such a field is all the text up to the next field
// that is known. Every other field must be YAML by itself and stand there once; ok is
// false otherwise, and when a line of such a text could be meant as a field. left names
// the spare fields that are no YAML: they do not count.
func loose(top string) (root *yaml.Node, left []yaml.Node, ok bool) {
	root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1}
	known, lines, once := fieldNames(), strings.Split(top, "\n"), map[string]bool{}
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && !begins(lines[to], known) {
			to++
		}
		part := lines[from:to]
		if pairs, ok := strict(part, from); ok && !talk(pairs) {
			for i := 0; i < len(pairs); i += 2 {
				key := pairs[i].Value
				if once[key] {
					return nil, nil, false
				}
				once[key] = true
			}
			root.Content = append(root.Content, pairs...)
		} else {
			key, text, _ := strings.Cut(strings.Join(part, "\n"), ":")
			drop := slices.Contains(spare, key)
			if !drop && !slices.Contains(prose, key) || once[key] || doubtful(part[1:], known, drop) {
				return nil, nil, false
			}
			once[key] = true
			if from = to; drop {
				left = append(left, yaml.Node{Value: key, Line: to - len(part) + 1})
				continue
			}
			root.Content = append(root.Content,
				&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: to - len(part) + 1},
				&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSpace(text), Line: to - len(part) + 1})
		}
		from = to
	}
	return root, left, len(root.Content) > 0
}

// talk reports whether a name that is no field stands there more than once: an example of
// who says what, which is part of the text above it.
func talk(pairs []*yaml.Node) bool {
	seen := map[string]bool{}
	for i := 0; i+1 < len(pairs); i += 2 {
		key := pairs[i].Value
		if seen[key] && !slices.Contains(fieldNames(), key) {
			return true
		}
		seen[key] = true
	}
	return false
}

// begins reports whether a known field begins in a line.
func begins(line string, known []string) bool {
	key, _, ok := strings.Cut(line, ":")
	return ok && slices.Contains(known, key)
}

// doubtful reports whether a line could be meant as a known field, although it is not
// written as one: indented, or in quotes. A tab at its start is a mistake of its own. In a
// field that is dropped, fields of its own may have the names of those that limit nothing.
func doubtful(lines, known []string, dropped bool) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		key, _, ok := strings.Cut(line, ":")
		key = strings.Trim(key, " \t\"'?-")
		if dropped && (key == "name" || slices.Contains(prose, key) || slices.Contains(spare, key)) {
			return false
		}
		return ok && slices.Contains(known, key) || strings.HasPrefix(line, "\t")
	})
}

// strict reads lines as fields in YAML, with quotes where people leave them out. None
// is fine, too.
func strict(lines []string, from int) (pairs []*yaml.Node, ok bool) {
	text := strings.Join(lines, "\n")
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil {
		doc = yaml.Node{}
		if yaml.Unmarshal([]byte(quoted(text)), &doc) != nil {
			return nil, false
		}
	}
	if len(doc.Content) == 0 {
		return nil, true
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, false
	}
	shift(doc.Content[0], from)
	return doc.Content[0].Content, true
}

// shift moves a node and all in it down by lines.
func shift(n *yaml.Node, lines int) {
	n.Line += lines
	for _, c := range n.Content {
		shift(c, lines)
	}
}
