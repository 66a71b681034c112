// Package monitor runs the monitors of plugins: long-lived commands whose lines
// of output are told to somebody, at most once a second. It decides nothing
// about whether a command may run, and starts none again that ended.
package monitor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of what is told.
const (
	every    = time.Second // between two notices
	maxLine  = 1000        // characters of a line; the rest of it is dropped
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
	p := newPacer(notify)
	process, err := c.Table.Start(proc.Command{Path: c.Shell, Args: []string{c.Shell, "-c", c.Command}, Dir: c.Dir, Env: c.Env, Errors: errs}, p)
	if err != nil {
		p.close(false)
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
		p.close(ctx.Err() == nil)
	}()
	return m, nil
}

// Done is closed when the command has ended and all was told.
func (m *Monitor) Done() <-chan struct{} { return m.done }

// A pacer tells lines, once a second at most. It keeps no more than one notice.
type pacer struct {
	notify func(string)
	ended  chan struct{}
	wake   chan struct{}
	quit   chan bool // whether what is left is told

	mu    sync.Mutex
	part  []byte // of a line whose end did not come yet
	long  bool   // and whose rest is dropped
	lines []string
	more  int
}

func newPacer(notify func(string)) *pacer {
	p := &pacer{notify: notify, ended: make(chan struct{}), wake: make(chan struct{}, 1), quit: make(chan bool)}
	go p.run() // ends with close
	return p
}

// Write takes output as it comes. It never fails and never waits.
func (p *pacer) Write(b []byte) (int, error) {
	n := len(b)
	p.mu.Lock()
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		text := b
		if i >= 0 {
			text = b[:i]
		}
		if room := 4*maxLine - len(p.part); len(text) > room { // no character has more than four bytes
			text, p.long = text[:max(room, 0)], true
		}
		p.part = append(p.part, text...)
		if i < 0 {
			break
		}
		p.line()
		b = b[i+1:]
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return n, nil
}

// line ends a line. The lock is held.
func (p *pacer) line() {
	s := strings.TrimSpace(clip.Clean(string(p.part)))
	if p.long {
		s += "…"
	}
	p.part, p.long = p.part[:0], false
	switch {
	case s == "":
	case len(p.lines) == maxLines:
		p.more++
	default:
		p.lines = append(p.lines, clip.Line(s, maxLine))
	}
}

// take is what there is to tell, "" for nothing.
func (p *pacer) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := strings.Join(p.lines, "\n")
	if p.more > 0 {
		s += fmt.Sprintf("\n(and %s)", clip.Count(p.more, "more line"))
	}
	p.lines, p.more = nil, 0
	return s
}

func (p *pacer) run() {
	defer close(p.ended)
	pause := time.NewTimer(0)
	<-pause.C
	waiting := false
	for {
		wake := p.wake
		if waiting {
			wake = nil
		}
		select {
		case rest := <-p.quit:
			pause.Stop()
			p.mu.Lock()
			p.line()
			p.mu.Unlock()
			if s := p.take(); rest && s != "" {
				p.notify(s)
			}
			return
		case <-pause.C:
			waiting = false
		case <-wake:
			if s := p.take(); s != "" {
				p.notify(s)
				pause.Reset(every)
				waiting = true
			}
		}
	}
}

// close ends the pacer; rest: what is left is told.
func (p *pacer) close(rest bool) {
	p.quit <- rest
	<-p.ended
}
