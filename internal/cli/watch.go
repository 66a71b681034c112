package cli

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

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
	now   func() time.Time

	mu    sync.Mutex // guards what follows
	any   bool       // something was shown
	works bool       // a turn runs
	since time.Time  // when something of it happened last
	tick  *time.Timer
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
		sys: sys, line: line, now: time.Now, color: sys.painterOf(true), st: story.New(),
		paper: story.Paper{O: draw.Options{Width: sys.columns(), ASCII: term.ASCII(sys.Env)}},
	}
}

// happened follows whether a turn runs, and when something of it happened last.
func (w *watcher) happened(e event.Event) {
	w.since = w.now()
	switch e.Body.(type) {
	case event.TurnStarted:
		w.works = true
	case event.TurnEnded:
		w.works = false
	default: // goes on
	}
}

// around has f print what an event came to, with the line of what runs below it. It
// may be called on nil.
func (w *watcher) around(e event.Event, f func()) {
	if w == nil {
		f()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.happened(e)
	_ = w.line.stand(nil) // a terminal that is gone is told by what follows
	f()
	w.running()
}

func (w *watcher) see(e event.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	over := false
	w.happened(e)
	switch b := e.Body.(type) {
	case event.InputAccepted:
		return // it was just typed
	case event.ReplyStarted:
		return // it is shown when it is whole: its pieces do not come here
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

// silence is how long a model says nothing until that is shown.
const silence = 2 * time.Second

// running shows the call that runs, or that the model is waited for, and how long. It
// is shown anew each second.
func (w *watcher) running() {
	p, now := w.paper, w.now()
	p.Now = now
	p.O.Width -= 3 // the cursor stands behind it, and the "^C" of a terminal
	var shown draw.Line
	switch c := w.st.Open(); {
	case c != nil:
		shown = p.Head(c)
	case w.works && now.Sub(w.since) >= silence:
		shown = draw.Beside(draw.L(p.Mark(draw.Radio, draw.Accent), draw.S("waits for the model", draw.Quiet)), draw.L(draw.S(story.Seconds(now.Sub(w.since)), draw.Quiet)), p.Cols(), p.O)
	}
	var line []byte
	if shown != nil {
		line = w.color.theme.Append(nil, shown, w.color.profile)
	}
	_ = w.line.stand(line) // a terminal that is gone is told with the answer
	if w.tick != nil {
		w.tick.Stop()
	}
	if w.works {
		w.tick = time.AfterFunc(time.Second, func() { // again as long as a turn runs, and the run is not over
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.works {
				w.running()
			}
		})
	}
}

// stop takes away the line that stands. It may be called on nil.
func (w *watcher) stop() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.works = false
	w.running()
}

// answer is the text of an answer on stdout: drawn, where that is the terminal,
// too.
func (w *watcher) answer(text string) string {
	if !w.sys.OutTTY {
		return clip.Clean(text)
	}
	lines := w.paper.Item(&story.Item{Kind: story.Spoke, Done: true, Text: text})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.any {
		lines = append([]draw.Line{nil}, lines...)
	}
	return w.color.lines(lines)
}
