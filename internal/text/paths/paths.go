// Package paths compares and writes paths as text. It looks at no disk: what
// must not be fooled by links gets paths that were resolved (see place).
package paths

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Within reports whether path is dir or stands below it, by whole components:
// /w/project-x is not within /w/project. Both may hold ".." and double slashes.
// Of two of which one is empty or only one is absolute it is false.
func Within(dir, path string) bool {
	if dir == "" || path == "" {
		return false
	}
	if comparable(dir) && comparable(path) {
		rest, ok := strings.CutPrefix(path, dir)
		return ok && (rest == "" || rest[0] == '/' || dir == "/")
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// WithinAny reports whether path is within one of dirs.
func WithinAny(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return Within(d, path) })
}

// comparable reports whether path can be compared as text: absolute, with
// slashes, and clean.
func comparable(path string) bool {
	if filepath.Separator != '/' || !strings.HasPrefix(path, "/") || strings.Contains(path, "//") || strings.HasSuffix(path, "/") && path != "/" {
		return false
	}
	for rest := path; ; {
		i := strings.Index(rest, "/.")
		if i < 0 {
			return true
		}
		rest = rest[i+2:]
		if after := strings.TrimPrefix(rest, "."); after == "" || after[0] == '/' || rest == "" || rest[0] == '/' {
			return false
		}
	}
}

// Short is path as somebody in dir would write it: relative when it is within
// dir, else as it is.
func Short(dir, path string) string {
	if dir == "" {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// Tilde is a path for people: "~/src/calc" below home, unless that is "".
func Tilde(path, home string) string {
	if home == "" || path == home {
		return strings.Replace(path, home, "~", min(len(home), 1))
	}
	if short := Short(home, path); short != path && runtime.GOOS != "windows" {
		return filepath.Join("~", short)
	}
	return path
}

// Absolute is the clean path that is meant by one that a person wrote: "~" and
// what is behind "~/" begin at home, unless that is "", other relative ones at
// dir.
func Absolute(dir, home, path string) string {
	switch {
	case home != "" && (path == "~" || strings.HasPrefix(path, "~/")):
		return filepath.Join(home, path[1:])
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Cause is the error of a call of the system without the operation and the path,
// for messages that name these already.
func Cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	} else if le, ok := errors.AsType[*os.LinkError](err); ok {
		err = le.Err
	}
	if err != nil && err.Error() == "path escapes from parent" { // os.Root has no name for it
		return errOutside
	}
	return err
}

var errOutside = errors.New("a link leads out of the folder")
