package place

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxMatches bounds one expansion; beyond it the answer is "unknown".
const maxMatches = 2000

// Glob lists what an absolute pattern matches now, as bash does by default:
// a wildcard never matches a leading dot. It returns nil when it cannot tell,
// and an empty list when nothing matches.
func Glob(pattern string) []string {
	if !filepath.IsAbs(pattern) || strings.Contains(pattern, "[[:") || strings.Contains(pattern, "[.") || strings.Contains(pattern, "[=") {
		return nil
	}
	at := []string{"/"}
	for _, seg := range splitPattern(pattern) {
		var next []string
		for _, dir := range at {
			more, ok := step(dir, seg)
			if !ok {
				return nil
			}
			next = append(next, more...)
			if len(next) > maxMatches {
				return nil
			}
		}
		at = next
	}
	slices.Sort(at)
	return append([]string{}, slices.Compact(at)...)
}

func splitPattern(p string) []string {
	var out []string
	for _, s := range strings.Split(strings.TrimLeft(p, "/"), "/") {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// step expands one component below dir.
func step(dir, seg string) ([]string, bool) {
	if seg == "." || seg == ".." {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, true
		}
		if seg == "." {
			return []string{dir}, true
		}
		return []string{strings.TrimSuffix(dir, "/") + "/.."}, true
	}
	if name, literal := unescape(seg); literal {
		p := join(dir, name)
		if _, err := os.Lstat(p); err != nil {
			return nil, true
		}
		return []string{p}, true
	}
	seg = strings.ReplaceAll(seg, "[!", "[^")
	if _, err := path.Match(seg, "x"); err != nil {
		return nil, false
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, true
	}
	var out []string
	for _, e := range list {
		name := e.Name()
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(seg, ".") {
			continue
		}
		if ok, _ := path.Match(seg, name); ok {
			out = append(out, join(dir, name))
		}
	}
	return out, true
}

func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// unescape removes backslashes; literal is false when a wildcard is left.
func unescape(seg string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(seg); i++ {
		switch seg[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			if i++; i == len(seg) {
				return "", false
			}
		}
		b.WriteByte(seg[i])
	}
	return b.String(), true
}
