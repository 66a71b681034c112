package inode

import (
	"os"

	"golang.org/x/sys/windows"
)

// Of is the ID of an open folder.
func Of(root *os.Root) (ID, error) {
	d, err := root.Open(".")
	if err != nil {
		return ID{}, err
	}
	defer d.Close()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(d.Fd()), &info); err != nil {
		return ID{}, err
	}
	return ID{uint64(info.VolumeSerialNumber), uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)}, nil
}
