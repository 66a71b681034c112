package scan

import (
	"slices"
	"strings"
)

// jqTraps are what a program of jq sees the environment or other files with.
var jqTraps = []string{"env", "ENV", "input_filename", "import", "include", "modulemeta", "get_search_list", "__prog_args"}

// JQ returns what a program of jq does beyond filtering its input.
func JQ(s string) string {
	if i := wordIn(s, jqTraps); i != "" {
		return "the jq program uses " + i
	}
	return ""
}

// YQ returns what an expression of yq does beyond filtering its input.
func YQ(s string) string {
	low := strings.ToLower(s)
	for _, bad := range append([]string{"load", "system", "eval"}, jqTraps...) {
		if strings.Contains(low, strings.ToLower(bad)) {
			return "the yq expression uses " + bad
		}
	}
	return ""
}

// wordIn finds one of the names as a word of its own that is not a field.
func wordIn(s string, names []string) string {
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && (s[j] == '_' || s[j] >= '0' && s[j] <= '9' || s[j] >= 'a' && s[j] <= 'z' || s[j] >= 'A' && s[j] <= 'Z') {
			j++
		}
		if j == i {
			i++
			continue
		}
		if id := s[i:j]; slices.Contains(names, id) && !(i > 0 && s[i-1] == '.') {
			return id
		}
		i = j
	}
	return ""
}

// Number reports decimal digits, with a minus sign before them or not.
func Number(s string) bool {
	s = strings.TrimPrefix(s, "-")
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
