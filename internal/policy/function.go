package policy

import (
	"strings"
	"unicode"
)

// A function is a definition in a rule that forbids or asks, as `:(){ :|:& };:`.
type function struct {
	name string // "" is none
	body string // without blanks, with its braces
}

// functionOf is the function that a text begins to define, `NAME () {`. A name is what
// bash takes for one: any word (bash manual, "Shell Functions"), such as ":".
func functionOf(text string) (f function) {
	name, rest, ok := strings.Cut(text, "(")
	name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "function "))
	rest, closed := strings.CutPrefix(strings.TrimSpace(rest), ")")
	rest = strings.TrimSpace(rest)
	if !ok || !closed || name == "" || strings.ContainsAny(name, " \t\n){};|&<>$\"'`") || !strings.HasPrefix(rest, "{") {
		return f
	}
	depth := 0
	for i := range len(rest) {
		switch rest[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return function{name, dense(rest[:i+1])}
		}
	}
	return f
}

// dense is a text without its blanks, and without the separator that the shell may have
// before a closing brace.
func dense(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	return strings.ReplaceAll(s, ";}", "}")
}

// matches reports whether what could not be read exactly is this function: its
// definition, under whatever name, or a call of one of its name that calls itself.
func (f function) matches(a Opaque) bool {
	if f.name == "" {
		return false
	}
	if g := functionOf(a.Source); g.name != "" {
		return strings.ReplaceAll(g.body, g.name, "\x00") == strings.ReplaceAll(f.body, f.name, "\x00")
	}
	return strings.TrimSpace(a.Source) == f.name && strings.Contains(f.body, f.name)
}
