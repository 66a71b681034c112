package sandbox

import (
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/git/conf"
)

// kin are the folders of other version control, and what in them makes it run
// programs or look elsewhere. The rest it must write to do its work.
var kin = map[string][]string{
	".hg": {"hgrc", "hgrc-not-shared", "sharedpath"},
	".sl": {"config", "hgrc", "sharedpath"},
	".jj": {"workspace-config.toml", "repo/config.toml", "repo/store/git_target", "repo/store/git/config", "repo/store/git/hooks", "repo/store/git/commondir"},
}

// steersKin are those that exist. A folder that is none steers as a whole.
func steersKin(dir string) []string {
	if !isDir(dir) {
		return []string{dir}
	}
	var out []string
	for _, name := range kin[filepath.Base(dir)] {
		if p := filepath.Join(dir, filepath.FromSlash(name)); exists(p) {
			out = append(out, p)
		}
	}
	if repo := filepath.Join(dir, "repo"); filepath.Base(dir) == ".jj" && exists(repo) && !isDir(repo) {
		out = append(out, repo) // it says where the repository is
	}
	return out
}

// plainKin reports whether a file of other version control says no more than
// what making or cloning a repository writes.
func plainKin(path string) bool {
	b, err := readSmall(path)
	if err != nil {
		return false
	}
	switch filepath.Base(path) {
	case "git_target":
		to := strings.TrimSpace(string(b))
		return to == "git" || to == "../../../.git"
	case "config":
		return filepath.Base(filepath.Dir(path)) == "git" && conf.Plain(conf.Steer{Path: path, Kind: conf.Config}, nil) == ""
	case "hgrc":
		section := ""
		for _, l := range strings.Split(string(b), "\n") {
			switch l = strings.TrimSpace(l); {
			case l == "" || l[0] == '#' || l[0] == ';':
			case l[0] == '[':
				section = l
			case section != "[paths]" || strings.Contains(l, "://-"):
				return false
			}
		}
		return true
	}
	return false
}
