// Package todo is the model's task list: TodoWrite replaces it as a whole. The
// list lives in the log as the view of the call; the package keeps nothing.
package todo

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

//go:embed todo.md
var text string

// maxItems and maxText bound a list: items, and bytes of one text.
const (
	maxItems = 200
	maxText  = 2_000
)

type input struct {
	Todos []item `json:"todos" jsonschema:"the whole list; it replaces the one before"`
}

type item struct {
	Content string          `json:"content" jsonschema:"what is to be done: Run the tests"`
	Status  view.TaskStatus `json:"status"`
	Active  string          `json:"activeForm" jsonschema:"the same while it is being done: Running the tests"`
}

// New returns TodoWrite.
func New() tool.Tool {
	s, err := jsonschema.For[input](nil)
	if err != nil {
		panic(err) // the type above has no schema: any test finds it
	}
	s.Properties["todos"].Type, s.Properties["todos"].Types = "array", nil
	s.Properties["todos"].Items.Properties["status"].Enum = []any{string(view.Pending), string(view.InProgress), string(view.Completed)}
	var l last
	return tool.NewWithSchema(tool.Spec{Name: "TodoWrite", Description: text, Facts: []string{}}, s, plan, l.run)
}

// last is the newest list that was written, for programs that show what changed.
type last struct {
	mu    sync.Mutex // guards items
	items []item
}

func (l *last) run(ctx context.Context, in input, env tool.Env) (tool.Result, error) {
	res, err := run(ctx, in, env)
	if err != nil || res.IsErr {
		return res, err
	}
	l.mu.Lock()
	was := l.items
	l.items = in.Todos
	l.mu.Unlock()
	res.Data = func() any {
		return map[string]any{"oldTodos": append([]item{}, was...), "newTodos": append([]item{}, in.Todos...)}
	}
	return res, nil
}

func plan(in input, _ tool.Env) (tool.Plan, error) {
	if err := in.check(); err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{
		Actions: []policy.Action{policy.None{}},
		View:    in.tasks(),
		Title:   fmt.Sprintf("Todos: %d items", len(in.Todos)),
	}, nil
}

func run(_ context.Context, in input, _ tool.Env) (tool.Result, error) {
	if err := in.check(); err != nil {
		return tool.Errorf("%s", err), nil
	}
	n := map[view.TaskStatus]int{}
	for _, t := range in.Todos {
		n[t.Status]++
	}
	out := fmt.Sprintf("Todo list updated: %d done, %d in progress, %d to do.",
		n[view.Completed], n[view.InProgress], n[view.Pending])
	switch {
	case len(in.Todos) == 0:
		out = "Todo list cleared."
	case n[view.InProgress] > 1:
		out += " Work on one item at a time: keep only that one in_progress."
	case n[view.InProgress] == 0 && n[view.Pending] > 0:
		out += " Set the item you work on to in_progress."
	}
	return tool.Result{Text: out, View: in.tasks()}, nil
}

func (in input) check() error {
	if len(in.Todos) > maxItems {
		return fmt.Errorf("field \"todos\": %d items; at most %d", len(in.Todos), maxItems)
	}
	for i, t := range in.Todos {
		for name, s := range map[string]string{"content": t.Content, "activeForm": t.Active} {
			if strings.TrimSpace(s) == "" && name == "content" {
				return fmt.Errorf("field \"todos[%d].%s\" is empty", i, name)
			}
			if len(s) > maxText {
				return fmt.Errorf("field \"todos[%d].%s\" has %d bytes; at most %d", i, name, len(s), maxText)
			}
		}
	}
	return nil
}

func (in input) tasks() view.Tasks {
	out := view.Tasks{Items: make([]view.Task, 0, len(in.Todos))}
	for _, t := range in.Todos {
		out.Items = append(out.Items, view.Task{Text: clip.Clean(t.Content), Active: clip.Clean(t.Active), Status: t.Status})
	}
	return out
}
