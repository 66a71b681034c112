package team

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

//go:embed create.md
var createText string

//go:embed delete.md
var deleteText string

// A founding is what a call of TeamCreate wants. The names of its fields are those of Claude
// Code (2026-11).
type founding struct {
	Name  string `json:"team_name"`
	About string `json:"description,omitempty"`
	Type  string `json:"agent_type,omitempty"`
}

func (f founding) check() error {
	if strings.TrimSpace(f.Name) == "" {
		return fmt.Errorf("field \"team_name\" is empty")
	}
	return nil
}

// teams are the tools of teams. All agents of a session are one, whatever it is called.
func teams(p Post) []tool.Tool {
	return []tool.Tool{
		tool.New(tool.Spec{Name: Create, Description: createText, Deferrable: true, Seldom: true, Facts: []string{}}, func(f founding, _ tool.Env) (tool.Plan, error) {
			return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: "Team " + clip.Line(clip.Visible(f.Name), 60)}, f.check()
		}, func(_ context.Context, f founding, _ tool.Env) (tool.Result, error) {
			if err := f.check(); err != nil {
				return tool.Errorf("%s", err), nil
			}
			name, lead := p.Found(f.Name)
			return tool.Result{
				Text: fmt.Sprintf("The team is called %s. Its members are all agents of this session: start them with Agent, each with a name. They share the list of tasks (TaskCreate, TaskList, TaskUpdate with their name as owner), and SendMessage reaches each.", name),
				Data: func() any { return map[string]any{"team_name": name, "team_file_path": "", "lead_agent_id": lead} },
			}, nil
		}),
		tool.New(tool.Spec{Name: Delete, Description: deleteText, Deferrable: true, Seldom: true, Facts: []string{}}, func(struct{}, tool.Env) (tool.Plan, error) {
			return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: "End the team"}, nil
		}, func(context.Context, struct{}, tool.Env) (tool.Result, error) {
			name, works := p.Disband()
			text, ok := "The team is over. What its agents know stays: SendMessage has one go on.", len(works) == 0
			if !ok {
				text = "These agents still work, and the team stays: " + strings.Join(works, ", ") + ". Wait for their ends, or stop them with TaskStop."
			}
			return tool.Result{Text: text, IsErr: !ok, Data: func() any { return map[string]any{"success": ok, "message": text, "team_name": name} }}, nil
		}),
	}
}
