// Package monitor runs the monitors of plugins: long-lived commands whose lines
// of output are told to somebody, at most once a second. It decides nothing
// about whether a command may run, and starts none again that ended.
package monitor

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/pace"
)

// Bounds of what is told.
const (
	every    = time.Second // between two notices
	maxLines = 20          // of a notice; more are counted
)

// A Config is a command and what surrounds it.
type Config struct {
	Table   *proc.Table // starts the command, and ends it with everything it started
	Shell   string      // absolute
	Command string      // for the shell
	Dir     string
	Env     []string // complete
}

// A Monitor is one that runs, until its context ends or it ends by itself.
type Monitor struct {
	done chan struct{}
}

// Start runs a monitor. notify gets lines of its output, clean and bounded,
// several in one text when they came within a second; it is called by one
// goroutine, and not after Done.
func Start(ctx context.Context, c Config, notify func(string)) (*Monitor, error) {
	errs, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // only standard output is told
	if err != nil {
		return nil, fmt.Errorf("start the monitor: %w", err)
	}
	p := pace.New(pace.Config{Lines: maxLines, Pause: func(int) time.Duration { return every }, Tell: notify})
	process, err := c.Table.Start(proc.Command{Path: c.Shell, Args: []string{c.Shell, "-c", c.Command}, Dir: c.Dir, Env: c.Env, Errors: errs}, p)
	if err != nil {
		p.Close(false)
		return nil, fmt.Errorf("start the monitor: %w", err)
	}
	m := &Monitor{make(chan struct{})}
	go func() { // ends with the process, which ends with ctx or the table
		defer close(m.done)
		select {
		case <-process.Done():
		case <-ctx.Done():
			process.Stop(proc.Grace)
			<-process.Done()
		}
		p.Close(ctx.Err() == nil)
	}()
	return m, nil
}

// Done is closed when the command has ended and all was told.
func (m *Monitor) Done() <-chan struct{} { return m.done }
