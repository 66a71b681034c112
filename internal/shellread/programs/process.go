package programs

import (
	"path"
	"strings"

	"github.com/adze-agent/adze/internal/shellread/world"
)

// inProcess resolves what a path through a process's entry in /proc may mean for
// the command: the folder it stands in and the root are found there under other
// names. Of another process the folder is not known; those the script may stand
// in, and the one it began in, are taken. glob says that text is a pattern.
func (r *Recorder) inProcess(text, src string, dirs []string, glob bool) (out []target) {
	way, rest := processPath(text)
	switch way {
	case "":
		return nil
	case "root":
		return r.resolveAgain("/"+rest, src, nil, glob)
	}
	seen := map[string]bool{}
	for _, d := range append([]string{r.World.Dir}, dirs...) {
		if d != "" && !seen[d] && !strings.HasPrefix(d+"/", "/proc/") {
			seen[d] = true
			out = append(out, r.resolveAgain("./"+rest, src, []string{d}, glob)...)
		}
	}
	return out
}

// resolveAgain resolves what is left of a path behind an entry in /proc.
func (r *Recorder) resolveAgain(text, src string, dirs []string, glob bool) []target {
	if r.processes > maxProcesses {
		return nil
	}
	r.processes++
	defer func() { r.processes-- }()
	if glob {
		return r.resolveGlob(Word{Kind: Pattern, Text: strings.TrimPrefix(text, "./"), Source: src}, dirs)
	}
	return r.resolveText(text, src, dirs)
}

// maxProcesses is how often one path may go through /proc.
const maxProcesses = 4

// processPath splits an absolute path, or a pattern of one, behind an entry of a
// process that leads to another place: its folder ("cwd"), its root, or a folder
// that it has open ("fd"). way is "" for any other path.
func processPath(text string) (way, rest string) {
	if !strings.Contains(text, "/cwd") && !strings.Contains(text, "/root") && !strings.Contains(text, "/fd/") && !strings.ContainsAny(text, "*?[") {
		return "", ""
	}
	segs := strings.Split(text, "/")
	var at []string
	for i, s := range segs {
		switch s {
		case "", ".":
			continue
		case "..":
			at = at[:max(0, len(at)-1)]
			continue
		}
		if at = append(at, s); len(at) == 2 && means(at[0], "dev") && means(s, "fd") {
			at = []string{"proc", "self", "fd"}
			continue
		}
		if len(at) < 3 || !means(at[0], "proc") {
			continue
		}
		inner := at[2:]
		if len(inner) > 2 && means(inner[0], "task") {
			inner = inner[2:]
		}
		rest = strings.Join(segs[i+1:], "/")
		switch {
		case len(inner) == 1 && means(s, "cwd"):
			return "cwd", rest
		case len(inner) == 1 && means(s, "root"):
			return "root", rest
		case len(inner) == 2 && means(inner[0], "fd") && rest != "":
			return "fd", rest
		}
	}
	return "", ""
}

// means reports whether a part of a path or pattern may be name.
func means(part, name string) bool {
	ok, _ := path.Match(part, name)
	return ok || part == name
}

// wholePattern is a pattern as it counts from a folder.
func wholePattern(text, dir string) string {
	if dir == "" {
		return text
	}
	return world.EscapeGlob(strings.TrimSuffix(dir, "/")) + "/" + text
}
