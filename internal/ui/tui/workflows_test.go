package tui

import (
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// runOf has a workflow run with two phases, one of whose agents has ended.
func runOf(r *rig) *rig {
	r.open().event(event.TaskStarted{ID: "w1", Kind: event.TaskWorkflow, Text: "pets: asks about pets", Run: "wf_1"})
	for _, a := range []struct{ id, phase, title string }{{"a1", "Ask", "cat"}, {"a2", "Ask", "dog"}, {"a3", "Sum", "sum up"}} {
		r.event(event.TaskStarted{ID: a.id, Kind: event.TaskAgent, Text: a.title, Run: "w1", Phase: a.phase, Agent: &event.Agent{ID: a.id}, Waits: true})
	}
	r.event(event.TaskEnded{ID: "a1", Status: event.TaskCompleted, Text: "meow", Took: time.Second, Tally: event.Tally{Requests: 1, Usage: llm.Usage{In: 4800, Out: 75}}})
	r.event(event.TaskProgress{ID: "a2", Doing: "Read dog.go"})
	return r.event(event.TaskProgress{ID: "w1", Doing: "Sum: 1 of 3 agents ended"})
}
