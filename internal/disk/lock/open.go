// Package lock keeps processes from doing the same thing at the same time. It
// locks open files as the system can: such a lock is gone with the last process
// that has the file open, whatever it dies of, and other programs may take no
// notice of it. Some network file systems, and Windows, have none. What must
// not happen twice there either takes a lease, which is a file (disk/lease).
package lock

import "errors"

// ErrHeld says that another open file has the lock.
var ErrHeld = errors.New("another process holds the lock")
