package hook

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
)

// possible says why a pattern can match no name of a tool, nil when it may: whatever it
// matches has a character that stands in none. Names of tools have letters, digits and
// "_", "-"; those of MCP servers may have more, but no signs such as quotes, "=" and "&".
func possible(pattern string) error {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err == nil && foreign(re) {
		return fmt.Errorf("it can match no tool: a matcher is a tool's name or a pattern for names (%q), and no condition; \"if\" takes a permission rule, such as \"Bash(git push:*)\"", "Edit|Write")
	}
	return nil // what cannot be parsed is told of elsewhere
}

// foreign reports whether all that an expression matches has a character of no name.
func foreign(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.ContainsFunc(re.Rune, func(c rune) bool { return strings.ContainsRune("\"'`=&|<>(){}[]!?,;#$^~+\\%\n\t", c) })
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		return slices.ContainsFunc(re.Sub, foreign)
	case syntax.OpRepeat:
		return re.Min > 0 && slices.ContainsFunc(re.Sub, foreign)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !foreign(s) })
	default:
		return re.Op == syntax.OpNoMatch
	}
}
