package cli

import (
	"fmt"

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
	line  bool // a line of what runs stands there
	any   bool // something was shown
}

// watching is a watcher, nil where nobody looks on or where lines cannot be
// taken away.
func watching(sys System) *watcher {
	if !sys.ErrTTY || term.Dumb(sys.Env) {
		return nil
	}
	return &watcher{
		sys: sys, color: sys.painterOf(true), st: story.New(),
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
	w.clear()
	if len(lines) > 0 {
		w.any = true
		fmt.Fprint(w.sys.Stderr, w.color.lines(lines))
	}
}

// running shows the call that runs.
func (w *watcher) running() {
	w.clear()
	c := w.st.Open()
	if c == nil {
		return
	}
	p := w.paper
	p.O.Width-- // the cursor stands behind it
	fmt.Fprint(w.sys.Stderr, string(w.color.theme.Append(nil, p.Head(c), w.color.profile)))
	w.line = true
}

// clear takes the line of what runs away.
func (w *watcher) clear() {
	if w.line {
		fmt.Fprint(w.sys.Stderr, "\r\x1b[K")
		w.line = false
	}
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
