package confedit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/adze-agent/adze/internal/disk/safe"
)

// Disk reads settings files; it is config.Files.
type Disk struct{}

// Read returns a regular file's content. Devices, FIFOs, sockets, folders and
// files over max bytes are refused; opening never waits for a writer.
func (Disk) Read(path string, max int64) ([]byte, error) {
	// What is not a regular file is not even opened: opening a device can act.
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			_, hidden := os.Lstat(path)
			_, above := os.Lstat(filepath.Dir(path))
			switch {
			case hidden != nil && above != nil: // the whole home is closed to us: no file, for all we know
				return nil, fmt.Errorf("%w: its folder cannot be read", fs.ErrNotExist)
			case hidden != nil: // there may be rules in it that forbid
				return nil, fmt.Errorf("its folder is closed to this user: %w", fs.ErrPermission)
			}
		}
		if at, lerr := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && lerr == nil && at.Mode()&fs.ModeSymlink != 0 {
			return nil, errors.New("it is a link to a file that is not there") // which may forbid something
		}
		if errors.Is(err, syscall.ENOTDIR) { // something above it is a file
			return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular(info.Mode())
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	return readRegular(f, info, max)
}

func readRegular(f *os.File, info fs.FileInfo, max int64) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, notRegular(info.Mode())
	}
	if info.Size() <= max {
		b, err := io.ReadAll(io.LimitReader(f, max+1))
		if err != nil || int64(len(b)) <= max {
			return b, err
		}
	}
	return nil, fmt.Errorf("it is larger than %d KiB", max>>10)
}

func notRegular(m fs.FileMode) error {
	kind := "not a regular file"
	switch {
	case m.IsDir():
		kind = "a folder"
	case m&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case m&fs.ModeSocket != 0:
		kind = "a socket"
	case m&fs.ModeDevice != 0:
		kind = "a device"
	}
	return fmt.Errorf("it is %s", kind)
}

// Names lists a folder, sorted; none when there is no folder.
func (Disk) Names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		_, err = os.Lstat(dir) // what is there and is no folder
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out, err
}

// Owned says why a file may not speak for the administrator.
func (Disk) Owned(path string) error { return owned(path) }

// Good keeps copies of settings files that parsed, in a folder of its own. It
// is config.Keeper.
type Good struct{ Dir string }

func (g *Good) path(of string) string {
	sum := sha256.Sum256([]byte(of))
	return filepath.Join(g.Dir, hex.EncodeToString(sum[:4])+"-"+filepath.Base(of)+".last-good")
}

// Last returns the copy of a file, nil when there is none.
func (g *Good) Last(path string) []byte {
	b, err := Disk{}.Read(g.path(path), 2<<20)
	if err != nil {
		return nil
	}
	return b
}

// Keep remembers a text. A copy that cannot be kept is done without: the
// file itself is fine.
func (g *Good) Keep(path string, text []byte) {
	if bytes.Equal(g.Last(path), text) || os.MkdirAll(g.Dir, 0o700) != nil {
		return
	}
	dir, err := os.OpenRoot(g.Dir)
	if err != nil {
		return
	}
	defer dir.Close()
	_ = safe.Replace(dir, safe.File{Name: filepath.Base(g.path(path)), Text: text, Mode: 0o600, Exact: true, Brief: true})
}

// HideFromGit adds a path, relative to the repository's root, to the
// repository's own info/exclude. gitDir is the folder all worktrees share. It
// follows no link inside it.
func HideFromGit(ctx context.Context, gitDir, rel string) error {
	line := "/" + strings.TrimPrefix(filepath.ToSlash(rel), "/")
	err := Editor{}.Rewrite(ctx, Target{Path: filepath.Join(gitDir, "info", "exclude"), Root: gitDir, Mode: 0o644}, func(text []byte) ([]byte, error) {
		for have := range strings.Lines(string(text)) {
			if h := strings.TrimRight(have, "\r\n "); h == line || h == line[1:] {
				return text, nil
			}
		}
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(bytes.Clone(text), '\n')
		}
		return append(bytes.Clone(text), line+"\n"...), nil
	})
	if err != nil {
		return fmt.Errorf("keeping %s out of git: %w", rel, err)
	}
	return nil
}
