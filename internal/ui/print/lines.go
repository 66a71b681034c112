package print

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
)

// text writes the final answer, which may not steer a terminal.
func (r *runner) text(s string) {
	_, err := r.out.WriteString(s)
	if err == nil && s != "" && s[len(s)-1] != '\n' {
		err = r.out.WriteByte('\n')
	}
	if err != nil {
		r.lost(err)
	}
}

func (r *runner) write(line any) {
	enc := json.NewEncoder(r.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil {
		r.lost(err)
	}
}

func (r *runner) flush() {
	if err := r.out.Flush(); err != nil {
		r.lost(err)
	}
}

func (r *runner) lost(err error) {
	if r.res.Lost == nil {
		r.res.Lost = err
	}
}

// chat tells a person at a terminal what is going on.
func (r *runner) chat(e event.Event) {
	switch b := e.Body.(type) {
	case event.ToolStarted:
		title := b.Title
		if title == "" {
			title = b.Name
		}
		fmt.Fprintf(r.Err, "· %s\n", clip.Line(clip.VisibleText(title), 100))
	case event.ToolFinished:
		if b.Denied {
			fmt.Fprintf(r.Err, "· refused: %s\n", clip.Line(clip.VisibleText(b.Verdict.Reason), 100))
		}
	case event.Retracted:
		fmt.Fprintf(r.Err, "· starting the reply over: %s\n", clip.Visible(b.Why))
	case event.GoalChanged:
		fmt.Fprintf(r.Err, "· %s\n", clip.Line(clip.VisibleText(b.String()), 300))
	case event.ModelChanged:
		fmt.Fprintf(r.Err, "· the model is now %s\n", clip.Visible(b.Model))
	default: // not worth a line
	}
}

// NotStarted writes the result of a run that ended before any prompt was
// submitted, for why, in the formats JSON and Stream: so each run of these has one.
func NotStarted(w io.Writer, why string, newID func() string) error {
	p := newProjection(About{NewID: newID}, false, false)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(p.result(event.TurnEnded{How: event.Failed, Reason: "not_started", Err: why}))
}
