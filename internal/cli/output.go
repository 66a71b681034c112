package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/ui/print"
)

// An Output is stdout. It keeps the first error, so that no command has to look
// at what each of its lines came to.
type Output struct {
	*os.File
	first atomic.Pointer[error]
	used  atomic.Bool // something was written
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.used.Store(true)
	return o.noted(o.File.Write(p))
}

func (o *Output) noted(n int, err error) (int, error) {
	if err != nil {
		o.first.CompareAndSwap(nil, &err)
	}
	return n, err
}

// WriteString implements io.StringWriter.
func (o *Output) WriteString(s string) (int, error) {
	o.used.Store(true)
	return o.noted(o.File.WriteString(s))
}

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
	return failf("see to it that there is room, or send the output elsewhere", "the output cannot be written: %v", hint.Cause(*lost))
}

// notStarted gives a run in print mode that was to answer in JSON, and that failed
// before it wrote anything, its result line: whoever reads stdout gets one each time.
func notStarted(sys System, c *cobra.Command, err error) {
	if err == nil || c.HasParent() || sys.Stdout.used.Load() || errors.Is(err, syscall.EPIPE) {
		return
	}
	out, in := wanted(c, sys.Args, "output-format"), wanted(c, sys.Args, "input-format")
	if out != string(print.JSON) && out != string(print.Stream) || in == string(print.Stream) { // a host has its requests answered
		return
	}
	f := sorted(err)
	_ = print.NotStarted(sys.Stdout, strings.TrimSpace(f.cause), newUUID) // where it cannot be written, stderr has it all the same
}

// wanted is the value of a flag also where the command line was not read to its end.
func wanted(c *cobra.Command, args []string, name string) string {
	f := c.Root().PersistentFlags().Lookup(name)
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--"+name+"="); ok {
			return v
		}
		if a == "--"+name && i+1 < len(args) && !f.Changed {
			return args[i+1]
		}
	}
	return f.Value.String()
}
