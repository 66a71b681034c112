// Package task has what all work beside the turns of a session has in common, whatever
// does it: commands, agents, monitors, schedules. The session's log is the one list of
// it (event.TaskStarted and event.TaskEnded; transcript.State.Background and Past). A kind
// of tasks is a Source, by which they are stopped and looked at. What they tell the model
// is a Notice, in the one form that is public for that.
//
// To add a kind: a constant in package event, a Source in app's list, and a session.Report
// of each start and end. The end is told before it is recorded (Told), so that a crash
// between the two tells it once more, and its number says that it came.
package task

import (
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A Notice is what a task tells the model. The tags are those of the task notifications of
// Claude Code 2.1.332. What is empty is left out.
type Notice struct {
	ID      string
	Name    string // of an agent, "" for none
	Why     string // what it tells, in a few words for people; no part of the form
	Call    string // that it came from
	Output  string // the file with all that it wrote
	Status  string // of an end: completed, failed, killed, …
	Summary string // a sentence
	Event   string // what happened, of a monitor
	Result  string // what it came to, of an agent
	Usage   string // what it took
}

// String is the notice for the model. No value can close the form.
func (n Notice) String() string {
	var b strings.Builder
	b.WriteString("<task-notification>\n")
	for _, part := range [...]struct{ tag, text string }{
		{"task-id", n.ID}, {"tool-use-id", n.Call}, {"output-file", n.Output}, {"status", n.Status}, {"summary", n.Summary}, {"event", n.Event}, {"result", n.Result}, {"usage", n.Usage},
	} {
		if part.text != "" {
			fmt.Fprintf(&b, "<%s>%s</%s>\n", part.tag, strings.ReplaceAll(part.text, "</", "< /"), part.tag)
		}
	}
	b.WriteString("</task-notification>")
	return b.String()
}

// Prompt is the notice as a prompt. number counts those of the task, from 1. An end is the last
// of them; rests says that it begins no turn.
func (n Notice) Prompt(number int, end, rests bool) op.Prompt {
	from := op.Sender{ID: n.ID, Name: n.Name, N: number, Task: true, End: end, Why: n.Why}
	if end {
		from.Status = n.Status
	}
	return op.Prompt{Text: n.String(), Verbatim: true, Rests: rests, From: &from}
}

// lastOf is the number of the end of a task that tells of more than its end. None tells as
// often.
const lastOf = 1 << 20

// End is the number of the notice of a task's end.
func End(t event.TaskStarted) int {
	if t.Kind == event.TaskMonitor {
		return lastOf
	}
	return max(t.N, 1)
}

// Lost tells of a task that the end of adze cut off.
func Lost(t event.TaskStarted) Notice {
	what := "The background command"
	switch t.Kind {
	case event.TaskAgent:
		what = "The agent"
	case event.TaskMonitor:
		what = "The monitor"
	case event.TaskWorkflow:
		what = "The workflow"
	}
	more := ""
	if t.Run != "" && t.Kind == event.TaskWorkflow {
		more = " If the person wants it to go on: Workflow with resumeFromRunId " + t.Run + "."
	}
	return Notice{
		ID: t.ID, Call: t.Call, Status: string(event.TaskLost),
		Summary: fmt.Sprintf("%s %s (%s) was cut off when adze ended. It does not run any more, and tells nothing more.%s", what, t.ID, clip.Line(clip.Clean(t.Text), 200), more),
	}
}
