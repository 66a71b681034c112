package plan

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/text/clip"
)

// write puts the plan into its file. A command in the sandbox may have
// planted a link under that name: the new file is made beside it under a name
// nobody knows and takes its place, so no link is ever followed.
func write(dir, text string) (err error) {
	root, err := pin.Dir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	temp := "." + File + "." + rand.Text()
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Remove(temp))
		}
	}()
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(temp, File)
}

// settled is the plan as it stands in its file, where a person may have
// edited it, and the file's path. A file that is gone is written again.
func settled(dir, text string) (now, path string, err error) {
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
