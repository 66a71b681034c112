package trust

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/config"
)

// Files is the disk for config.Load in a folder: settings of the folder's own
// are read below its root only. A link that leaves it is an error that quotes
// nothing of what it leads to. Everything else is Disk's.
type Files struct {
	Folder
	Disk config.Files
}

// Read returns a regular file's content; see config.Files.
func (f Files) Read(path string, max int64) ([]byte, error) {
	rel, own := f.own(path)
	if !own {
		return f.Disk.Read(path, max)
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Lstat(rel); absent(err) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return readBelow(root, rel, max)
}

// Names lists a folder, sorted.
func (f Files) Names(dir string) ([]string, error) { return f.Disk.Names(dir) }

// Owned says why a file may not speak for this machine's administrator.
func (f Files) Owned(path string) error { return f.Disk.Owned(path) }

// own returns the path below the root of a file that the folder brings.
func (f Files) own(path string) (string, bool) {
	for _, d := range []string{f.Root, f.Dir} {
		if d == f.Home {
			continue
		}
		for _, s := range single {
			if path == filepath.Join(d, filepath.FromSlash(s.path)) {
				rel, err := filepath.Rel(f.Root, path)
				return rel, err == nil && filepath.IsLocal(rel)
			}
		}
	}
	return "", false
}
