package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/trust"
)

// maxOther bounds a file of another agent, in bytes.
const maxOther = 4 << 20

// Others are the hooks that a person has for other agents, where they mean the same
// here, by file. bad says what of them is left out.
func Others(home string) (list []extension.Contribution, bad []string) {
	if home == "" {
		return nil, nil
	}
	for _, name := range hook.Files() {
		path := filepath.Join(home, filepath.FromSlash(name))
		text, err := regular.Read(path, maxOther)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			bad = append(bad, fmt.Sprintf("hooks of %s: %v", path, err))
		default:
			c, problems := other(text, path, "user")
			list, bad = append(list, c), append(bad, problems...)
		}
	}
	return list, bad
}

// OfFolder are the hooks that a repository below root has for other agents, of files
// that are trusted. bad says what of them is left out.
func OfFolder(root string, files []trust.File) (list []extension.Contribution, bad []string) {
	for _, f := range files {
		c, problems := other(f.Text(), filepath.Join(root, filepath.FromSlash(f.Path)), "project")
		list, bad = append(list, c), append(bad, problems...)
	}
	return list, bad
}

func other(text []byte, path, scope string) (c extension.Contribution, bad []string) {
	list, problems := hook.ParseFile(text, hook.Place{From: path, Scope: scope})
	for _, err := range problems {
		bad = append(bad, fmt.Sprintf("%s: %v", path, err))
	}
	return extension.Contribution{From: extension.OfPlace(path), Hooks: list}, bad
}
