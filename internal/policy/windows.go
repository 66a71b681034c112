package policy

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/adze-agent/adze/internal/text/paths"
)

// On Windows a rule names a drive as C:/x, C:\x, //c/x or //C:/x, and all of these mean
// the same. Here they, the folders of rules and the files are "/c:/x": // is the root of
// everything, as elsewhere.

// windows reports whether the rules are for paths of Windows.
func (r Rules) windows() bool { return paths.Drive(r.Dir) }

// slashed is a path with slashes, as the patterns of rules are matched with it.
func (r Rules) slashed(p string) string {
	if !r.windows() {
		return filepath.ToSlash(p)
	}
	p = strings.ReplaceAll(p, `\`, "/")
	if paths.Drive(p) {
		return "/" + strings.ToLower(p[:1]) + strings.TrimSuffix(p[1:], "/") // of C:/, too
	}
	return p
}

// pathSpec is the path spec of a rule as patterns have it.
func pathSpec(spec string, windows bool) string {
	if !windows {
		return filepath.ToSlash(spec)
	}
	// A backslash before a bracket makes it literal, as in rules that adze writes.
	spec = strings.NewReplacer(`\[`, `\[`, `\]`, `\]`, `\`, "/").Replace(spec)
	drive := strings.TrimPrefix(spec, "//")
	switch {
	case paths.Drive(drive):
		return "//" + strings.ToLower(drive[:1]) + drive[1:]
	case drive != spec && len(drive) > 0 && paths.Drive(drive[:1]+":"+drive[1:]):
		return "//" + strings.ToLower(drive[:1]) + ":" + drive[1:]
	}
	return spec
}

// deadPath says why a path spec can match nothing, "" when it can.
func deadPath(spec string, windows bool) string {
	if !windows || spec == "" {
		return ""
	}
	pat := pathSpec(spec, true)
	below, whole := strings.CutPrefix(pat, "//")
	if whole {
		first, rest, _ := strings.Cut(below, "/")
		if first != "" && !paths.Drive(first) && !strings.ContainsAny(first, "*?[") {
			return fmt.Sprintf("this rule can never match: there is no drive %q, and network shares are not opened; write C:/… or //c/…", first)
		}
		if pat = rest; first != "" && !paths.Drive(first) {
			pat = below
		}
	}
	if first, _, _ := strings.Cut(strings.TrimPrefix(pat, "/"), "/"); !whole && strings.HasPrefix(pat, "/") && paths.Drive(first+":") {
		return fmt.Sprintf("this rule can never match drive %s: it counts from the folder of its settings; write %[1]s:/… for the drive, ./%[1]s/… for the folder", first)
	}
	for seg := range strings.SplitSeq(pat, "/") {
		switch {
		case seg == "." || seg == "..":
		case strings.Contains(seg, ":"):
			return fmt.Sprintf("this rule can never match: no name on Windows holds a colon (%q); a drive is C:/…", seg)
		case strings.HasSuffix(seg, ".") || strings.HasSuffix(seg, " "):
			return fmt.Sprintf("this rule can never match: no name on Windows ends in a dot or a blank (%q)", seg)
		case paths.ShortName(seg):
			return fmt.Sprintf("this rule can never match: paths are compared with their long names, and %q is a short one", seg)
		}
	}
	return ""
}

// onWindows: rules are read on Windows.
const onWindows = runtime.GOOS == "windows"
