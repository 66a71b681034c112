package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/ext/hook"
	"github.com/adze-agent/adze/internal/trust"
)

// maxOther bounds a file of another agent, in bytes.
const maxOther = 4 << 20

// Others are the hooks that a person has for other agents, where they mean the same
// here. bad says what of them is left out.
func Others(home string) (list []Hook, bad []string) {
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
			hooks, problems := other(text, path, "user")
			list, bad = append(list, hooks...), append(bad, problems...)
		}
	}
	return list, bad
}

// OfFolder are the hooks that a repository below root has for other agents, of files
// that are trusted. bad says what of them is left out.
func OfFolder(root string, files []trust.File) (list []Hook, bad []string) {
	for _, f := range files {
		hooks, problems := other(f.Text(), filepath.Join(root, filepath.FromSlash(f.Path)), "project")
		list, bad = append(list, hooks...), append(bad, problems...)
	}
	return list, bad
}

func other(text []byte, path, scope string) (list []Hook, bad []string) {
	list, problems := hook.ParseFile(text, hook.Place{From: path, Scope: scope})
	for _, err := range problems {
		bad = append(bad, fmt.Sprintf("%s: %v", path, err))
	}
	return list, bad
}
