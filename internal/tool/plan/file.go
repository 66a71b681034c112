package plan

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/text/clip"
)

// write puts the plan into its file. A command in the sandbox may have
// planted a link under that name: the new file is made beside it under a name
// nobody knows and takes its place, so no link is ever followed.
func write(dir, text string) error {
	root, err := pin.Dir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return safe.Replace(root, safe.File{Name: File, Text: []byte(text), Mode: 0o600, Brief: true})
}

// readPlan is the plan as it stands in its file, where a person may have
// edited it, and the file's path. A file that is gone is written again.
func readPlan(dir, text string) (now, path string, err error) {
	if dir == "" {
		return text, "", nil
	}
	path = filepath.Join(dir, File)
	root, err := pin.Dir(dir)
	if err != nil {
		return "", "", err
	}
	defer root.Close()
	info, err := root.Lstat(File)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return text, path, write(dir, text)
	case err != nil:
		return "", "", err
	case !info.Mode().IsRegular():
		return "", "", fmt.Errorf("%s is no regular file any more", path)
	}
	f, err := root.Open(File)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	if same, err := f.Stat(); err != nil || !os.SameFile(info, same) {
		return "", "", errors.Join(err, fmt.Errorf("%s: %w", path, pin.ErrMoved))
	}
	b, err := io.ReadAll(io.LimitReader(f, maxPlan+1))
	switch {
	case err != nil:
		return "", "", err
	case len(b) > maxPlan:
		return "", "", fmt.Errorf("%s has more than %d bytes", path, maxPlan)
	case clip.Binary(b):
		return "", "", fmt.Errorf("%s is no text", path)
	}
	return clip.Clean(string(b)), path, nil
}
