//go:build unix

// Package free says how much room there is on a disk.
package free

import "golang.org/x/sys/unix"

// Space is what a person without privileges may still write, in bytes.
func Space(dir string) (int64, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
