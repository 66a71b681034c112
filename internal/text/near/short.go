package near

import "strings"

// Named is the place of the thing with a name among things that have the names n(0) … n(count-1):
// the one that has exactly it, or else the only one that has it behind a plugin's name and
// a colon (review for code:review). -1: there is none, or more than one.
func Named(name string, count int, n func(int) string) int {
	short, many := -1, false
	for i := range count {
		full := n(i)
		if full == name {
			return i
		}
		if _, own, ok := strings.Cut(full, ":"); ok && own == name {
			short, many = i, many || short >= 0
		}
	}
	if many {
		return -1
	}
	return short
}
