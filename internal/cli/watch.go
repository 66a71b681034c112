package cli

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

// A watcher shows on stderr what a run of print mode does, as the terminal UI
// shows it. What runs now stands in one line that goes away; the answer is not
// its matter.
type watcher struct {
	sys   System
	color painter
	st    *story.Story
	paper story.Paper
	line  *above
	any   bool // something was shown
}

// An above writes above one line that goes away. It is for several goroutines.
type above struct {
	mu   sync.Mutex
	to   io.Writer
	line []byte // that stands there, nil for none
}

// Write implements io.Writer. Behind text that ends within a line, the line is
// not written again.
func (a *above) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	line := a.line
	if err := a.put(nil); err != nil {
		return 0, err
	}
	n, err := a.to.Write(b)
	if err == nil && bytes.HasSuffix(b, []byte("\n")) {
		err = a.put(line)
	}
	return n, err
}

// stand has another line stand there; nil takes it away.
func (a *above) stand(line []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.put(line)
}

func (a *above) put(line []byte) error {
	var b []byte
	if a.line != nil {
		b = append(b, "\r\x1b[K"...)
	}
	a.line = line
	if b = append(b, line...); len(b) == 0 {
		return nil
	}
	_, err := a.to.Write(b)
	return err
}

// watching is a watcher, nil where nobody looks on or where lines cannot be
// taken away.
func watching(sys System) *watcher {
	line, ok := sys.Stderr.(*above)
	if !ok || term.Dumb(sys.Env) {
		return nil
	}
	return &watcher{
		sys: sys, line: line, color: sys.painterOf(true), st: story.New(),
		paper: story.Paper{O: draw.Options{Width: sys.columns(), ASCII: term.ASCII(sys.Env)}},
	}
}

func (w *watcher) see(e event.Event) {
	over := false
	switch b := e.Body.(type) {
	case event.InputAccepted:
		return // it was just typed
	case event.TurnEnded:
		over = b.How == event.Done
		e.Body = event.TurnEnded{ID: b.ID, How: event.Done} // why it ended otherwise is said with the exit
	default: // shown as it is
	}
	w.st.Apply(e)
	w.show(w.st.NextButLast(w.paper))
	_, ended := e.Body.(event.TurnEnded)
	switch {
	case ended && !over:
		w.show(w.st.Next(w.paper)) // there is no answer, so this is all of it
	case ended:
		w.st.Printed = len(w.st.Items)
	}
	w.running()
}

func (w *watcher) show(lines []draw.Line) {
	if len(lines) > 0 {
		w.any = true
		fmt.Fprint(w.sys.Stderr, w.color.lines(lines))
	}
}

// running shows the call that runs.
func (w *watcher) running() {
	var line []byte
	if c := w.st.Open(); c != nil {
		p := w.paper
		p.O.Width-- // the cursor stands behind it
		line = w.color.theme.Append(nil, p.Head(c), w.color.profile)
	}
	_ = w.line.stand(line) // a terminal that is gone is told with the answer
}

// answer is the text of an answer on stdout: drawn, where that is the terminal,
// too.
func (w *watcher) answer(text string) string {
	if !w.sys.OutTTY {
		return clip.Clean(text)
	}
	lines := w.paper.Item(&story.Item{Kind: story.Spoke, Done: true, Text: text})
	if w.any {
		lines = append([]draw.Line{nil}, lines...)
	}
	return w.color.lines(lines)
}
