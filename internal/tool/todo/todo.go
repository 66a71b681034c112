// Package todo has the tools for the list of what is to be done: TodoWrite, which writes
// it as a whole, and TaskCreate, TaskUpdate, TaskGet and TaskList, which see its tasks one
// by one. The list itself is a Keeper's; the package keeps nothing.
package todo

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

//go:embed todo.md
var text string

// Names of the tools.
const (
	Write  = "TodoWrite"
	Create = "TaskCreate"
	Update = "TaskUpdate"
	Get    = "TaskGet"
	List   = "TaskList"
)

// maxText bounds one text of a task, and maxAbout its description, in bytes.
const (
	maxText  = 2_000
	maxAbout = 20_000
)

// A Keeper keeps the list. Its methods may be called by any goroutine.
type Keeper interface {
	// List is the list as it is now, and the agent that looks at it; "" is the session at
	// the root.
	List() (l tasklist.List, by string)
	// ChangeList makes a change, of that agent unless it names one.
	ChangeList(ctx context.Context, c tasklist.Change) (tasklist.Outcome, error)
}

type input struct {
	Todos []item `json:"todos" jsonschema:"the whole list; it replaces the one before"`
}

type item struct {
	Content string          `json:"content" jsonschema:"what is to be done: Run the tests"`
	Status  view.TaskStatus `json:"status"`
	Active  string          `json:"activeForm" jsonschema:"the same while it is being done: Running the tests"`
}

// New returns the tools.
func New(k Keeper) []tool.Tool {
	s, err := jsonschema.For[input](nil)
	if err != nil {
		panic(err) // the type above has no schema: any test finds it
	}
	s.Properties["todos"].Type, s.Properties["todos"].Types = "array", nil
	s.Properties["todos"].Items.Properties["status"].Enum = []any{string(view.Pending), string(view.InProgress), string(view.Completed)}
	w := tools{k}
	return append(w.single(), tool.NewWithSchema(tool.Spec{Name: Write, Description: text, Facts: []string{}}, s, w.planWrite, w.write))
}

type tools struct{ keeper Keeper }

// would is what a call would make of the list as it is now.
func (w tools) would(c tasklist.Change, env tool.Env) (tasklist.Outcome, view.Tasks) {
	l, by := w.keeper.List()
	c.By = cmp.Or(env.Agent, by)
	out := l.Change(c)
	v := shown(out.List, c.By)
	for i, t := range v.Items { // for whoever is asked about it
		now, _ := out.List.Get(t.ID)
		if was, ok := out.Was.Get(t.ID); !ok || was.Status != now.Status {
			v.Items[i].About = now.Description
		}
	}
	return out, v
}

// do makes a change, and returns what it came to and whose it is.
func (w tools) do(ctx context.Context, c tasklist.Change, env tool.Env) (out tasklist.Outcome, by string, err error) {
	_, by = w.keeper.List()
	c.By = cmp.Or(env.Agent, by)
	out, err = w.keeper.ChangeList(ctx, c)
	return out, c.By, err
}

func shown(l tasklist.List, by string) view.Tasks { return view.Tasks{Items: l.View(l.For(by))} }

func (w tools) planWrite(in input, env tool.Env) (tool.Plan, error) {
	if err := in.check(); err != nil {
		return tool.Plan{}, err
	}
	_, list := w.would(in.change(), env)
	return tool.Plan{Actions: []policy.Action{policy.None{}}, View: list, Title: fmt.Sprintf("Todos: %d items", len(in.Todos))}, nil
}

func (w tools) write(ctx context.Context, in input, env tool.Env) (tool.Result, error) {
	if err := in.check(); err != nil {
		return tool.Errorf("%s", err), nil
	}
	out, by, err := w.do(ctx, in.change(), env)
	switch {
	case err != nil:
		return tool.Result{}, err
	case out.Refused != "":
		return tool.Errorf("the list is as it was: %s", out.Refused), nil
	}
	n := map[view.TaskStatus]int{}
	for _, t := range in.Todos {
		n[t.Status]++
	}
	said := fmt.Sprintf("Todo list updated: %d done, %d in progress, %d to do.", n[view.Completed], n[view.InProgress], n[view.Pending])
	switch {
	case len(in.Todos) == 0:
		said = "Todo list cleared."
	case n[view.InProgress] > 1:
		said += " Work on one item at a time: keep only that one in_progress."
	case n[view.InProgress] == 0 && n[view.Pending] > 0:
		said += " Set the item you work on to in_progress."
	}
	if kept := len(items(out.List, by)) - len(in.Todos); kept > 0 {
		said += fmt.Sprintf(" %s that agents work on stayed on the list.", clip.Count(kept, "task"))
	}
	was := items(out.Was, by)
	return tool.Result{Text: said, View: shown(out.List, by), Data: func() any {
		return map[string]any{"oldTodos": was, "newTodos": append([]item{}, in.Todos...)}
	}}, nil
}

// items are the tasks that TodoWrite sees: an agent's own steps, and all others at the root.
func items(l tasklist.List, by string) []item {
	out := []item{}
	for _, t := range l.For(by) {
		if t.Step == (by != "") {
			out = append(out, item{t.Subject, t.Status, t.Active})
		}
	}
	return out
}

func (in input) check() error {
	if len(in.Todos) > tasklist.MaxTasks {
		return fmt.Errorf("field \"todos\": %d items; at most %d", len(in.Todos), tasklist.MaxTasks)
	}
	for i, t := range in.Todos {
		if strings.TrimSpace(t.Content) == "" {
			return fmt.Errorf("field \"todos[%d].content\" is empty", i)
		}
		for _, f := range [][2]string{{"content", t.Content}, {"activeForm", t.Active}} {
			if len(f[1]) > maxText {
				return fmt.Errorf("field \"todos[%d].%s\" has %d bytes; at most %d", i, f[0], len(f[1]), maxText)
			}
		}
	}
	return nil
}

func (in input) change() tasklist.Change {
	r := &tasklist.Replace{}
	for _, t := range in.Todos {
		r.Items = append(r.Items, tasklist.Item{Subject: clip.Clean(t.Content), Active: clip.Clean(t.Active), Status: t.Status})
	}
	return tasklist.Change{Replace: r}
}
