package trust

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const nonblock = 0

// identify tells a folder from all others on this machine.
func identify(root *os.Root) (identity, error) {
	d, err := root.Open(".")
	if err != nil {
		return identity{}, err
	}
	defer d.Close()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(d.Fd()), &info); err != nil {
		return identity{}, err
	}
	return identity{uint64(info.VolumeSerialNumber), uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)}, nil
}

// private: what is below the user's profile inherits its access list.
func private(fs.FileInfo) error { return nil }
