package rpc

import "io/fs"

// own cannot be told here, so that nothing is listened on.
func own(fs.FileInfo) bool { return false }
