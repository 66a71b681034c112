package policy

import "strings"

// SplitList splits a flag's list at commas and, where a word would begin, at
// spaces; never inside parentheses: `Bash(git log *), Edit`.
func SplitList(s string) []string {
	out := []string{}
	depth, start := 0, 0
	cut := func(end int) {
		if t := strings.TrimSpace(s[start:end]); t != "" {
			out = append(out, t)
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case (c == ',' || c == ' ' || c == '\n') && depth == 0:
			cut(i)
			start = i + 1
		}
	}
	cut(len(s))
	return out
}
