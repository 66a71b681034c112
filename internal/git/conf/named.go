package conf

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/git/setting"
	"github.com/adze-agent/adze/internal/text/paths"
)

// maxIncludes bounds the files that settings include, in all.
const maxIncludes = 64

// Named are the paths that the settings of a repository, and those of the
// person, name: folders of hooks, included files, and programs as far as they
// are words of a command. git is the git folder, top its worktree, which paths
// in settings are relative to, home the person's. What a name leads to need not
// exist.
func Named(git, top, home string) []Steer {
	n := &named{top: top, home: home, seen: map[string]bool{}}
	files := []string{"/etc/gitconfig", filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config")}
	if home == "" {
		files = files[:1]
	}
	for _, f := range append(files, filepath.Join(git, "config"), filepath.Join(git, "config.worktree")) {
		n.file(f)
	}
	return n.out
}

type named struct {
	top, home string
	seen      map[string]bool
	out       []Steer
}

func (n *named) file(path string) {
	if n.seen[path] || len(n.seen) > maxIncludes {
		return
	}
	n.seen[path] = true
	b, err := readSmall(path)
	if err != nil {
		return
	}
	// What stands before a mistake counts, although git would stop at it.
	_ = parse(b, func(section, _, key, value string) {
		switch {
		case (section == "include" || section == "includeif") && key == "path":
			p := paths.Absolute(filepath.Dir(path), n.home, value)
			n.out = append(n.out, Steer{p, Config})
			n.file(p)
		case section == "core" && key == "hookspath":
			n.out = append(n.out, Steer{paths.Absolute(n.top, n.home, value), Hook})
		case section == "core" && key == "attributesfile":
			n.out = append(n.out, Steer{paths.Absolute(n.top, n.home, value), Attributes})
		case section == "alias" && !strings.HasPrefix(value, "!"): // a command of git's own
		case setting.Of(section, key, value) <= setting.Pinned && !strings.EqualFold(value, "true"):
			n.program(value)
		}
	})
}

// program adds the words of a command line that are files. A shell reads such
// a line, so that more can be in it than is found here.
func (n *named) program(line string) {
	for i, w := range strings.FieldsFunc(strings.TrimPrefix(line, "!"), func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;&|<>()=", r) }) {
		p := paths.Absolute(n.top, n.home, w)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() || i == 0 && strings.Contains(w, "/") && os.IsNotExist(err) {
			n.out = append(n.out, Steer{p, Hook})
		}
	}
}
