package sandbox

import (
	"io/fs"
	"os"
	"slices"
)

// setgid reports whether a folder that commands write in hands its group on to what
// is made in it. Folders there have the bit, and what copies them must be able to set it.
func setgid(p Policy) bool {
	return slices.ContainsFunc(p.Writable, func(dir string) bool {
		fi, err := os.Stat(dir)
		return err == nil && fi.Mode()&fs.ModeSetgid != 0
	})
}
