//go:build unix

package inode

import (
	"errors"
	"os"
	"syscall"
)

// Of is the ID of an open folder.
func Of(root *os.Root) (ID, error) {
	info, err := root.Stat(".")
	if err != nil {
		return ID{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ID{}, errors.New("its inode is not known")
	}
	return ID{uint64(st.Dev), uint64(st.Ino)}, nil
}
