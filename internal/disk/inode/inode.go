// Package inode tells a folder from all others of this machine, whatever its path is. It
// follows no link but those on the way to the folder, and keeps nothing.
package inode

import "os"

// An ID is that of a folder, as long as the folder exists. The zero value is none's.
type ID struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// At is the ID of the folder at a path.
func At(dir string) (ID, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ID{}, err
	}
	defer root.Close()
	return Of(root)
}
