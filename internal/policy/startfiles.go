package policy

import (
	"path/filepath"
	"slices"
	"strings"
)

// StartsAtHome reports whether a path below a home folder has a name as programs give
// what they run, or take settings from, when they start: ~/.namerc, ~/.name_profile,
// ~/.name.d, init files and folders in ~/.name and ~/.config/name. It knows no program;
// what has another name is in the lists.
func StartsAtHome(home, path string) bool {
	rel, ok := below(filepath.ToSlash(home), filepath.ToSlash(path))
	return home != "" && ok && startsAtHome(rel)
}

func startsAtHome(rel string) bool {
	segs := strings.Split(strings.ToLower(strings.Trim(rel, "/")), "/")
	first, hidden := strings.CutPrefix(segs[0], ".")
	switch {
	case !hidden || slices.Contains(noStarts, first):
		return false
	case startName(first) || strings.HasSuffix(first, "env") && first != "env":
		return true
	case len(segs) < 2:
		return false
	case first == "config":
		return strings.HasSuffix(segs[1], "rc") || len(segs) > 2 && startName(strings.TrimPrefix(segs[2], "."))
	}
	return startName(strings.TrimPrefix(segs[1], "."))
}

// noStarts are hidden folders and files, without their dot, that only look as if.
var noStarts = []string{"cache", "src", "local"}

// startEnds are ends of names of what runs at a start, startNames whole ones before a
// dot.
var (
	startEnds  = []string{"rc", "init", "profile", "_login", "_logout", "aliases", ".d", "-startup"}
	startNames = []string{"init", "rc", "profile", "startup", "autostart", "autoload", "autorun", "login", "logout"}
)

// startName reports whether a name, in lower case and without a dot before it, is one of
// what runs at a start.
func startName(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	if slices.Contains(startNames, stem) {
		return true
	}
	for _, end := range startEnds {
		if len(name) > len(end) && strings.HasSuffix(name, end) && name != "src" {
			return true
		}
	}
	return false
}
