package checkpoint

import (
	"io/fs"
	"os"
)

// link leaves a file as it is: what the other name has, it has, too.
func link(*os.Root, string, *os.Root, string) error { return nil }

// fileID tells a file with several names from others.
func fileID(fs.FileInfo) any { return nil }

// links is how many names a file has, as far as a look at its entry says.
func links(fs.FileInfo) uint64 { return 1 }
