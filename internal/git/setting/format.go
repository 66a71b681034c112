package setting

import "strings"

// Verifies reports whether git checks signatures to show a format, by the program that
// settings name for it.
func Verifies(format string) bool {
	for rest := format; ; {
		_, after, found := strings.Cut(rest, "%")
		if !found {
			return strings.Contains(format, "(signature") // of refs
		}
		rest = after
		if after != "" && strings.IndexByte("-+ ", after[0]) >= 0 { // how lines break
			after = after[1:]
		}
		if strings.HasPrefix(after, "G") {
			return true
		}
	}
}
