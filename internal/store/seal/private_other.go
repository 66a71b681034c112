//go:build !unix

package seal

import "io/fs"

// private: the profile's folder is the owner's alone there.
func private(fs.FileInfo) error { return nil }
