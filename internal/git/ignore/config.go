package ignore

import "strings"

// ExcludesFile finds core.excludesFile in the text of a git config file; ok is
// false when it is not set there. The value is as written: a leading "~/" is
// the caller's to expand. Includes are not followed.
func ExcludesFile(config string) (path string, ok bool) {
	core := false
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, rest, _ := strings.Cut(line[1:], "]")
			core = strings.EqualFold(strings.TrimSpace(name), "core")
			line = strings.TrimSpace(rest)
		}
		key, val, has := strings.Cut(line, "=")
		if core && has && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			path, ok = unquote(strings.TrimSpace(val)), true
		}
	}
	return path, ok
}

// unquote reads a git config value: quotes, backslashes, comments.
func unquote(s string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case !quoted && (c == '#' || c == ';'):
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
