//go:build unix

package memory

import (
	"os"
	"syscall"
)

// mine reports whether a file, and the link that it may be, belongs to who runs this,
// and nobody else can write it. A folder may belong to the administrator as well. A
// group counts as nobody else when it has the number of its only user, as many systems
// make one for each person.
func mine(path, _ string, folder bool) bool {
	for _, look := range []func(string) (os.FileInfo, error){os.Lstat, os.Stat} {
		info, err := look(path)
		if err != nil {
			return false
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(st.Uid) != os.Geteuid() && !(folder && st.Uid == 0) {
			return false
		}
		if mode := info.Mode(); mode&os.ModeSymlink == 0 && (mode&0o002 != 0 || mode&0o020 != 0 && st.Gid != st.Uid) {
			return false
		}
	}
	return true
}
