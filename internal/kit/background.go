package kit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool/bash"
)

// background tells a session what becomes of its commands in the background.
// After the session has closed nobody hears it.
type background struct {
	session *session.Session
	hide    *secret.Redactor
}

// Started implements bash.Watcher.
func (b background) Started(t bash.Task) {
	_ = b.session.Report(event.TaskStarted{ID: t.ID, Call: t.Call, Kind: "shell", Text: b.hide.String(t.Command)})
}

// Output implements bash.Watcher.
func (b background) Output(id, s string) {
	_ = b.session.Report(event.TaskOutput{ID: id, S: s})
}

// Ended implements bash.Watcher.
func (b background) Ended(t bash.Task) {
	e := event.TaskEnded{ID: t.ID, Exit: t.Exit, Took: t.Ended.Sub(t.Started), Output: t.Path}
	if t.State == bash.Killed {
		e.Killed = t.Note
	}
	_ = b.session.Report(e)
	_ = b.session.Submit(context.Background(), op.Notify{Text: taskNote(t)})
}

// taskNote tells the model that a background command has ended.
func taskNote(t bash.Task) string {
	how := fmt.Sprintf("exited with code %d", t.Exit)
	if t.State == bash.Killed {
		how = "was ended"
		if t.Note != "" {
			how += ": " + t.Note
		}
	}
	return fmt.Sprintf("<notice>The background command %s (%s) %s. Its output is there with BashOutput.</notice>", t.ID, clip.Line(clip.Clean(t.Command), 80), how)
}

// Tell has the session told of what becomes of commands in the background.
func (k Kit) Tell(s *session.Session) { k.Tasks.Watch(background{s, k.conf.Hide}) }

// Close ends every command, with force after grace, and names those that ran
// in the background, for a person.
func (k Kit) Close(grace time.Duration) (ended string) {
	running := taskList(k.Tasks.Running())
	k.Tasks.Close(grace)
	return running
}

// taskList names tasks for a person.
func taskList(ts []bash.Task) string {
	var out []string
	for _, t := range ts {
		out = append(out, fmt.Sprintf("%s (%s)", t.ID, clip.Line(clip.Clean(t.Command), 80)))
	}
	return strings.Join(out, ", ")
}
