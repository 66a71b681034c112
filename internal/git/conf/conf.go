// Package conf finds the git repository a folder belongs to and reads its
// configuration files for settings that would make git run programs. It does
// so without running git: a hostile repository can make even git status run
// something. It also holds the environment every git of ours runs with. It
// never writes and never decides; it says what it found.
package conf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/git/setting"
)

// Bounds of what is read: a real configuration is far smaller.
const (
	maxConfig  = 1 << 20 // bytes of one configuration file
	maxModules = 200     // submodules looked at
)

// PinnedEnv is the environment, NAME=value, that git runs with when nobody
// was asked: it neutralises what a repository's configuration could start.
func PinnedEnv() []string {
	pins := [][2]string{
		{"core.fsmonitor", "false"},
		{"core.hooksPath", os.DevNull},
		{"safe.bareRepository", "explicit"},
		{"diff.autoRefreshIndex", "false"},
		{"log.showSignature", "false"},
		{"core.pager", "cat"},
		{"protocol.ext.allow", "never"},
	}
	env := []string{
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_PAGER=cat",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1",
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(pins)),
	}
	for i, p := range pins {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, p[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, p[1]))
	}
	return env
}

// Safe reports whether git with PinnedEnv and DiffFlags runs nothing but
// itself in dir, and if not, why. A folder outside any repository is safe.
func Safe(dir string) (ok bool, why string) {
	repo, err := Find(dir)
	if errors.Is(err, ErrNone) {
		return true, ""
	}
	if err != nil {
		return false, err.Error()
	}
	own := repo.Claimed() // a submodule's settings say where its folder is
	for _, f := range repo.configs() {
		found, err := scan(f, func(section, key, value string) bool {
			return setting.Of(section, key, value) < setting.Pinned && !(own && section == "core" && key == "worktree" && repo.workTree(value))
		})
		if err != nil {
			return false, err.Error()
		} else if found != "" {
			return false, fmt.Sprintf("%s sets %s, which may make git run a program or read elsewhere", f, found)
		}
	}
	if ok, why := scanModules(filepath.Join(repo.Common, "modules")); !ok {
		return false, why
	}
	return scanLinks(repo, 0)
}

// scanModules looks at the configuration of submodules: the pins do not reach
// the git that runs inside one.
func scanModules(dir string) (bool, string) {
	n, why := 0, ""
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || why != "" {
			return err
		}
		if d.IsDir() && (d.Name() == "objects" || d.Name() == "refs" || d.Name() == "logs" || d.Name() == "hooks") && looksLikeGitDir(filepath.Dir(p)) {
			return filepath.SkipDir
		}
		if d.IsDir() || d.Name() != "config" && d.Name() != "config.worktree" {
			return nil
		}
		if n++; n > maxModules {
			why = "there are too many submodules to look at"
			return filepath.SkipAll
		}
		found, err := scan(p, unpinned)
		if err != nil {
			why = err.Error()
		} else if found != "" {
			why = fmt.Sprintf("%s sets %s, which may make git run a program", p, found)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err.Error()
	}
	return why == "", why
}

// scan reads one file of settings and returns the first that is bad, "" when there is
// none or no such file.
func scan(file string, bad func(section, key, value string) bool) (string, error) {
	b, err := readSmall(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	found := ""
	err = parse(b, func(section, sub, key, value string) {
		if found == "" && bad(section, key, value) {
			found = section
			if sub != "" {
				found += "." + sub
			}
			found += "." + key
		}
	})
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", file, err)
	}
	return found, nil
}

// unpinned reports a setting that is not harmless to reading where the pins do not reach,
// in a submodule: the folder of its files is said there.
func unpinned(section, key, value string) bool {
	return setting.Of(section, key, value) < setting.Reading && (section != "core" || key != "worktree")
}

func readSmall(file string) ([]byte, error) { return regular.Read(file, maxConfig) }

func isNotDir(err error) bool { return strings.Contains(err.Error(), "not a directory") }
