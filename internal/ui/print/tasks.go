package print

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// A taskLine is task_started or task_notification: what becomes of something that runs in
// the background.
type taskLine struct {
	Type        string `json:"type"` // system
	Subtype     string `json:"subtype"`
	ID          string `json:"task_id"`
	Call        string `json:"tool_use_id,omitempty"`
	Description string `json:"description,omitempty"`
	Background  bool   `json:"is_backgrounded,omitempty"`
	Kind        string `json:"task_type,omitempty"`
	Status      string `json:"status,omitempty"` // completed, failed or stopped
	// Output is the file with all that it wrote, "" when there is none.
	Output    *string `json:"output_file,omitempty"`
	Summary   string  `json:"summary,omitempty"`
	UUID      string  `json:"uuid"`
	SessionID string  `json:"session_id"`
}

// A tasksLine is what runs in the background now.
type tasksLine struct {
	Type      string       `json:"type"`    // system
	Subtype   string       `json:"subtype"` // background_tasks_changed
	Tasks     []taskOfLine `json:"tasks"`
	UUID      string       `json:"uuid"`
	SessionID string       `json:"session_id"`
}

type taskOfLine struct {
	ID          string `json:"task_id"`
	Kind        string `json:"task_type"`
	Description string `json:"description"`
}

// taskKind is what hosts call a kind of task.
func taskKind(kind string) string {
	if kind == "shell" {
		return "local_bash"
	}
	return kind
}

func (p *projection) taskStarted(b event.TaskStarted) []any {
	p.tasks[b.ID] = b
	return []any{taskLine{
		Type: "system", Subtype: "task_started", ID: b.ID, Call: b.Call, Description: b.Text, Background: true, Kind: taskKind(b.Kind),
		UUID: p.about.NewID(), SessionID: p.about.SessionID,
	}, p.tasksNow()}
}

func (p *projection) taskEnded(b event.TaskEnded) []any {
	was, ok := p.tasks[b.ID]
	if !ok {
		return nil // of an earlier process
	}
	delete(p.tasks, b.ID)
	if b.Output != "" {
		p.outputs[b.ID] = b.Output
	}
	status, how := "completed", "ended"
	switch {
	case b.Killed != "":
		status, how = "stopped", "was ended: "+b.Killed
	case b.Exit != 0:
		status, how = "failed", fmt.Sprintf("exited with code %d", b.Exit)
	}
	return []any{taskLine{
		Type: "system", Subtype: "task_notification", ID: b.ID, Call: was.Call, Status: status, Output: &b.Output, Summary: fmt.Sprintf("%s (%s) %s", b.ID, was.Text, how),
		UUID: p.about.NewID(), SessionID: p.about.SessionID,
	}, p.tasksNow()}
}

func (p *projection) tasksNow() tasksLine {
	l := tasksLine{Type: "system", Subtype: "background_tasks_changed", Tasks: []taskOfLine{}, UUID: p.about.NewID(), SessionID: p.about.SessionID}
	for _, id := range slices.Sorted(maps.Keys(p.tasks)) {
		t := p.tasks[id]
		l.Tasks = append(l.Tasks, taskOfLine{t.ID, taskKind(t.Kind), t.Text})
	}
	return l
}

// background moves running commands to the background: that of a call, or all.
func (r *runner) background(ctx context.Context, call string) (any, error) {
	calls, moved := []string{call}, call == ""
	if call == "" {
		calls = slices.Sorted(maps.Keys(r.running))
	}
	for _, c := range calls {
		err := r.c.Submit(ctx, op.Background{Call: c})
		var refused *op.Refusal
		switch {
		case err == nil:
			moved = true
		case !errors.As(err, &refused) || refused.Code != op.NoTask: // it is over, or no command
			return nil, err
		}
	}
	return object{"backgrounded": moved}, nil
}
