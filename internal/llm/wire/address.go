package wire

import (
	"net/url"
	"strings"
)

// Base is the base URL of a provider as Join takes it. People also write the whole
// address of an API, which ends with one of these paths.
func Base(base string, whole ...string) string {
	base, query, _ := strings.Cut(strings.TrimSpace(base), "?")
	base = strings.TrimRight(base, "/")
	for _, path := range whole {
		base = strings.TrimRight(strings.TrimSuffix(base, path), "/")
	}
	if query != "" {
		base += "?" + query
	}
	return base
}

// Join is the address of a path below a base URL. A query of the base URL stays behind
// the path: clouds want the version of their API there.
func Join(base, path string) string {
	base, query, has := strings.Cut(base, "?")
	base = strings.TrimRight(base, "/")
	path, more, also := strings.Cut(path, "?")
	switch {
	case has && also:
		return base + path + "?" + query + "&" + more
	case has:
		return base + path + "?" + query
	case also:
		return base + path + "?" + more
	}
	return base + path
}

// Bare reports whether a base URL names a server and nothing on it.
func Bare(base string) bool {
	u, err := url.Parse(base)
	return err == nil && strings.Trim(u.Path, "/") == ""
}
