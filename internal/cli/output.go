package cli

import (
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
)

// An Output is stdout. It keeps the first error, so that no command has to look
// at what each of its lines came to.
type Output struct {
	*os.File
	first atomic.Pointer[error]
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.File.Write(p)
	if err != nil {
		o.first.CompareAndSwap(nil, &err)
	}
	return n, err
}

// WriteString implements io.StringWriter.
func (o *Output) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

// judged is what a command came to that ended with err: one whose output is lost
// has failed. A reader that went away has seen enough.
func (o *Output) judged(err error) error {
	lost := o.first.Load()
	if lost == nil || errors.Is(*lost, syscall.EPIPE) {
		return err
	}
	if path := new(fs.PathError); err != nil && (!errors.As(err, &path) || path.Op != "write" || path.Path != o.Name()) {
		return err
	}
	return failf("see to it that there is room, or send the output elsewhere", "the output cannot be written: %v", cause(*lost))
}
