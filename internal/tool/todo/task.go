package todo

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

var (
	//go:embed task_create.md
	createText string
	//go:embed task_update.md
	updateText string
	//go:embed task_get.md
	getText string
	//go:embed task_list.md
	listText string
)

// Inputs and results of these tools are those of sdk-tools.d.ts of
// @anthropic-ai/claude-agent-sdk 0.3.332; owner and metadata in the result of TaskGet are
// adze's.
type (
	createInput struct {
		Subject     string                     `json:"subject" jsonschema:"what is to be done, in a few words: Fix the login"`
		Description string                     `json:"description" jsonschema:"what whoever does it has to know, and how it is known to be done"`
		Active      string                     `json:"activeForm,omitempty" jsonschema:"the subject while it is being done: Fixing the login"`
		Metadata    map[string]json.RawMessage `json:"metadata,omitempty" jsonschema:"anything that is to be kept with it"`
	}
	getInput struct {
		ID string `json:"taskId"`
	}
	updateInput struct {
		ID          string                     `json:"taskId"`
		Subject     *string                    `json:"subject,omitempty"`
		Description *string                    `json:"description,omitempty"`
		Active      *string                    `json:"activeForm,omitempty"`
		Status      view.TaskStatus            `json:"status,omitempty"`
		Blocks      []string                   `json:"addBlocks,omitempty" jsonschema:"tasks that wait for this one"`
		BlockedBy   []string                   `json:"addBlockedBy,omitempty" jsonschema:"tasks that this one waits for"`
		Owner       *string                    `json:"owner,omitempty"`
		Metadata    map[string]json.RawMessage `json:"metadata,omitempty" jsonschema:"members to set; null takes one away"`
	}
	listInput struct{}

	createData struct {
		Task struct {
			ID          string `json:"id"`
			Subject     string `json:"subject"`
			Description string `json:"description"`
		} `json:"task"`
	}
	getData struct {
		Task *taskData `json:"task"`
	}
	taskData struct {
		ID          string                     `json:"id"`
		Subject     string                     `json:"subject"`
		Description string                     `json:"description"`
		Status      view.TaskStatus            `json:"status"`
		Blocks      []string                   `json:"blocks"`
		BlockedBy   []string                   `json:"blockedBy"`
		Owner       string                     `json:"owner,omitempty"`
		Metadata    map[string]json.RawMessage `json:"metadata,omitempty"`
	}
	updateData struct {
		Success bool        `json:"success"`
		ID      string      `json:"taskId"`
		Fields  []string    `json:"updatedFields"`
		Error   string      `json:"error,omitempty"`
		Change  *changeData `json:"statusChange,omitempty"`
	}
	changeData struct {
		From view.TaskStatus `json:"from"`
		To   view.TaskStatus `json:"to"`
	}
	listData struct {
		Tasks []lineData `json:"tasks"`
	}
	lineData struct {
		ID        string          `json:"id"`
		Subject   string          `json:"subject"`
		Status    view.TaskStatus `json:"status"`
		Owner     string          `json:"owner,omitempty"`
		BlockedBy []string        `json:"blockedBy"`
	}
)

// single are the tools that see one task.
func (w tools) single() []tool.Tool {
	none := []string{} // nothing that a call says is about more than the list
	return []tool.Tool{
		tool.NewWithSchema(tool.Spec{Name: Create, Description: createText, Facts: none, Seldom: true}, schema[createInput](), w.planCreate, w.create),
		tool.NewWithSchema(tool.Spec{Name: Update, Description: updateText, Facts: none, Seldom: true}, schema[updateInput](), w.planUpdate, w.update),
		tool.NewWithSchema(tool.Spec{Name: Get, Description: getText, Facts: none, Seldom: true}, schema[getInput](), planLook[getInput]("Task"), w.get),
		tool.NewWithSchema(tool.Spec{Name: List, Description: listText, Facts: none, Seldom: true}, schema[listInput](), planLook[listInput]("Tasks"), w.list),
	}
}

// schema is that of an input, whose optional fields may not be null.
func schema[In any]() *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // the type has no schema: any test finds it
	}
	for name, p := range s.Properties {
		if p.Types = slices.DeleteFunc(p.Types, func(t string) bool { return t == "null" }); len(p.Types) == 1 {
			p.Type, p.Types = p.Types[0], nil
		}
		switch name {
		case "metadata":
			p.Type, p.AdditionalProperties = "object", &jsonschema.Schema{}
		case "status":
			p.Enum = []any{string(view.Pending), string(view.InProgress), string(view.Completed), string(view.Deleted)}
		}
	}
	return s
}

func planLook[In any](title string) func(In, tool.Env) (tool.Plan, error) {
	return func(In, tool.Env) (tool.Plan, error) {
		return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: title, Parallel: true}, nil
	}
}

func (in createInput) change() (tasklist.Change, error) {
	t := tasklist.Task{Subject: clip.Clean(strings.TrimSpace(in.Subject)), Description: clip.Clean(in.Description), Active: clip.Clean(in.Active), Metadata: in.Metadata}
	if t.Subject == "" {
		return tasklist.Change{}, fmt.Errorf("field \"subject\" is empty")
	}
	return tasklist.Change{Create: &t}, bounded(&t.Subject, &t.Description, &t.Active, in.Metadata)
}

// bounded reports whether the parts of a task are short enough; nil is not there.
func bounded(subject, description, active *string, metadata map[string]json.RawMessage) error {
	size := 0
	for k, v := range metadata {
		size += len(k) + len(v)
	}
	for _, f := range []struct {
		name string
		text *string
		most int
	}{{"subject", subject, maxText}, {"description", description, maxAbout}, {"activeForm", active, maxText}} {
		if f.text != nil && len(*f.text) > f.most {
			return fmt.Errorf("field %q has %d bytes; at most %d", f.name, len(*f.text), f.most)
		}
	}
	if size > maxAbout {
		return fmt.Errorf("field \"metadata\" has %d bytes; at most %d", size, maxAbout)
	}
	return nil
}

func (w tools) planCreate(in createInput, env tool.Env) (tool.Plan, error) {
	c, err := in.change()
	if err != nil {
		return tool.Plan{}, err
	}
	_, list := w.would(c, env)
	return tool.Plan{Actions: []policy.Action{policy.None{}}, View: list, Title: "New task: " + clip.Line(clip.Visible(in.Subject), 80)}, nil
}

func (w tools) create(ctx context.Context, in createInput, env tool.Env) (tool.Result, error) {
	c, err := in.change()
	if err != nil {
		return tool.Errorf("%s", err), nil
	}
	out, by, err := w.do(ctx, c, env)
	switch {
	case err != nil:
		return tool.Result{}, err
	case out.Refused != "":
		return tool.Errorf("%s", out.Refused), nil
	}
	return tool.Result{
		Text: "Task " + out.Task.ID + " is on the list: " + clip.Line(out.Task.Subject, 200), View: shown(out.List, by),
		Data: func() any {
			var d createData
			d.Task.ID, d.Task.Subject, d.Task.Description = out.Task.ID, out.Task.Subject, out.Task.Description
			return d
		},
	}, nil
}

func (in updateInput) change() (tasklist.Change, error) {
	clean := func(s *string) *string {
		if s == nil {
			return nil
		}
		t := clip.Clean(*s)
		return &t
	}
	u := tasklist.Update{
		ID: in.ID, Subject: clean(in.Subject), Description: clean(in.Description), Active: clean(in.Active), Status: in.Status, Owner: clean(in.Owner),
		Blocks: in.Blocks, BlockedBy: in.BlockedBy, Metadata: in.Metadata,
	}
	if u.Subject != nil && strings.TrimSpace(*u.Subject) == "" {
		return tasklist.Change{}, fmt.Errorf("field \"subject\" is empty")
	}
	return tasklist.Change{Update: &u}, bounded(u.Subject, u.Description, u.Active, in.Metadata)
}

func (w tools) planUpdate(in updateInput, env tool.Env) (tool.Plan, error) {
	c, err := in.change()
	if err != nil {
		return tool.Plan{}, err
	}
	out, list := w.would(c, env)
	title := "Task " + clip.Line(clip.Visible(in.ID), 20)
	if in.Status != "" {
		title += " " + strings.ReplaceAll(string(in.Status), "_", " ")
	}
	if subject := out.Task.Subject; subject != "" {
		title += ": " + clip.Line(clip.Visible(subject), 80)
	}
	return tool.Plan{Actions: []policy.Action{policy.None{}}, View: list, Title: title}, nil
}

func (w tools) update(ctx context.Context, in updateInput, env tool.Env) (tool.Result, error) {
	c, err := in.change()
	if err != nil {
		return tool.Errorf("%s", err), nil
	}
	out, by, err := w.do(ctx, c, env)
	if err != nil {
		return tool.Result{}, err
	}
	d := updateData{Success: out.Refused == "", ID: in.ID, Fields: append([]string{}, out.Fields...), Error: out.Refused}
	res := tool.Result{Text: "Task " + in.ID + " is as it was: " + out.Refused, View: shown(out.List, by), Data: func() any { return d }}
	if d.Success {
		was, _ := out.Was.Get(in.ID)
		if was.Status != out.Task.Status {
			d.Change = &changeData{was.Status, out.Task.Status}
		}
		res.Text = updated(out, was, by)
	}
	return res, nil
}

// updated says what an update came to.
func updated(out tasklist.Outcome, was tasklist.Task, by string) string {
	t := out.Task
	if t.Status == view.Deleted {
		return "Task " + t.ID + " is not on the list any more."
	}
	said := "Task " + t.ID + " is " + string(t.Status)
	if was.Status != t.Status {
		said += " (it was " + string(was.Status) + ")"
	}
	switch {
	case t.Owner != "" && t.Owner == by:
		said += " and yours"
	case t.Owner != "":
		said += ", that of " + t.Owner
	}
	if waits := out.List.Waits(t); len(waits) > 0 {
		said += "; it waits for " + strings.Join(waits, ", ")
	}
	if t.Status == view.Completed && was.Status != view.Completed {
		if free := out.List.Free(t.ID); len(free) > 0 {
			said += "; these wait for nothing any more: " + strings.Join(free, ", ")
		}
	}
	if len(out.Fields) == 0 {
		said += "; that was so before"
	}
	return said + "."
}

func (w tools) get(_ context.Context, in getInput, env tool.Env) (tool.Result, error) {
	l, by := w.keeper.List()
	if env.Agent != "" {
		by = env.Agent
	}
	i := slices.IndexFunc(l.For(by), func(t tasklist.Task) bool { return t.ID == in.ID })
	if i < 0 {
		return tool.Result{Text: "There is no task " + clip.Line(clip.Visible(in.ID), 100) + ".", Data: func() any { return getData{} }}, nil
	}
	t := l.For(by)[i]
	d := taskData{ID: t.ID, Subject: t.Subject, Description: t.Description, Status: t.Status, Blocks: append([]string{}, l.Blocks(t.ID)...), BlockedBy: append([]string{}, t.BlockedBy...), Owner: t.Owner, Metadata: t.Metadata}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", line(l, t), t.Description)
	if len(d.BlockedBy) > 0 {
		fmt.Fprintf(&b, "\nIt comes after %s.", strings.Join(d.BlockedBy, ", "))
	}
	if len(d.Blocks) > 0 {
		fmt.Fprintf(&b, "\nThese come after it: %s.", strings.Join(d.Blocks, ", "))
	}
	if len(t.Metadata) > 0 {
		raw, err := json.Marshal(t.Metadata)
		if err != nil {
			return tool.Result{}, fmt.Errorf("write the metadata of task %s: %w", t.ID, err)
		}
		fmt.Fprintf(&b, "\nmetadata: %s", raw)
	}
	return tool.Result{Text: b.String(), Data: func() any { return getData{&d} }}, nil
}

// line is a task in one line.
func line(l tasklist.List, t tasklist.Task) string {
	s := fmt.Sprintf("%s [%s] %s", t.ID, t.Status, clip.Line(t.Subject, 200))
	if t.Owner != "" {
		s += " (" + t.Owner + ")"
	}
	if waits := l.Waits(t); len(waits) > 0 {
		s += ", waits for " + strings.Join(waits, ", ")
	}
	return s
}

func (w tools) list(_ context.Context, _ listInput, env tool.Env) (tool.Result, error) {
	l, by := w.keeper.List()
	if env.Agent != "" {
		by = env.Agent
	}
	d := listData{Tasks: []lineData{}}
	var lines []string
	for _, t := range l.For(by) {
		lines = append(lines, line(l, t))
		d.Tasks = append(d.Tasks, lineData{t.ID, t.Subject, t.Status, t.Owner, append([]string{}, l.Waits(t)...)})
	}
	said := "There are no tasks."
	if len(lines) > 0 {
		said = strings.Join(lines, "\n")
	}
	return tool.Result{Text: said, View: shown(l, by), Data: func() any { return d }}, nil
}
