package changed

import (
	"io/fs"
	"time"
)

// At is when a file or folder was written last, and 0: what else the system knows of
// it is not in its information.
func At(info fs.FileInfo) (at time.Time, number int64) { return info.ModTime(), 0 }
