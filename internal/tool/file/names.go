package file

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/text/pattern"
	"github.com/adze-agent/adze/internal/tool"
)

// maxNames bounds the names of a folder that are compared.
const maxNames = 5000

// spelled is path as its folders spell it: where a name does not exist, and just
// one that does is canonically equivalent (UAX #15: "é" in one character or in
// two, as archives of macOS have it), that name is meant.
func spelled(path string) string {
	if isASCII(path) {
		return path
	}
	if _, err := os.Lstat(path); err == nil {
		return path
	}
	dir, base := filepath.Dir(path), filepath.Base(path)
	if dir == path {
		return path
	}
	dir = spelled(dir)
	list, err := os.ReadDir(dir)
	if err != nil || isASCII(base) {
		return filepath.Join(dir, base)
	}
	want, found := norm.NFC.String(base), ""
	for _, e := range list[:min(len(list), maxNames)] {
		if e.Name() == base || norm.NFC.String(e.Name()) != want {
			continue
		}
		if found != "" {
			return filepath.Join(dir, base)
		}
		found = e.Name()
	}
	if found == "" {
		found = base
	}
	return filepath.Join(dir, found)
}

func isASCII(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e }) }

// drive is how a path of Windows starts.
var drive = pattern.Lazy(`^[A-Za-z]:[\\/]`)

// makeable refuses to make a file of a name that means something else.
func makeable(path, asked string) error {
	if last := asked[strings.LastIndexByte(filepath.ToSlash(asked), '/')+1:]; last == "" || last == "." {
		folder := clip.Pictures(strings.TrimRight(asked, `./\`))
		return fmt.Errorf("%s names a folder, and this makes files: name a file in it, and its folders are made, too; an empty folder is made by `mkdir -p %s` in Bash", clip.Pictures(asked), folder)
	}
	return foreignPath(path, asked)
}

// foreignPath refuses to make a file by a path of Windows elsewhere: there it
// is a strange name in the working folder.
func foreignPath(path, asked string) error {
	if runtime.GOOS == "windows" || !strings.Contains(asked, `\`) && !drive().MatchString(asked) {
		return nil
	}
	if drive().MatchString(asked) && !strings.Contains(asked, `\`) {
		if fi, err := os.Stat(filepath.Dir(path)); err == nil && fi.IsDir() {
			return nil // there is such a folder
		}
	}
	return fmt.Errorf("%s is a path of Windows, and this system has none: it would make a file of that name; did you mean %s?", clip.Pictures(asked), clip.Pictures(slashed(asked)))
}

// slashed is a path of Windows with slashes and without its drive.
func slashed(asked string) string {
	if drive().MatchString(asked) {
		asked = asked[3:]
	}
	return strings.TrimLeft(strings.ReplaceAll(asked, `\`, "/"), "/")
}

// unixPath is the file of the working folder that a path of Windows ends with.
func unixPath(asked string, env tool.Env) string {
	if runtime.GOOS == "windows" || env.Dir == "" || !strings.Contains(asked, `\`) && !drive().MatchString(asked) {
		return ""
	}
	parts := strings.Split(slashed(asked), "/")
	for i := range parts {
		rel := strings.Join(parts[i:], "/")
		if !filepath.IsLocal(rel) {
			continue
		}
		if fi, err := os.Stat(filepath.Join(env.Dir, rel)); err == nil && fi.Mode().IsRegular() {
			return rel
		}
	}
	return ""
}

// closeNames finds up to three files with a name like the missing one, in
// folders the session works in only.
func closeNames(path string, env tool.Env) []string {
	type hit struct {
		path string
		dist int
	}
	var out []hit
	want := strings.ToLower(filepath.Base(path))
	dirs := []string{filepath.Dir(path)}
	if rel, err := filepath.Rel(string(filepath.Separator), path); err == nil && len(env.Roots) > 0 {
		// The model may have left out, or made up, the folder above.
		dirs = append(dirs, filepath.Dir(filepath.Join(env.Roots[0], rel)), env.Dir)
	}
	slices.Sort(dirs)
	for _, d := range slices.Compact(dirs) {
		if !paths.WithinAny(append([]string{env.Dir}, env.Roots...), d) {
			continue
		}
		list, err := os.ReadDir(d)
		if err != nil {
			continue
		}
		for _, e := range list[:min(len(list), maxNames)] {
			if e.IsDir() {
				continue
			}
			name := strings.ToLower(e.Name())
			n := near.Distance(want, name)
			if stem(name) == stem(want) {
				n = min(n, 1)
			}
			if n <= max(1, len(want)/4) {
				out = append(out, hit{filepath.Join(d, e.Name()), n})
			}
		}
	}
	order.By(out, func(a, b hit) int { return a.dist - b.dist })
	var names []string
	for _, n := range out[:min(len(out), 3)] {
		names = append(names, n.path)
	}
	return names
}

func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
