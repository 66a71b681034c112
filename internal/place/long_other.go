//go:build !windows

package place

// long is the path itself: only Windows has two names for one file.
func long(path string) (full string, rest []string) { return path, nil }
