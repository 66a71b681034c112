package checkpoint_test

import "io/fs"

func inode(fs.FileInfo) string { return "" }
