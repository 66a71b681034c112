package print

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
	Background  *bool  `json:"is_backgrounded,omitempty"` // of task_started
	Kind        string `json:"task_type,omitempty"`
	Status      string `json:"status,omitempty"` // completed, failed or stopped
	// Output is the file with all that it wrote, "" when there is none.
	Output  *string `json:"output_file,omitempty"`
	Summary string  `json:"summary,omitempty"`
	// Of an agent: which one it is, what it used by now, and the tool of its newest call.
	Agent     string     `json:"subagent_type,omitempty"`
	Run       string     `json:"run_id,omitempty"`
	Depth     int        `json:"spawn_depth,omitempty"`    // 1 of an agent of the session
	Parent    string     `json:"parent_task_id,omitempty"` // the agent or workflow that started it
	Usage     *taskUsage `json:"usage,omitempty"`
	LastTool  string     `json:"last_tool_name,omitempty"`
	UUID      string     `json:"uuid"`
	SessionID string     `json:"session_id"`
}

// taskUsage is what an agent used.
type taskUsage struct {
	Tokens int   `json:"total_tokens"`
	Calls  int   `json:"tool_uses"`
	Took   int64 `json:"duration_ms"`
}

func used(t event.Tally, took time.Duration) *taskUsage {
	return &taskUsage{t.Usage.Prompt() + t.Usage.Out, t.Calls, took.Milliseconds()}
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
	Run         string `json:"run_id,omitempty"`
	Kind        string `json:"task_type"`
	Agent       string `json:"subagent_type,omitempty"`
	Description string `json:"description"`
	Parent      string `json:"parent_task_id,omitempty"`
}

// A liveTask is one that runs: which run of it, and of an agent, how deep in the tree it
// is and which agent started it.
type liveTask struct {
	event.TaskStarted
	run    string
	depth  int
	parent string
}

// kind is what hosts call the agent, "" of a command.
func (t liveTask) kind() string {
	if t.Agent == nil {
		return ""
	}
	return cmp.Or(t.Agent.Type, "general-purpose")
}

// runOf names a run of a task: of two of one task, the later one is greater.
func runOf(at time.Time, id string) string { return fmt.Sprintf("%016x-%s", at.UnixNano(), id) }

// taskKind is what hosts call a kind of task.
func taskKind(kind string) string {
	switch kind {
	case event.TaskShell:
		return "local_bash"
	case event.TaskAgent:
		return "local_agent"
	case event.TaskWorkflow:
		return "local_workflow"
	case event.TaskMonitor: // as hosts know it: its output can be asked for like that of a command
		return "local_bash"
	}
	return kind
}

// A taskUpdate is what of a task is otherwise now.
type taskUpdate struct {
	Type      string    `json:"type"`    // system
	Subtype   string    `json:"subtype"` // task_updated
	ID        string    `json:"task_id"`
	Run       string    `json:"run_id,omitempty"`
	Patch     taskPatch `json:"patch"`
	UUID      string    `json:"uuid"`
	SessionID string    `json:"session_id"`
}

type taskPatch struct {
	Status     string `json:"status,omitempty"`   // completed, failed or killed
	Ended      int64  `json:"end_time,omitempty"` // in milliseconds since 1970
	Error      string `json:"error,omitempty"`
	Background bool   `json:"is_backgrounded,omitempty"`
}

func (p *projection) updated(t liveTask, patch taskPatch) taskUpdate {
	return taskUpdate{Type: "system", Subtype: "task_updated", ID: t.ID, Run: t.run, Patch: patch, UUID: p.about.NewID(), SessionID: p.about.SessionID}
}

// taskStarted is a task of the session, or of one of its agents: parent, where that is
// not "".
func (p *projection) taskStarted(at time.Time, b event.TaskStarted, parent string) []any {
	t, there := p.tasks[b.ID]
	moved := there && t.Waits && !b.Waits
	if t.TaskStarted = b; !there {
		t.run, t.parent = runOf(at, b.ID), parent
		if b.Kind == event.TaskWorkflow {
			t.run = b.Run
		} else if b.Run != "" {
			t.parent = b.Run
		}
		if b.Agent != nil {
			t.depth = p.tasks[parent].depth + 1
		}
	}
	p.tasks[b.ID] = t
	if moved { // nobody waits for it any more
		return []any{p.updated(t, taskPatch{Background: true}), p.tasksNow()}
	}
	beside := !b.Waits
	l := taskLine{
		Type: "system", Subtype: "task_started", ID: b.ID, Run: t.run, Agent: t.kind(), Depth: t.depth, Parent: t.parent, Call: b.Call, Description: b.Text, Background: &beside, Kind: taskKind(b.Kind),
		UUID: p.about.NewID(), SessionID: p.about.SessionID,
	}
	return []any{l, p.tasksNow()}
}

// taskProgress is what an agent does now.
func (p *projection) taskProgress(b event.TaskProgress) []any {
	was, ok := p.tasks[b.ID]
	if !ok {
		return nil
	}
	tool, _, _ := strings.Cut(b.Doing, " ")
	return []any{taskLine{
		Type: "system", Subtype: "task_progress", ID: b.ID, Run: was.run, Agent: was.kind(), Call: was.Call, Description: cmp.Or(b.Doing, was.Text), Usage: used(b.Tally, b.Took), LastTool: tool, Summary: b.Summary,
		UUID: p.about.NewID(), SessionID: p.about.SessionID,
	}}
}

// awaited reports whether something works that the run waits for: an agent, a workflow, a
// monitor.
func (p *projection) awaited() bool {
	for _, t := range p.tasks {
		if t.Kind == event.TaskAgent || t.Kind == event.TaskWorkflow || t.Kind == event.TaskMonitor {
			return true
		}
	}
	return false
}

// commands reports whether a command runs in the background.
func (p *projection) commands() bool {
	for _, t := range p.tasks {
		if t.Kind == event.TaskShell {
			return true
		}
	}
	return false
}

func (p *projection) taskEnded(at time.Time, b event.TaskEnded) []any {
	was, ok := p.tasks[b.ID]
	if !ok {
		return nil // of an earlier process
	}
	delete(p.tasks, b.ID)
	status, how := "completed", "ended"
	switch {
	case b.Killed != "":
		status, how = "stopped", "was ended: "+b.Killed
	case b.Exit != 0:
		status, how = "failed", fmt.Sprintf("exited with code %d", b.Exit)
	}
	l := taskLine{
		Type: "system", Subtype: "task_notification", ID: b.ID, Run: was.run, Call: was.Call, Status: status, Output: &b.Output,
		UUID: p.about.NewID(), SessionID: p.about.SessionID,
	}
	if b.Status != "" {
		how = "ended: " + string(b.Status)
		if b.Doubt != "" {
			how += "; what it did looks suspicious: " + b.Doubt
		}
		l.Usage = used(b.Tally, b.Took)
		switch b.Status {
		case event.TaskCompleted:
		case event.TaskStopped:
			l.Status = "stopped"
		case event.TaskFailed, event.TaskBudget, event.TaskBlocked, event.TaskLost:
			l.Status = "failed"
		}
	}
	l.Summary = fmt.Sprintf("%s (%s) %s", b.ID, was.Text, how)
	patch := taskPatch{Status: l.Status, Ended: at.UnixMilli()}
	switch l.Status {
	case "stopped":
		patch.Status = "killed"
	case "failed":
		patch.Error = how
	}
	return []any{p.updated(was, patch), l, p.tasksNow()}
}

func (p *projection) tasksNow() tasksLine {
	l := tasksLine{Type: "system", Subtype: "background_tasks_changed", Tasks: []taskOfLine{}, UUID: p.about.NewID(), SessionID: p.about.SessionID}
	for _, id := range slices.Sorted(maps.Keys(p.tasks)) {
		t := p.tasks[id]
		l.Tasks = append(l.Tasks, taskOfLine{t.ID, t.run, taskKind(t.Kind), t.kind(), t.Text, t.parent})
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
