package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/view"
)

// inBackground is a command that was moved to the background after it wrote something.
func inBackground(r *rig) *rig {
	return r.open().event(
		event.InputAccepted{ID: "p", Text: "watch"}, event.TurnStarted{ID: "t"},
		event.ToolStarted{Call: "1", Name: "Bash", Title: "Bash: make watch", Shell: true}, event.ToolOutput{Call: "1", S: "tick 1\ntick 2\n"},
		event.TaskStarted{ID: "b1", Call: "1", Text: "make watch"},
		event.ToolFinished{Call: "1", Name: "Bash", View: view.Terminal{Command: "make watch", Note: "in the background as b1"}},
		event.TurnEnded{ID: "t"},
	)
}

// Enter shows what a task wrote, also before it was moved, and stops nothing; x does.
func TestTasksAreLookedAt(t *testing.T) {
	r := inBackground(newRig(t, 80, 24))
	r.has("│ tick 2").keys("'/tasks", "enter").has("Enter shows what it wrote, x stops it").keys("enter").has("╭ b1  make watch", "tick 1")
	r.event(event.TaskOutput{ID: "b1", S: "tick 3\n"}).has("tick 3")
	if _, ok := last[op.StopTask](r); ok {
		t.Fatal("to look at a task stopped it")
	}
	r.keys("x")
	if o, ok := last[op.StopTask](r); !ok || o.ID != "b1" {
		t.Error("x does not stop the task that is looked at")
	}
	r = inBackground(newRig(t, 80, 24)).keys("'/tasks", "enter", "x")
	if o, ok := last[op.StopTask](r); !ok || o.ID != "b1" {
		t.Error("x does not stop the marked task")
	}
	r = inBackground(newRig(t, 80, 24)).keys("'/tasks", "enter", "enter")
	r.event(event.TaskEnded{ID: "b1"}).pass(time.Second).has("it has ended", "tick 2")
}

// The list of tasks says how each ended.
func TestHowTasksEnded(t *testing.T) {
	for want, end := range map[string]event.TaskEnded{"ended": {}, "exit 3": {Exit: 3}, "stopped": {Killed: "stopped by the person", Exit: 143}} {
		end.ID, end.Output = "b1", "/out"
		r := newRig(t, 80, 24)
		r.m.host.ReadFile = func(string) (string, error) { return "", nil }
		r.open().event(event.TaskStarted{ID: "b1", Text: "make watch"}, end).keys("'/tasks", "enter")
		if got := r.live(); !strings.Contains(got, want+" ") {
			t.Errorf("not %s:\n%s", want, got)
		}
	}
}

// One key stops all agents, and no command.
func TestStopAgents(t *testing.T) {
	r := inBackground(newRig(t, 80, 24))
	r.event(event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Text: "look", Agent: &event.Agent{ID: "a1"}}).keys("ctrl+x", "ctrl+k")
	if o, ok := last[op.StopTask](r); !ok || o.ID != "a1" {
		t.Errorf("stops %v", o)
	}
}
