package fleet

import (
	"context"
	"fmt"

	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/tool"
)

// Runs are the runs of workflows as tasks.
type Runs struct{ Flows *Flows }

// find is a run by the ID of its task or its own, nil for none.
func (r Runs) find(who string) *flowRun {
	r.Flows.mu.Lock()
	defer r.Flows.mu.Unlock()
	for _, x := range r.Flows.runs {
		if who == x.task || who == x.id {
			return x
		}
	}
	return nil
}

// Background implements task.Source: no call waits for a run.
func (r Runs) Background(string) (id string, ok bool) { return "", false }

// Look implements task.Source. What a run came to it does not say: that comes as a notice,
// once.
func (r Runs) Look(ctx context.Context, who string, l task.Look) (tool.Result, bool) {
	x := r.find(who)
	if x == nil {
		return tool.Result{}, false
	}
	within, cancel := context.WithTimeout(ctx, l.Wait)
	defer cancel()
	select {
	case <-x.over:
	case <-within.Done():
	}
	return tool.Result{Text: x.now()}, true
}

// now says how a run is.
func (r *flowRun) now() string {
	if !r.works() {
		return fmt.Sprintf("The workflow %s (%s) has ended. Its result came, or comes, as a task notification.", r.name, r.task)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("The workflow %s (%s) runs: %s. Its result comes as a task notification: end your turn. Looking again makes nothing faster.", r.name, r.task, r.doing())
}

// Stop implements task.Source.
func (r Runs) Stop(who string) (tool.Result, bool) {
	x := r.find(who)
	switch {
	case x == nil:
		return tool.Result{}, false
	case !x.works():
		return tool.Result{Text: fmt.Sprintf("The workflow %s (%s) had ended already.", x.name, x.task)}, true
	}
	x.stop(errStopped{"stopped"})
	return tool.Result{
		Text: fmt.Sprintf("The workflow %s (%s) is stopped, with its agents. resumeFromRunId %s goes on.", x.name, x.task, x.id),
		Data: func() any {
			return map[string]any{"message": "It is stopped.", "task_id": x.task, "task_type": "local_workflow", "command": x.name}
		},
	}, true
}

// Tail implements task.Source: where a run is.
func (r Runs) Tail(who string, limit int) (b []byte, total int64, ok bool) {
	x := r.find(who)
	if x == nil {
		return nil, 0, false
	}
	text := x.now()
	return []byte(text[max(0, len(text)-limit):]), int64(len(text)), true
}

// Known implements task.Source.
func (r Runs) Known() (ids []string) {
	r.Flows.mu.Lock()
	defer r.Flows.mu.Unlock()
	for _, x := range r.Flows.runs {
		ids = append(ids, x.task)
	}
	return ids
}
