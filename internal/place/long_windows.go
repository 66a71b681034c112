package place

import (
	"path/filepath"
	"slices"

	"golang.org/x/sys/windows"
)

// long is a path with the long names of what of it is there, and the names behind that,
// which are not.
func long(path string) (full string, rest []string) {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if name, err := longName(at); err == nil {
			slices.Reverse(rest)
			return filepath.Join(append([]string{name}, rest...)...), rest
		}
		if filepath.Dir(at) == at {
			slices.Reverse(rest)
			return path, rest
		}
		rest = append(rest, filepath.Base(at))
	}
}

func longName(path string) (string, error) {
	from, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return "", err
	}
	buf := make([]uint16, 300)
	for {
		n, err := windows.GetLongPathName(from, &buf[0], uint32(len(buf)))
		if err != nil {
			return "", err
		}
		if int(n) <= len(buf) {
			return windows.UTF16ToString(buf[:n]), nil
		}
		buf = make([]uint16, n)
	}
}
