package conf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/git/setting"
)

// SafeUnpinned reports whether git only reads in dir also without PinnedEnv,
// with the settings of the person and of the repository as they are, and if
// not, why. It is stricter than Safe: what only the pins switch off must not be
// there. The person's own settings are trusted.
func SafeUnpinned(dir string) (ok bool, why string) {
	repo, err := Find(dir)
	if errors.Is(err, ErrNone) {
		return true, ""
	}
	if err != nil {
		return false, err.Error()
	}
	for _, f := range repo.configs() {
		found, err := scan(f, func(section, key, value string) bool {
			return setting.Of(section, key, value) < setting.Reading
		})
		if err != nil {
			return false, err.Error()
		} else if found != "" {
			return false, fmt.Sprintf("%s sets %s", f, found)
		}
	}
	// git status refreshes the index, which this hook is told of.
	for _, d := range []string{repo.Common, repo.GitDir} {
		hook := filepath.Join(d, "hooks", "post-index-change")
		if _, err := os.Lstat(hook); !errors.Is(err, fs.ErrNotExist) {
			return false, hook + " is a hook that reading runs"
		}
	}
	if _, err := os.Lstat(filepath.Join(repo.Common, "modules")); !errors.Is(err, fs.ErrNotExist) {
		return false, "it has submodules"
	}
	links, err := gitlinks(filepath.Join(repo.GitDir, "index"))
	if err != nil || len(links) > 0 {
		return false, "it has submodules"
	}
	return true, ""
}
