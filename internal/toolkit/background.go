package toolkit

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
	wakes   func() bool // an idle session is woken by an end
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
	n := op.Notify{Text: taskNote(t)}
	if !t.Stopped && b.wakes() {
		n.Wake = b.hide.String("the background command " + t.ID + " " + ended(t)) // what it is stands above
	}
	_ = b.session.Submit(context.Background(), n)
}

// ended is how a background command has ended.
func ended(t bash.Task) string {
	how := fmt.Sprintf("exited with code %d", t.Exit)
	if t.State == bash.Killed {
		how = "was ended"
		if t.Note != "" {
			how += ": " + t.Note
		}
	}
	return how
}

// taskNote tells the model that a background command has ended, in the form that is public
// for it. The command's text cannot close the form.
func taskNote(t bash.Task) string {
	status := "completed"
	switch {
	case t.State == bash.Killed:
		status = "killed"
	case t.Exit != 0:
		status = "failed"
	}
	said := strings.ReplaceAll(fmt.Sprintf("The background command %s (%s) %s", t.ID, clip.Line(clip.Clean(t.Command), 80), ended(t)), "</", "< /")
	return fmt.Sprintf("<task-notification>\n<task-id>%s</task-id>\n<status>%s</status>\n<summary>%s. Its output is there with BashOutput.</summary>\n</task-notification>", t.ID, status, said)
}

// Tell has the session told of what becomes of commands in the background. wakes says, at
// each end, whether that begins a turn of a session that is idle.
func (k Kit) Tell(s *session.Session, wakes func() bool) {
	k.Tasks.Watch(background{s, k.conf.Hide, wakes})
}

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
