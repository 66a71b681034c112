package skill

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// plain reads front matter as most people write it: a field on each line, whose value
// is words, or words in double quotes. ok is false for everything else, which is YAML's
// own parser's. What plain reads, that parser reads in the same way, at twenty
// times the cost, and a start waits for as many of them as there are skills.
func plain(top string) (root *yaml.Node, ok bool) {
	root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1}
	n := 0
	for line := range strings.Lines(top) {
		n++
		line = strings.TrimRight(strings.TrimSuffix(line, "\n"), " ")
		if line == "" {
			continue
		}
		key, value, ok := plainField(line)
		if !ok {
			return nil, false
		}
		value.Line = n
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: n}, value)
	}
	return root, n > 0 && len(root.Content) > 0
}

// maxKey bounds the name of a field that plain reads: YAML has a bound of its own.
const maxKey = 100

// plainField reads a line without a space at its end.
func plainField(line string) (key string, value *yaml.Node, ok bool) {
	key, text, ok := strings.Cut(line, ": ")
	if !ok || len(key) > maxKey || !plainKey(key) {
		return "", nil, false
	}
	text = strings.TrimLeft(text, " ")
	value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	switch {
	case text == "" || !printable(text):
		return "", nil, false
	case text[0] == '"':
		inner, ends := strings.CutSuffix(text[1:], `"`)
		value.Value, value.Style = inner, yaml.DoubleQuotedStyle
		return key, value, ends && !strings.ContainsAny(inner, `"\`)
	case !letter(text[0]) || strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.HasSuffix(text, ":"):
		return "", nil, false
	}
	switch text {
	case "true", "True", "TRUE", "false", "False", "FALSE":
		value.Tag = "!!bool"
	case "null", "Null", "NULL":
		value.Tag = "!!null"
	}
	return key, value, true
}

func plainKey(s string) bool {
	for i := range len(s) {
		if c := s[i]; !letter(c) && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '_') {
			return false
		}
	}
	switch s {
	case "", "true", "True", "TRUE", "false", "False", "FALSE", "null", "Null", "NULL":
		return false
	}
	return true
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// printable reports whether YAML takes s as it is, on one line.
func printable(s string) bool {
	for i, r := range s {
		switch {
		case ' ' <= r && r <= '~':
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			return false
		case r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff:
			return false
		}
	}
	return true
}
