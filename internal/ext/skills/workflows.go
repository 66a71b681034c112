package skills

import (
	"github.com/adze-agent/adze/internal/tool/flow"
	"github.com/adze-agent/adze/internal/workflow"
)

// Saved are the workflows that can be run by their names.
func (d *Desk) Saved() (out []flow.Saved) {
	for _, w := range d.Library().Workflows() {
		out = append(out, flow.Saved{Name: w.Name, About: w.About()})
	}
	return out
}

// Script is the script of a workflow, as it is now.
func (d *Desk) Script(name string) (workflow.Script, error) { return d.Library().Script(name) }

// HasWorkflows reports whether there are workflows that are not adze's own.
func (d *Desk) HasWorkflows() bool {
	for _, w := range d.Library().Workflows() {
		if !w.BuiltIn {
			return true
		}
	}
	return false
}

// RunsWorkflow reports whether a slash command is a workflow.
func (d *Desk) RunsWorkflow(command string) bool {
	s, ok := d.Library().Find(command)
	return ok && s.Workflow
}
