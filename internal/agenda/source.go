package agenda

import (
	"context"
	"fmt"
	"time"

	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

// Tasks are the schedules of a session as tasks.
type Tasks struct{ *Agenda }

// Background implements task.Source: no call waits for a schedule.
func (Tasks) Background(string) (id string, ok bool) { return "", false }

// find is the text on a schedule.
func (t Tasks) find(who string) (text string, ok bool) {
	for _, l := range t.List() {
		if l.ID == who {
			return l.About(t.Now()), true
		}
	}
	return "", false
}

// About says when a schedule comes, and what it says then.
func (l Listed) About(now time.Time) string {
	text := fmt.Sprintf("%s, next at %s.", l.Human, l.Next.In(now.Location()).Format("2006-01-02 15:04:05"))
	if l.Wakeup != "" {
		text += " Because: " + clip.Visible(l.Wakeup)
	}
	if !l.Once() && !l.Permanent {
		text += " Ends on " + l.Ends().In(now.Location()).Format(time.DateOnly) + "."
	}
	return text + "\n" + clip.VisibleText(l.Prompt) + "\n"
}

// Stop implements task.Source.
func (t Tasks) Stop(who string) (tool.Result, bool) {
	e, err := t.Delete(who, "it was deleted")
	switch {
	case err == ErrNone:
		return tool.Result{}, false
	case err != nil:
		return tool.Errorf("%s", err), true
	}
	return tool.Result{Text: fmt.Sprintf("The schedule %s (%s) is deleted, and comes no more.", e.ID, e.Human(t.Now().Location()))}, true
}

// Look implements task.Source. Nobody waits for the end of a schedule.
func (t Tasks) Look(_ context.Context, who string, _ task.Look) (tool.Result, bool) {
	text, ok := t.find(who)
	return tool.Result{Text: text}, ok
}

// Tail implements task.Source: when it comes, and what it says.
func (t Tasks) Tail(who string, most int) (b []byte, total int64, ok bool) {
	text, ok := t.find(who)
	return []byte(text[max(0, len(text)-most):]), int64(len(text)), ok
}

// Known implements task.Source.
func (t Tasks) Known() (ids []string) {
	for _, l := range t.List() {
		ids = append(ids, l.ID)
	}
	return ids
}
