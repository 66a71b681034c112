package memory

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/adze-agent/adze/internal/text/matter"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// frontMatter splits a text into the globs of its front matter and its body.
// bad says what is wrong with front matter that cannot be read; the body is
// then everything after it.
func frontMatter(text string) (globs []string, body, bad string) {
	head, body, _, ok := matter.Split(text)
	if !ok {
		return nil, text, "" // perhaps a rule drawn at the top
	}
	var meta struct {
		Paths yaml.Node `yaml:"paths"`
	}
	if len(head) > 16<<10 {
		return nil, body, "front matter not used: over 16 KB"
	}
	if err := yaml.Unmarshal([]byte(head), &meta); err != nil {
		// Another field may be words that are no YAML.
		if part := pathsField(head); part == head || yaml.Unmarshal([]byte(part), &meta) != nil || meta.Paths.Kind == 0 {
			globs = starred(head)
		}
		if len(globs) == 0 && meta.Paths.Kind == 0 {
			return nil, body, fmt.Sprintf("front matter not used: %v", err)
		}
	}
	switch meta.Paths.Kind {
	case yaml.ScalarNode:
		globs = list(meta.Paths.Value)
	case yaml.SequenceNode:
		for _, n := range meta.Paths.Content {
			globs = append(globs, strings.TrimSpace(n.Value))
		}
	}
	kept := globs[:0]
	for _, g := range globs {
		if g = strings.TrimPrefix(g, "./"); g != "" {
			kept = append(kept, g)
		}
	}
	return kept, body, ""
}

// pathsField are the lines of the field paths alone.
func pathsField(head string) string {
	var out strings.Builder
	in := false
	for line := range strings.Lines(head) {
		if strings.HasPrefix(line, "paths:") {
			in = true
		} else if in && line != "\n" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "-") {
			break
		}
		if in {
			out.WriteString(line)
		}
	}
	return out.String()
}

// list splits patterns at commas, but not at those in braces.
func list(s string) (out []string) {
	depth, from := 0, 0
	for i, c := range s + "," {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && (depth <= 0 || i == len(s)):
			out = append(out, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
	}
	return out
}

// starred reads patterns that begin with a star or a brace without quotes, as
// people write them although YAML knows no such thing: all on the line of
// "paths:", or each in a line of its own below it.
func starred(head string) (globs []string) {
	in := false
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, " \t\n")
		rest, key := strings.CutPrefix(line, "paths:")
		item, below := strings.CutPrefix(strings.TrimSpace(line), "- ")
		switch {
		case key:
			in = true
			if rest = strings.TrimSpace(rest); rest != "" {
				globs = append(globs, list(rest)...)
			}
		case in && below:
			globs = append(globs, strings.Trim(strings.TrimSpace(item), `"'`))
		default:
			in = in && line == ""
		}
	}
	if !slices.ContainsFunc(globs, func(g string) bool { return strings.HasPrefix(g, "*") || strings.HasPrefix(g, "{") }) {
		return nil
	}
	return globs
}

// importName finds "@path" where a word begins.
var importName = pattern.Lazy("(?:^|[\\s(\\[*_>\"'])@((?:\\\\ |[^\\s`])+)")

// parse drops HTML comments and finds imports, both outside code.
func parse(text string) (body string, imports []string) {
	var out, prose strings.Builder
	flush := func() {
		t := uncomment(prose.String())
		out.WriteString(t)
		imports = append(imports, importsIn(t)...)
		prose.Reset()
	}
	fence := ""
	for line := range strings.Lines(text) {
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "" && !openComment(prose.String()):
			flush()
			fence = mark
			out.WriteString(line)
		case fence != "":
			out.WriteString(line)
			if len(mark) >= len(fence) && mark[0] == fence[0] && strings.TrimSpace(line) == mark {
				fence = ""
			}
		default:
			prose.WriteString(line)
		}
	}
	flush()
	return out.String(), imports
}

// fenceOf returns the run of ` or ~ that opens or ends a code block on this
// line, "" when there is none.
func fenceOf(line string) string {
	t := strings.TrimLeft(line, " ")
	t = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(t, "- "), "> "), " \t")
	for _, c := range []string{"`", "~"} {
		n := len(t) - len(strings.TrimLeft(t, c))
		if n >= 3 && !(c == "`" && strings.Contains(t[n:], "`")) {
			return t[:n]
		}
	}
	return ""
}

// openComment reports whether a comment has begun and not ended.
func openComment(prose string) bool {
	return strings.LastIndex(prose, "<!--") > strings.LastIndex(prose, "-->")
}

// spans calls f with the parts of prose, in order; code says which are code
// spans. A run of backticks ends at the next run of the same length.
func spans(text string, f func(part string, code bool)) {
	plain := 0
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		n := 1
		for i+n < len(text) && text[i+n] == '`' {
			n++
		}
		end := closingRun(text, i+n, n)
		if end < 0 {
			i += n
			continue
		}
		f(text[plain:i], false)
		f(text[i:end], true)
		plain, i = end, end
	}
	f(text[plain:], false)
}

// closingRun returns the index after the next run of exactly n backticks in
// the same paragraph, or -1.
func closingRun(text string, from, n int) int {
	for i := from; i < len(text); {
		switch {
		case text[i] == '`':
			m := 1
			for i+m < len(text) && text[i+m] == '`' {
				m++
			}
			if m == n {
				return i + m
			}
			i += m
		case text[i] == '\n' && i+1 < len(text) && text[i+1] == '\n':
			return -1
		default:
			i++
		}
	}
	return -1
}

// uncomment drops HTML comments that stand outside code spans. One without an
// end is kept: dropping the rest of a file would hide rules.
func uncomment(text string) string {
	if !strings.Contains(text, "<!--") {
		return text
	}
	var marks []bool // per byte: inside a code span
	spans(text, func(p string, code bool) {
		for range len(p) {
			marks = append(marks, code)
		}
	})
	var b strings.Builder
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], "<!--") && !marks[i] {
			if end := strings.Index(text[i+4:], "-->"); end >= 0 {
				i += 4 + end + 3
				continue
			}
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

// importsIn lists the paths imported by prose. What does not look like a
// file's name, such as a person's handle, is none.
func importsIn(text string) []string {
	var out []string
	var plain strings.Builder
	spans(text, func(p string, code bool) {
		if code {
			p = " "
		}
		plain.WriteString(p)
	})
	for _, m := range importName().FindAllStringSubmatch(plain.String(), -1) {
		name := strings.TrimRight(strings.ReplaceAll(m[1], `\ `, " "), ".,;:!?)]}*_\"'")
		base := name[strings.LastIndexByte(name, '/')+1:]
		file := strings.LastIndexByte(base, '.') > 0 || strings.HasPrefix(base, ".") && len(base) > 1 || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") ||
			strings.HasPrefix(name, "~/") || strings.HasPrefix(name, "/")
		if file && base != "" && !strings.Contains(name, "@") {
			out = append(out, name)
		}
	}
	return out
}
