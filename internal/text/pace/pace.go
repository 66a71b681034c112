// Package pace tells the lines of an output to somebody who is not to be told all the
// time: several in one notice, with a pause behind each, and no more than a notice can
// hold. What it leaves out, it counts.
package pace

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/text/clip"
)

// maxLine is how many characters of a line are told; the rest of it is dropped.
const maxLine = 1000

// A Config says how lines are told.
type Config struct {
	// Pause is how long nothing is told behind the n-th notice, which is 1 at first.
	Pause func(n int) time.Duration
	Lines int // of a notice; more are counted
	Bytes int // of a notice, 0 for any number
	// Tell gets a notice: clean lines, joined. It is called by one goroutine, and not
	// after Close.
	Tell func(notice string)
}

// A Pacer tells lines. It keeps no more than one notice.
type Pacer struct {
	c     Config
	ended chan struct{}
	wake  chan struct{}
	quit  chan bool // whether what is left is told

	mu    sync.Mutex // guards the rest
	part  []byte     // of a line whose end did not come yet
	long  bool       // and whose rest is dropped
	lines []string
	size  int // of lines
	more  int
}

// New returns a pacer, whose Close has to be called.
func New(c Config) *Pacer {
	p := &Pacer{c: c, ended: make(chan struct{}), wake: make(chan struct{}, 1), quit: make(chan bool)}
	go p.run() // ends with Close
	return p
}

// Write takes output as it comes. It never fails and never waits.
func (p *Pacer) Write(b []byte) (int, error) {
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
func (p *Pacer) line() {
	s := clip.Line(strings.TrimSpace(clip.Clean(string(p.part))), maxLine)
	if p.long && !strings.HasSuffix(s, "…") {
		s += "…"
	}
	p.part, p.long = p.part[:0], false
	switch {
	case s == "":
	case len(p.lines) == p.c.Lines, p.c.Bytes > 0 && p.size+len(s) > p.c.Bytes:
		p.more++
	default:
		p.lines, p.size = append(p.lines, s), p.size+len(s)+1
	}
}

// take is what there is to tell, "" for nothing.
func (p *Pacer) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := strings.Join(p.lines, "\n")
	if p.more > 0 {
		s += fmt.Sprintf("\n(and %s)", clip.Count(p.more, "more line"))
	}
	p.lines, p.size, p.more = nil, 0, 0
	return s
}

func (p *Pacer) run() {
	defer close(p.ended)
	pause := time.NewTimer(0)
	<-pause.C
	waiting, n := false, 0
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
				p.c.Tell(s)
			}
			return
		case <-pause.C:
			waiting = false
		case <-wake:
			if s := p.take(); s != "" {
				n++
				p.c.Tell(s)
				pause.Reset(p.c.Pause(n))
				waiting = true
			}
		}
	}
}

// Close ends the pacer; rest: what is left is told.
func (p *Pacer) Close(rest bool) {
	p.quit <- rest
	<-p.ended
}
